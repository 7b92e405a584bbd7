package kafkatest

import (
	"context"
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
)

// CreateTopic creates a topic with the given settings.
func (b *Broker) CreateTopic(tb testing.TB, name string, partitions int32, settings map[string]string) {
	tb.Helper()
	if err := b.createTopic(tb.Context(), name, partitions, settings); err != nil {
		tb.Fatal(err)
	}
}

func (b *Broker) createTopic(ctx context.Context, name string, partitions int32, settings map[string]string) error {
	values := map[string]*string{}
	for setting, value := range settings {
		values[setting] = &value
	}
	if _, err := b.Admin().CreateTopic(ctx, partitions, 1, values, name); err != nil {
		return fmt.Errorf("create topic %s: %w", name, err)
	}
	return nil
}

// AlterTopic sets one of a topic's settings.
func (b *Broker) AlterTopic(tb testing.TB, name, setting, value string) {
	tb.Helper()
	answers, err := b.Admin().AlterTopicConfigs(tb.Context(), []kadm.AlterConfig{{Name: setting, Value: &value}}, name)
	if err == nil {
		_, err = answers.On(name, func(r *kadm.AlterConfigsResponse) error { return r.Err })
	}
	if err != nil {
		tb.Fatalf("set %s of topic %s to %s: %v", setting, name, value, err)
	}
}

// DeleteTopic deletes a topic.
func (b *Broker) DeleteTopic(tb testing.TB, name string) {
	tb.Helper()
	if _, err := b.Admin().DeleteTopic(tb.Context(), name); err != nil {
		tb.Fatalf("delete topic %s: %v", name, err)
	}
}

// Ends returns the offsets behind the last record of each partition.
func (b *Broker) Ends(ctx context.Context, topic string) ([]int64, error) {
	listed, err := b.Admin().ListEndOffsets(ctx, topic)
	if err == nil {
		err = listed.Error()
	}
	if err != nil {
		return nil, fmt.Errorf("list the ends of topic %s: %w", topic, err)
	}
	ends := make([]int64, len(listed[topic]))
	for partition, end := range listed[topic] {
		ends[partition] = end.Offset
	}
	return ends, nil
}
