package kafka

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"

	"github.com/outbox-cdc/outbox-cdc/internal/kafkatest"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// brokers holds the real Kafka of the tests that need what only one knows.
var brokers kafkatest.Pool

func TestMain(m *testing.M) { goleak.VerifyTestMain(brokers.Main(m)) }

// limit bounds each wait of a test; none comes near it unless it fails.
const limit = 20 * time.Second

// newCluster starts an in-process cluster that ends with the test.
func newCluster(tb testing.TB, opts ...kfake.Opt) *kfake.Cluster {
	tb.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1)}, opts...)...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	return c
}

// outcome is one call of Results.
type outcome struct {
	record *sink.Record
	err    error
}

// outcomes collects results and can be waited on.
type outcomes struct {
	mu     sync.Mutex
	all    []outcome
	change chan struct{}
}

func newOutcomes() *outcomes { return &outcomes{change: make(chan struct{})} }

func (o *outcomes) add(r *sink.Record, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, outcome{r, err})
	close(o.change)
	o.change = make(chan struct{})
}

func (o *outcomes) list() []outcome {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]outcome(nil), o.all...)
}

// wait returns once n results are in.
func (o *outcomes) wait(tb testing.TB, n int) []outcome {
	tb.Helper()
	deadline := time.After(limit)
	for {
		o.mu.Lock()
		all, change := o.all, o.change
		o.mu.Unlock()
		if len(all) >= n {
			return o.list()
		}
		select {
		case <-change:
		case <-deadline:
			tb.Fatalf("%d results after %v, want %d", len(all), limit, n)
		}
	}
}

// newSink makes a sink that is closed with the test at the latest.
func newSink(tb testing.TB, c *kfake.Cluster, change func(*Config)) (*Sink, *outcomes) {
	tb.Helper()
	cfg := Config{Brokers: c.ListenAddrs(), RequestTimeout: 2 * time.Second}
	if change != nil {
		change(&cfg)
	}
	got := newOutcomes()
	s, err := New(cfg, got.add)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = s.Close(ctx) // nothing to see: most tests have closed it
	})
	return s, got
}

// consume reads n records of a topic.
func consume(tb testing.TB, c *kfake.Cluster, topic string, n int) []*kgo.Record {
	tb.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(100*time.Millisecond))
	if err != nil {
		tb.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var all []*kgo.Record
	for len(all) < n {
		fetches := client.PollFetches(ctx)
		if ctx.Err() != nil {
			tb.Fatalf("consumed %d records of %q, want %d", len(all), topic, n)
		}
		all = append(all, fetches.Records()...)
	}
	return all
}

// stored is how many records a topic holds.
func stored(c *kfake.Cluster, topic string) int {
	var n int64
	for _, p := range c.PartitionInfos(topic) {
		n += p.HighWatermark
	}
	return int(n)
}

func record(topic, key, value string) *sink.Record {
	return &sink.Record{Destination: topic, Key: []byte(key), Value: []byte(value), Time: time.Now()}
}

// sendAll sends n records of one key.
func sendAll(tb testing.TB, s *Sink, topic string, n int) {
	tb.Helper()
	for i := range n {
		if err := s.Send(tb.Context(), record(topic, "k", strconv.Itoa(i))); err != nil {
			tb.Fatalf("send %d: %v", i, err)
		}
	}
}

func closeNow(tb testing.TB, s *Sink) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		tb.Fatal(err)
	}
}
