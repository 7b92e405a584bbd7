package e2e

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/outbox-cdc/outbox-cdc/internal/kafkatest"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// record is what a consumer gets.
type record struct {
	id        string
	key       []byte // nil: none
	value     []byte
	headers   map[string]string
	partition int32
	offset    int64
	time      time.Time
	commit    decoder.LSN
	ordinal   uint64
}

// brokers are the addresses of the cluster.
func (r *rig) brokers() []string {
	if r.kafka != nil {
		return []string{r.kafka.Addr(kafkatest.Plaintext)}
	}
	return r.cluster.ListenAddrs()
}

func (r *rig) createTopic(name string, partitions int32) {
	r.tb.Helper()
	if r.kafka != nil {
		r.kafka.CreateTopic(r.tb, name, partitions, nil)
		return
	}
	if err := r.cluster.CreateTopic(name, partitions, nil); err != nil {
		r.tb.Fatal(err)
	}
}

// alter changes a setting of the topic, as an operator does.
func (r *rig) alter(topic, name, value string) {
	r.tb.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(r.brokers()...))
	if err != nil {
		r.tb.Fatal(err)
	}
	defer client.Close()
	answers, err := kadm.NewClient(client).AlterTopicConfigs(r.tb.Context(), []kadm.AlterConfig{{Name: name, Value: &value}}, topic)
	if err != nil || answers[0].Err != nil {
		r.tb.Fatal(err, answers)
	}
}

// lookEnds looks at the offsets behind the last record of each partition. It
// fails while a real broker is down.
func (r *rig) lookEnds(ctx context.Context, topic string) ([]int64, error) {
	if r.kafka != nil {
		return r.kafka.Ends(ctx, topic)
	}
	infos := r.cluster.PartitionInfos(topic)
	ends := make([]int64, len(infos))
	for i, info := range infos {
		ends[i] = info.HighWatermark
	}
	return ends, nil
}

// ends are the offsets behind the last record of each partition.
func (r *rig) ends(topic string) (ends []int64) {
	r.tb.Helper()
	eventually(r.tb, patience, "the topic's ends are known", func(ctx context.Context) (bool, any) {
		var err error
		ends, err = r.lookEnds(ctx, topic)
		return err == nil, err
	})
	return ends
}

// stored is the number of records in the topic.
func (r *rig) stored(topic string) (n int64) {
	for _, end := range r.ends(topic) {
		n += end
	}
	return n
}

// records reads the whole topic, each partition in its order.
func (r *rig) records(topic string) []record {
	r.tb.Helper()
	ends := r.ends(topic)
	from := map[int32]kgo.Offset{}
	var want int64
	for p, end := range ends {
		if end > 0 {
			from[int32(p)] = kgo.NewOffset().AtStart()
		}
		want += end
	}
	if want == 0 {
		return nil
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(r.brokers()...),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}))
	if err != nil {
		r.tb.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(r.tb.Context(), 2*patience)
	defer cancel()
	all := make([]record, 0, want)
	for int64(len(all)) < want {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			r.tb.Fatalf("read topic %s: %d of %d records: %v", topic, len(all), want, err)
		}
		fetches.EachRecord(func(k *kgo.Record) { all = append(all, r.parse(k)) })
	}
	slices.SortStableFunc(all, func(a, b record) int {
		return cmp.Or(cmp.Compare(a.partition, b.partition), cmp.Compare(a.offset, b.offset))
	})
	return all
}

// parse reads the headers that every record has.
func (r *rig) parse(k *kgo.Record) record {
	rec := record{key: k.Key, value: k.Value, partition: k.Partition, offset: k.Offset, time: k.Timestamp, headers: map[string]string{}}
	for _, h := range k.Headers {
		rec.headers[h.Key] = string(h.Value)
	}
	rec.id = rec.headers["event-id"]
	var err error
	if rec.commit, rec.ordinal, err = parsePosition(rec.headers["position"]); err != nil {
		r.tb.Errorf("record %s has position %q: %v", rec.id, rec.headers["position"], err)
	}
	return rec
}

// parsePosition reads %08X/%08X:%010d, which consumers may rely on.
func parsePosition(text string) (commit decoder.LSN, ordinal uint64, err error) {
	if len(text) != len("00000000/00000000:0000000000") || text[8] != '/' || text[17] != ':' {
		return 0, 0, strconv.ErrSyntax
	}
	high, errHigh := strconv.ParseUint(text[:8], 16, 32)
	low, errLow := strconv.ParseUint(text[9:17], 16, 32)
	ordinal, err = strconv.ParseUint(text[18:], 10, 64)
	return decoder.LSN(high<<32 | low), ordinal, errors.Join(errHigh, errLow, err)
}

// awaitStored waits until the topic has n records.
func (r *rig) awaitStored(topic string, n int64) {
	r.tb.Helper()
	eventually(r.tb, patience, fmt.Sprintf("%d records in topic %s", n, topic), func(context.Context) (bool, any) {
		have := r.stored(topic)
		return have >= n, have
	})
}
