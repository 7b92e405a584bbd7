package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// Create says how missing topics are created. Their other settings are the
// cluster's defaults.
type Create struct {
	Partitions int
	// Replication is the number of replicas of each partition.
	Replication int
}

const remedyCreate = "grant CREATE on the topic (or the cluster) to the connector's principal, or create the topic"

// create asks for a topic. It is nil also when somebody else was faster; the
// brokers may still need a moment to learn of the topic.
func (s *Sink) create(ctx context.Context, name string) *sink.Error {
	req := kmsg.NewPtrCreateTopicsRequest()
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic = name
	t.NumPartitions = int32(s.cfg.Create.Partitions)      //nolint:gosec // validated
	t.ReplicationFactor = int16(s.cfg.Create.Replication) //nolint:gosec // validated
	req.Topics = append(req.Topics, t)
	req.TimeoutMillis = int32(min(s.cfg.RequestTimeout, time.Hour).Milliseconds()) //nolint:gosec // bounded
	resp, err := req.RequestWith(ctx, s.producer.Load().client)
	if err != nil {
		return unanswered(name, fmt.Errorf("create topic: %w", err))
	}
	if len(resp.Topics) != 1 {
		return unanswered(name, fmt.Errorf("create topic: %w", errNoAnswer))
	}
	err = kerr.ErrorForCode(resp.Topics[0].ErrorCode)
	if err == nil {
		s.log.logger.InfoContext(ctx, "topic created", "topic", name, "partitions", s.cfg.Create.Partitions, "replicas", s.cfg.Create.Replication)
		return nil
	}
	if errors.Is(err, kerr.TopicAlreadyExists) {
		return nil
	}
	v := verdictOf(resp.Topics[0].ErrorCode)
	switch {
	case v.reason == reasonNotAuthorized:
		v.remedy = remedyCreate
	case errors.Is(err, kerr.InvalidReplicationFactor):
		v = verdict{sink.Config, reasonTopicUnusable, "set KAFKA_CREATE_REPLICATION to at most the number of brokers"}
	case errors.Is(err, kerr.InvalidPartitions):
		v = verdict{sink.Config, reasonTopicUnusable, "correct KAFKA_CREATE_PARTITIONS"}
	}
	if m := resp.Topics[0].ErrorMessage; m != nil {
		err = fmt.Errorf("%w: %.200s", err, *m)
	}
	return v.error(name, sink.ScopeBatch, fmt.Errorf("create topic: %w", err))
}

// provide is describe, and creates what is missing where it is asked to.
func (s *Sink) provide(ctx context.Context, names []string) []answer {
	answers := s.describe(ctx, names)
	if s.cfg.Create == nil {
		return answers
	}
	for i, name := range names {
		if e := answers[i].err; e == nil || e.Reason != reasonTopicMissing {
			continue
		}
		answers[i] = s.provideOne(ctx, name)
	}
	return answers
}

// provideOne waits for about a second until the brokers know the new topic.
func (s *Sink) provideOne(ctx context.Context, name string) answer {
	if e := s.create(ctx, name); e != nil {
		return answer{err: e}
	}
	for try := 1; ; try++ {
		a := s.describe(ctx, []string{name})[0]
		if a.err == nil || a.err.Reason != reasonTopicMissing || try >= missingTries+1 {
			return a
		}
		if s.pause(ctx, try) != nil {
			return a
		}
	}
}
