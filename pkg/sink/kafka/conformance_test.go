package kafka

import (
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink/sinktest"
)

// TestConformance runs the suite with and without lingering: without it each
// batch is small and many are in flight.
func TestConformance(t *testing.T) {
	topics := []string{"orders", "audit.events"}
	for _, linger := range []time.Duration{0, 2 * time.Millisecond} {
		t.Run(fmt.Sprintf("linger=%v", linger), func(t *testing.T) {
			sinktest.Run(t, sinktest.Features{Destinations: topics, TooLarge: 1_048_588}, func(tb testing.TB, results sink.Results) sinktest.Subject {
				tb.Helper()
				c := newCluster(tb, kfake.NumBrokers(2), kfake.SeedTopics(3, topics...))
				s, err := New(Config{Brokers: c.ListenAddrs(), Linger: linger}, results)
				if err != nil {
					tb.Fatal(err)
				}
				return sinktest.Subject{
					Sink:   s,
					Stored: func(tb testing.TB) []sink.Record { tb.Helper(); return everything(tb, c, topics) },
					Stall:  func(tb testing.TB) { tb.Helper(); freeze(tb, c) },
					Break: func(testing.TB) {
						c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.InvalidRecord})
					},
				}
			})
		})
	}
}

// everything reads all that the topics hold.
func everything(tb testing.TB, c *kfake.Cluster, topics []string) []sink.Record {
	tb.Helper()
	var all []sink.Record
	for _, topic := range topics {
		n := stored(c, topic)
		if n == 0 {
			continue
		}
		for _, r := range consume(tb, c, topic, n) {
			got := sink.Record{Destination: topic, Key: r.Key, Value: r.Value, Time: r.Timestamp}
			for _, h := range r.Headers {
				got.Headers = append(got.Headers, sink.Header{Name: h.Key, Value: h.Value})
			}
			all = append(all, got)
		}
	}
	return all
}

// freeze makes every broker read produce requests and never answer.
func freeze(tb testing.TB, c *kfake.Cluster) {
	tb.Helper()
	thaw := make(chan struct{})
	tb.Cleanup(func() { close(thaw) })
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		c.SleepControl(func() { <-thaw })
		return nil, nil, true
	})
}
