package kafka

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// settingNames are the topic settings that judge needs, and minISR.
var settingNames = [...]string{
	"max.message.bytes", "cleanup.policy", minISR,
	"message.timestamp.type", "message.timestamp.before.max.ms", "message.timestamp.after.max.ms",
}

const minISR = "min.insync.replicas"

// answer is what the brokers say about one topic: a topic or an error.
type answer struct {
	topic *topic
	err   *sink.Error
}

// describe asks the brokers about topics, in two requests (a third one in a
// client's life), and answers in the
// order of names. It tries for as long as the client retries a request
// (Config.RequestTimeout); a failure to reach the brokers is Retriable.
func (s *Sink) describe(ctx context.Context, names []string) []answer {
	answers := make([]answer, len(names))
	client := s.producer.Load().client
	found, err := describeTopics(ctx, client, names)
	if err != nil {
		for i, name := range names {
			answers[i].err = unanswered(name, fmt.Errorf("describe topic: %w", err))
		}
		return answers
	}
	denied := s.forbidden(ctx)
	var good []string
	for i, name := range names {
		if answers[i].err = missing(name, found[name]); answers[i].err == nil && denied != nil {
			e := *denied
			e.Destination, answers[i].err = name, &e
		}
		if answers[i].err == nil {
			good = append(good, name)
		}
	}
	settings := s.describeSettings(ctx, client, good)
	for i, name := range names {
		if answers[i].err != nil {
			continue
		}
		got := settings[name]
		if got.err != nil {
			answers[i].err = got.err
			continue
		}
		if answers[i].err = starved(ctx, client, found[name], got.settings); answers[i].err == nil {
			answers[i].topic = newTopic(name, got.settings, s.cfg.BatchMaxBytes)
		}
	}
	return answers
}

// describeTopics is a metadata request of our own: kadm's gives up all topics
// for one that is denied.
func describeTopics(ctx context.Context, client *kgo.Client, names []string) (map[string]*kmsg.MetadataResponseTopic, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.AllowAutoTopicCreation = false
	req.IncludeTopicAuthorizedOperations = true
	for _, name := range names {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = &name
		req.Topics = append(req.Topics, t)
	}
	if len(names) == 0 {
		req.Topics = []kmsg.MetadataRequestTopic{} // nil asks for all topics
	}
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return nil, err
	}
	found := make(map[string]*kmsg.MetadataResponseTopic, len(resp.Topics))
	for i := range resp.Topics {
		if t := &resp.Topics[i]; t.Topic != nil {
			found[*t.Topic] = t
		}
	}
	return found, nil
}

var (
	errNoAnswer = errors.New("the broker's answer leaves the topic out")
	errDenied   = errors.New("the connector may not write to the topic")
)

// missing is why a topic can't be written to, by its metadata.
func missing(name string, t *kmsg.MetadataResponseTopic) *sink.Error {
	if t == nil {
		return unanswered(name, errNoAnswer)
	}
	if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
		return unanswered(name, fmt.Errorf("describe topic: %w", err))
	}
	// The least int32 is "not asked for, or not told". The bits are those of
	// Kafka's AclOperation: ALL is 2, WRITE is 4.
	const allowed = 1<<2 | 1<<4
	if ops := t.AuthorizedOperations; ops != math.MinInt32 && ops&allowed == 0 {
		return verdict{sink.Config, reasonNotAuthorized, remedyWrite}.error(name, sink.ScopeBatch, errDenied)
	}
	return nil
}

// settingsOf is one topic's settings: nil and no error when we may not know.
type settingsOf struct {
	settings map[string]string
	err      *sink.Error
}

// describeSettings reads topic settings. A refusal that will not pass by itself
// leaves them unknown, with one warning in the sink's life: DESCRIBE_CONFIGS is
// a grant that many do without.
func (s *Sink) describeSettings(ctx context.Context, client *kgo.Client, names []string) map[string]settingsOf {
	all := make(map[string]settingsOf, len(names))
	if len(names) == 0 {
		return all
	}
	req := kmsg.NewPtrDescribeConfigsRequest()
	for _, name := range names {
		res := kmsg.NewDescribeConfigsRequestResource()
		res.ResourceType, res.ResourceName = kmsg.ConfigResourceTypeTopic, name
		res.ConfigNames = settingNames[:]
		req.Resources = append(req.Resources, res)
	}
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		for _, name := range names {
			all[name] = s.unknownSettings(ctx, name, err)
		}
		return all
	}
	for i := range resp.Resources {
		res := &resp.Resources[i]
		if err := kerr.ErrorForCode(res.ErrorCode); err != nil {
			all[res.ResourceName] = s.unknownSettings(ctx, res.ResourceName, err)
			continue
		}
		settings := make(map[string]string, len(res.Configs))
		for _, c := range res.Configs {
			if c.Value != nil {
				settings[c.Name] = *c.Value
			}
		}
		all[res.ResourceName] = settingsOf{settings: settings}
	}
	return all
}

// unknownSettings decides between asking again and doing without.
func (s *Sink) unknownSettings(ctx context.Context, name string, err error) settingsOf {
	e := unanswered(name, fmt.Errorf("describe topic settings: %w", err))
	if e.Kind == sink.Retriable || e.Reason == reasonTopicMissing {
		return settingsOf{err: e}
	}
	s.warnSettings.Do(func() {
		s.cfg.Logger.WarnContext(ctx, "topic settings can't be read; records above the assumed max.message.bytes are refused, other bounds are not checked beforehand",
			"topic", name, "assumed", fallbackMaxMessageBytes, "error", err,
			"remedy", "grant DESCRIBE_CONFIGS on the topics to the connector's principal")
	})
	return settingsOf{}
}

// number reads a setting that is a whole number.
func number(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}
