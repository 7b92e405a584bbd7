package kafka

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// starved is set for a topic that no record with acks=all can enter: it asks
// for more in-sync replicas than it has replicas. Brokers from 3.7 on ask for no
// more than there are (KAFKA-15583, Partition.effectiveMinIsr).
func starved(ctx context.Context, client *kgo.Client, t *kmsg.MetadataResponseTopic, settings map[string]string) *sink.Error {
	want, ok := number(settings[minISR])
	if !ok {
		return nil
	}
	for i := range t.Partitions {
		have := len(t.Partitions[i].Replicas)
		if have == 0 || int64(have) >= want {
			continue
		}
		takes, err := lenient(ctx, client)
		if err != nil {
			return unanswered(*t.Topic, fmt.Errorf("ask a broker for its version: %w", err))
		}
		if takes {
			return nil
		}
		return verdict{sink.Config, reasonTopicUnusable, "lower min.insync.replicas, or add replicas"}.error(
			*t.Topic, sink.ScopeBatch, fmt.Errorf("min.insync.replicas is %d, partition %d has %d replicas", want, t.Partitions[i].Partition, have))
	}
	return nil
}

// lenient tells whether a broker is of 3.7 or later, which came with version 10
// of the Produce request (KIP-951).
func lenient(ctx context.Context, client *kgo.Client) (bool, error) {
	const produce, since = int16(kmsg.Produce), 10
	req := kmsg.NewPtrApiVersionsRequest()
	req.ClientSoftwareName, req.ClientSoftwareVersion = "outbox-cdc", "1"
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return false, err
	}
	for _, key := range resp.ApiKeys {
		if key.ApiKey == produce {
			return key.MaxVersion >= since, nil
		}
	}
	return false, nil
}
