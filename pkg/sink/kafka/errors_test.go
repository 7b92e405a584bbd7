package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// fatalOnPurpose are the codes that no request of ours is ever answered with:
// groups, transactions, shares, administration. Should one come nevertheless,
// it is something that we do not understand.
var fatalOnPurpose = []*kerr.Error{
	kerr.UnknownServerError, kerr.OffsetOutOfRange, kerr.InvalidFetchSize, kerr.StaleControllerEpoch, kerr.OffsetMetadataTooLarge,
	kerr.IllegalGeneration, kerr.InconsistentGroupProtocol, kerr.InvalidGroupID, kerr.UnknownMemberID, kerr.InvalidSessionTimeout,
	kerr.RebalanceInProgress, kerr.InvalidCommitOffsetSize, kerr.GroupAuthorizationFailed, kerr.TopicAlreadyExists,
	kerr.InvalidPartitions, kerr.InvalidReplicationFactor, kerr.InvalidReplicaAssignment, kerr.InvalidRequest,
	kerr.InvalidTransactionTimeout, kerr.TransactionCoordinatorFenced, kerr.TransactionalIDAuthorizationFailed,
	kerr.OperationNotAttempted, kerr.LogDirNotFound, kerr.ReassignmentInProgress, kerr.DelegationTokenNotFound,
	kerr.DelegationTokenOwnerMismatch, kerr.DelegationTokenRequestNotAllowed, kerr.DelegationTokenAuthorizationFailed,
	kerr.InvalidPrincipalType, kerr.NonEmptyGroup, kerr.GroupIDNotFound, kerr.TopicDeletionDisabled, kerr.StaleBrokerEpoch,
	kerr.MemberIDRequired, kerr.GroupMaxSizeReached, kerr.FencedInstanceID, kerr.NoReassignmentInProgress,
	kerr.GroupSubscribedToTopic, kerr.ResourceNotFound, kerr.DuplicateResource, kerr.UnacceptableCredential,
	kerr.InconsistentVoterSet, kerr.InvalidUpdateVersion, kerr.FeatureUpdateFailed, kerr.PrincipalDeserializationFailure,
	kerr.SnapshotNotFound, kerr.PositionOutOfRange, kerr.DuplicateBrokerRegistration, kerr.BrokerIDNotRegistered,
	kerr.InconsistentClusterID, kerr.TransactionalIDNotFound, kerr.IneligibleReplica, kerr.NewLeaderElected,
	kerr.OffsetMovedToTieredStorage, kerr.FencedMemberEpoch, kerr.UnreleasedInstanceID, kerr.UnsupportedAssignor,
	kerr.StaleMemberEpoch, kerr.MismatchedEndpointType, kerr.UnsupportedEndpointType, kerr.UnknownControllerID,
	kerr.UnknownSubscriptionID, kerr.TelemetryTooLarge, kerr.InvalidRegistration, kerr.InvalidRecordState,
	kerr.ShareSessionNotFound, kerr.InvalidShareSessionEpoch, kerr.FencedStateEpoch, kerr.InvalidVoterKey, kerr.DuplicateVoter,
	kerr.VoterNotFound, kerr.InvalidRegularExpression, kerr.RebootstrapRequired, kerr.StreamsInvalidTopology,
	kerr.StreamsInvalidTopologyEpoch, kerr.StreamsTopologyFenced, kerr.GroupDeletionFailed,
	kerr.StreamsTopologyDescriptionUpdateFailed, kerr.ControllerIDNotRegistered,
}

// classified are the codes with a meaning to us; every one that the client may
// retry is among them by rule.
var classified = []struct {
	err    *kerr.Error
	kind   sink.Kind
	reason string
}{
	{kerr.UnknownTopicOrPartition, sink.Config, reasonTopicMissing},
	{kerr.UnknownTopicID, sink.Config, reasonTopicMissing},
	{kerr.InconsistentTopicID, sink.Config, reasonTopicMissing},
	{kerr.InvalidTopicException, sink.Config, reasonTopicUnusable},
	{kerr.PolicyViolation, sink.Config, reasonTopicUnusable},
	{kerr.InvalidConfig, sink.Config, reasonTopicUnusable},
	{kerr.TopicAuthorizationFailed, sink.Config, reasonNotAuthorized},
	{kerr.ClusterAuthorizationFailed, sink.Config, reasonNotAuthorized},
	{kerr.SaslAuthenticationFailed, sink.Config, reasonNotAuthorized},
	{kerr.UnsupportedSaslMechanism, sink.Config, reasonNotAuthorized},
	{kerr.IllegalSaslState, sink.Config, reasonNotAuthorized},
	{kerr.SecurityDisabled, sink.Config, reasonNotAuthorized},
	{kerr.DelegationTokenAuthDisabled, sink.Config, reasonNotAuthorized},
	{kerr.DelegationTokenExpired, sink.Config, reasonNotAuthorized},
	{kerr.UnsupportedVersion, sink.Config, reasonUnsupported},
	{kerr.UnsupportedForMessageFormat, sink.Config, reasonUnsupported},
	{kerr.UnsupportedCompressionType, sink.Config, reasonUnsupported},
	{kerr.InvalidRequiredAcks, sink.Config, reasonUnsupported},
	{kerr.MessageTooLarge, sink.Poison, reasonTooLarge},
	{kerr.RecordListTooLarge, sink.Poison, reasonTooLarge},
	{kerr.InvalidRecord, sink.Poison, reasonRejected},
	{kerr.CorruptMessage, sink.Poison, reasonRejected},
	{kerr.InvalidTimestamp, sink.Poison, reasonTimestamp},
	{kerr.OutOfOrderSequenceNumber, sink.Retriable, reasonProducerLost},
	{kerr.UnknownProducerID, sink.Retriable, reasonProducerLost},
	{kerr.InvalidProducerIDMapping, sink.Retriable, reasonProducerLost},
	{kerr.InvalidProducerEpoch, sink.Retriable, reasonProducerLost},
	{kerr.ProducerFenced, sink.Retriable, reasonProducerLost},
	{kerr.InvalidTxnState, sink.Retriable, reasonProducerLost},
	{kerr.DuplicateSequenceNumber, sink.Retriable, reasonProducerLost},
	{kerr.TransactionAbortable, sink.Retriable, reasonProducerLost},
	{kerr.ConcurrentTransactions, sink.Retriable, reasonUnavailable},
	{kerr.NotEnoughReplicas, sink.Retriable, reasonUnavailable},
	{kerr.NotEnoughReplicasAfterAppend, sink.Retriable, reasonUnavailable},
	{kerr.NotLeaderForPartition, sink.Retriable, reasonUnavailable},
	{kerr.LeaderNotAvailable, sink.Retriable, reasonUnavailable},
	{kerr.RequestTimedOut, sink.Retriable, reasonUnavailable},
	{kerr.KafkaStorageError, sink.Retriable, reasonUnavailable},
	{kerr.ThrottlingQuotaExceeded, sink.Retriable, reasonUnavailable},
}

