package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// dial makes a client; the caller closes it.
func (k *kafkaFlags) dial(opts ...kgo.Opt) (*kgo.Client, *kadm.Client, error) {
	opts = append([]kgo.Opt{kgo.SeedBrokers(k.brokers), kgo.MetadataMinAge(100 * time.Millisecond)}, opts...)
	client, err := kgo.NewClient(opts...)
	if err != nil {
		return nil, nil, err
	}
	return client, kadm.NewClient(client), nil
}

// pause waits until it is time to ask again; an error when time is up.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// waitBroker returns when the broker answers.
func waitBroker(ctx context.Context, args []string, _ io.Writer) error {
	var k kafkaFlags
	f := newFlags("wait")
	k.register(f)
	ctx, cancel, err := f.parse(ctx, args)
	if err != nil {
		return err
	}
	defer cancel()
	client, admin, err := k.dial()
	if err != nil {
		return err
	}
	defer client.Close()
	for {
		attempt, stop := context.WithTimeout(ctx, 2*time.Second)
		found, err := admin.BrokerMetadata(attempt)
		stop()
		if err == nil && len(found.Brokers) > 0 {
			return nil
		}
		if pause(ctx, 50*time.Millisecond) != nil {
			return fmt.Errorf("no broker at %s: %w", k.brokers, err)
		}
	}
}

// recreateTopic deletes the topic and returns when an empty one has leaders.
func recreateTopic(ctx context.Context, args []string, _ io.Writer) error {
	var k kafkaFlags
	f := newFlags("topic")
	k.register(f)
	partitions := f.Int("partitions", 6, "partitions")
	ctx, cancel, err := f.parse(ctx, args)
	if err != nil {
		return err
	}
	defer cancel()
	client, admin, err := k.dial()
	if err != nil {
		return err
	}
	defer client.Close()
	if _, err := admin.DeleteTopic(ctx, k.topic); err != nil && !errors.Is(err, kerr.UnknownTopicOrPartition) {
		return fmt.Errorf("delete topic %s: %w", k.topic, err)
	}
	for {
		// Until the deletion is through, the topic exists.
		_, err := admin.CreateTopic(ctx, int32(*partitions), 1, nil, k.topic) //nolint:gosec // a handful
		if err == nil {
			break
		}
		if !errors.Is(err, kerr.TopicAlreadyExists) || pause(ctx, 100*time.Millisecond) != nil {
			return fmt.Errorf("create topic %s: %w", k.topic, err)
		}
	}
	for {
		offsets, err := admin.ListEndOffsets(ctx, k.topic)
		if err == nil && offsets.Error() == nil && len(offsets[k.topic]) == *partitions {
			return nil
		}
		if pause(ctx, 50*time.Millisecond) != nil {
			return fmt.Errorf("topic %s has no leaders: %w", k.topic, errors.Join(err, offsets.Error()))
		}
	}
}

// records is how many records the topic holds: the sum of its end offsets, as
// every topic here starts empty and nothing on it is transactional.
func (k *kafkaFlags) records(ctx context.Context, admin *kadm.Client) (int64, error) {
	offsets, err := admin.ListEndOffsets(ctx, k.topic)
	if err != nil {
		return 0, fmt.Errorf("end offsets of %s: %w", k.topic, err)
	}
	if err := offsets.Error(); err != nil {
		return 0, fmt.Errorf("end offsets of %s: %w", k.topic, err)
	}
	var sum int64
	offsets.Each(func(o kadm.ListedOffset) { sum += o.Offset })
	return sum, nil
}
