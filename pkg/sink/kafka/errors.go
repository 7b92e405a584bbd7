package kafka

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// The reasons of our errors.
const (
	reasonTooLarge      = "too_large"
	reasonNullKey       = "null_key"
	reasonTimestamp     = "timestamp"
	reasonRejected      = "rejected"
	reasonTopicMissing  = "topic_missing"
	reasonTopicUnusable = "topic_unusable"
	reasonNotAuthorized = "not_authorized"
	reasonCertificate   = "certificate"
	reasonUnsupported   = "unsupported"
	reasonUnavailable   = "unavailable"
	reasonProducerLost  = "producer_lost"
	reasonClosed        = "closed"
	reasonUnknown       = "unknown"
)

// ReasonTopicMissing is the reason of a topic that is not there, for callers that
// know how it will come to be.
const ReasonTopicMissing = reasonTopicMissing

// verdict is what an error code means.
type verdict struct {
	kind   sink.Kind
	reason string
	remedy string
}

const (
	remedyTopic   = "create the topic: kafka-topics.sh --bootstrap-server BROKER --create --topic"
	remedyWrite   = "grant WRITE and DESCRIBE on the topic to the connector's principal"
	remedyLogin   = "correct the credentials (KAFKA_SASL_* or KAFKA_OAUTH_*, their files, or the AWS role), or what the brokers know of them"
	remedyBatch   = "the broker's log says why"
	remedyBrokers = "look into the broker's log"
)

// verdictOf classifies what a broker can answer to a produce, metadata or
// configuration request. All of them say something about a batch or a topic,
// never about one record. A code that is not here is Fatal, and a test names
// each code that is left out on purpose.
//
// Codes that the client retries by itself are listed for the case that it gives
// them out nevertheless, and for the requests we make ourselves.
func verdictOf(code int16) verdict {
	switch code {
	case kerr.UnknownTopicOrPartition.Code, kerr.UnknownTopicID.Code, kerr.InconsistentTopicID.Code:
		return verdict{sink.Config, reasonTopicMissing, remedyTopic}
	case kerr.InvalidTopicException.Code:
		return verdict{sink.Config, reasonTopicUnusable, "name a topic of letters, digits, '.', '_' and '-', at most 249 of them"}
	case kerr.TopicAuthorizationFailed.Code:
		return verdict{sink.Config, reasonNotAuthorized, remedyWrite}
	case kerr.ClusterAuthorizationFailed.Code:
		return verdict{sink.Config, reasonNotAuthorized, "grant IDEMPOTENT_WRITE on the cluster to the connector's principal (brokers before 3.0)"}
	case kerr.UnsupportedSaslMechanism.Code, kerr.IllegalSaslState.Code:
		return verdict{sink.Config, reasonNotAuthorized, "set KAFKA_SECURITY_PROTOCOL and KAFKA_SASL_MECHANISM to what the brokers' listener has"}
	case kerr.SaslAuthenticationFailed.Code, kerr.SecurityDisabled.Code, kerr.DelegationTokenAuthDisabled.Code, kerr.DelegationTokenExpired.Code:
		return verdict{sink.Config, reasonNotAuthorized, remedyLogin}
	case kerr.UnsupportedVersion.Code, kerr.UnsupportedForMessageFormat.Code, kerr.InvalidRequiredAcks.Code:
		return verdict{sink.Config, reasonUnsupported, "use brokers of version 2.1 or later"}
	case kerr.UnsupportedCompressionType.Code:
		return verdict{sink.Config, reasonUnsupported, "choose a compression that the brokers know, such as lz4"}
	case kerr.PolicyViolation.Code, kerr.InvalidConfig.Code:
		return verdict{sink.Config, reasonTopicUnusable, remedyBrokers}

	case kerr.MessageTooLarge.Code, kerr.RecordListTooLarge.Code:
		return verdict{sink.Poison, reasonTooLarge, "the topic's max.message.bytes or segment.bytes was lowered; " + remedyBatch}
	// CORRUPT_MESSAGE is a batch damaged on its way, or what brokers before
	// 2.4 say to a null key on a compacted topic. Sent alone, the first
	// passes and the second shows itself.
	case kerr.InvalidRecord.Code, kerr.CorruptMessage.Code:
		return verdict{sink.Poison, reasonRejected, remedyBatch}
	case kerr.InvalidTimestamp.Code:
		return verdict{sink.Poison, reasonTimestamp, remedyBatch}
	}
	return retriableVerdict(code)
}

func retriableVerdict(code int16) verdict {
	switch code {
	// The producer can't go on, its records can, with a new one.
	case kerr.OutOfOrderSequenceNumber.Code, kerr.UnknownProducerID.Code, kerr.InvalidProducerIDMapping.Code,
		kerr.InvalidProducerEpoch.Code, kerr.ProducerFenced.Code, kerr.InvalidTxnState.Code,
		kerr.DuplicateSequenceNumber.Code, kerr.TransactionAbortable.Code:
		return verdict{sink.Retriable, reasonProducerLost, ""}
	case kerr.ConcurrentTransactions.Code:
		return verdict{sink.Retriable, reasonUnavailable, ""}
	}
	if err := kerr.ErrorForCode(code); kerr.IsRetriable(err) {
		return verdict{sink.Retriable, reasonUnavailable, ""}
	}
	return verdict{sink.Fatal, reasonUnknown, remedyBrokers}
}

// failed is the error of a record that the client gave up.
func failed(topic string, err error) *sink.Error {
	v := verdict{sink.Fatal, reasonUnknown, remedyBrokers}
	var code *kerr.Error
	known, ok := connectVerdict(err)
	switch {
	case ok:
		v = known
	case errors.As(err, &code):
		v = verdictOf(code.Code)
	case errors.Is(err, kgo.ErrClientClosed):
		v = verdict{sink.Retriable, reasonClosed, ""}
	case errors.Is(err, kgo.ErrAborting), errors.Is(err, kgo.ErrRecordTimeout), errors.Is(err, kgo.ErrRecordRetries),
		errors.Is(err, kgo.ErrMaxBuffered):
		v = verdict{sink.Retriable, reasonUnavailable, ""}
	}
	return v.error(topic, sink.ScopeBatch, err)
}

// unanswered is the error of a request of our own. One that got no answer is
// retriable, unless the connection itself was refused: a wrong address looks
// like a broker that is away.
func unanswered(topic string, err error) *sink.Error {
	v := verdict{sink.Retriable, reasonUnavailable, "check that the brokers are up, and that address and security protocol are those of their listener"}
	var code *kerr.Error
	known, ok := connectVerdict(err)
	switch {
	case ok:
		v = known
	case errors.As(err, &code):
		v = verdictOf(code.Code)
	case errors.Is(err, kgo.ErrClientClosed), errors.Is(err, context.Canceled):
		v = verdict{sink.Retriable, reasonClosed, ""}
	}
	return v.error(topic, sink.ScopeBatch, err)
}

func (v verdict) error(topic string, scope sink.Scope, err error) *sink.Error {
	remedy := v.remedy
	if v.reason == reasonTopicMissing {
		remedy += " " + topic
	}
	return &sink.Error{
		Kind: v.kind, Scope: scope, Sink: Name, Destination: topic,
		Reason: v.reason, Err: err, Remedy: remedy,
	}
}