func TestVerdicts(t *testing.T) {
	for _, tt := range classified {
		t.Run(tt.err.Message, func(t *testing.T) {
			// As the client gives it: wrapped, with sizes.
			e := failed("orders", fmt.Errorf("%w (uncompressed_bytes=%d)", tt.err, 7))
			if e.Kind != tt.kind || e.Reason != tt.reason {
				t.Errorf("%v %q, want %v %q", e.Kind, e.Reason, tt.kind, tt.reason)
			}
			if e.Scope != sink.ScopeBatch {
				t.Errorf("scope %v: a broker's answer is about a batch", e.Scope)
			}
			if (e.Kind == sink.Config || e.Kind == sink.Poison) && e.Remedy == "" {
				t.Error("an operator's error without a remedy")
			}
			if e.Sink != Name || e.Destination != "orders" || !errors.Is(e, tt.err) {
				t.Errorf("error %v does not say where or what", e)
			}
		})
	}
}

// TestEachCodeIsClassifiedOnPurpose fails when the client learns a new code:
// decide what it means, then list it.
func TestEachCodeIsClassifiedOnPurpose(t *testing.T) {
	known := make(map[int16]bool)
	for _, c := range classified {
		known[c.err.Code] = true
	}
	for _, e := range fatalOnPurpose {
		if known[e.Code] {
			t.Errorf("%s is listed twice", e.Message)
		}
		known[e.Code] = true
		if v := verdictOf(e.Code); v.kind != sink.Fatal {
			t.Errorf("%s is %v, listed as fatal", e.Message, v.kind)
		}
	}
	for code := int16(-1); code < 1000; code++ {
		err := kerr.TypedErrorForCode(code)
		if err == nil || code != -1 && err.Code == kerr.UnknownServerError.Code {
			continue // no such code
		}
		if err.Retriable {
			if k := verdictOf(code).kind; k == sink.Fatal {
				t.Errorf("%s is retriable to the client and fatal to us", err.Message)
			}
			continue
		}
		if !known[code] {
			t.Errorf("%s (%d) is neither classified nor fatal on purpose", err.Message, code)
		}
	}
}

func TestFailuresWithoutACode(t *testing.T) {
	for _, tt := range []struct {
		err    error
		kind   sink.Kind
		reason string
	}{
		{kgo.ErrClientClosed, sink.Retriable, reasonClosed},
		{kgo.ErrAborting, sink.Retriable, reasonUnavailable},
		{kgo.ErrRecordTimeout, sink.Retriable, reasonUnavailable},
		{fmt.Errorf("retry: %w", kgo.ErrRecordRetries), sink.Retriable, reasonUnavailable},
		{kgo.ErrMaxBuffered, sink.Retriable, reasonUnavailable},
		{errors.New("something new"), sink.Fatal, reasonUnknown},
	} {
		if e := failed("t", tt.err); e.Kind != tt.kind || e.Reason != tt.reason {
			t.Errorf("%v: %v %q, want %v %q", tt.err, e.Kind, e.Reason, tt.kind, tt.reason)
		}
	}
}

func TestUnanswered(t *testing.T) {
	for _, tt := range []struct {
		err    error
		kind   sink.Kind
		reason string
	}{
		{&net.OpError{Op: "dial", Err: errors.New("refused")}, sink.Retriable, reasonUnavailable},
		{context.DeadlineExceeded, sink.Retriable, reasonUnavailable},
		{context.Canceled, sink.Retriable, reasonClosed},
		{kgo.ErrClientClosed, sink.Retriable, reasonClosed},
		{kerr.SaslAuthenticationFailed, sink.Config, reasonNotAuthorized},
		{kerr.UnknownTopicOrPartition, sink.Config, reasonTopicMissing},
	} {
		if e := unanswered("t", tt.err); e.Kind != tt.kind || e.Reason != tt.reason {
			t.Errorf("%v: %v %q, want %v %q", tt.err, e.Kind, e.Reason, tt.kind, tt.reason)
		}
	}
}

// TestMissingTopicNamesTheCommand: the remedy can be pasted.
func TestMissingTopicNamesTheCommand(t *testing.T) {
	e := failed("audit.auth", kerr.UnknownTopicOrPartition)
	if want := "--create --topic audit.auth"; !strings.Contains(e.Error(), want) {
		t.Errorf("%q lacks %q", e, want)
	}
}
