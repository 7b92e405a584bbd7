package kafka

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

func TestVarint(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 127, 128, 8191, 8192, 1<<20 - 1, 1 << 20, 1<<27 - 1, 1 << 27, 1<<31 - 1} {
		if got, want := varint(n), len(kbin.AppendVarint(nil, int32(n))); got != want {
			t.Errorf("varint(%d) = %d, encoded it has %d bytes", n, got, want)
		}
	}
}

// TestBatchSizeIsExact compares with what the client puts on the wire.
func TestBatchSizeIsExact(t *testing.T) {
	c := newCluster(t, kfake.SeedTopics(1, "orders"))
	wire := make(chan int, 1)
	c.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		wire <- len(req.(*kmsg.ProduceRequest).Topics[0].Partitions[0].Records)
		return nil, nil, false
	})
	s, got := newSink(t, c, func(cfg *Config) { cfg.Compression = "none" })
	sent := 0
	rapid.Check(t, func(rt *rapid.T) {
		bytesOf := rapid.SliceOfN(rapid.Byte(), 0, 300)
		r := &sink.Record{Destination: "orders", Time: time.Now()}
		if rapid.Bool().Draw(rt, "keyed") {
			r.Key = bytesOf.Draw(rt, "key")
		}
		if rapid.Bool().Draw(rt, "valued") {
			r.Value = bytes.Repeat(bytesOf.Draw(rt, "value"), rapid.IntRange(0, 40).Draw(rt, "repeat"))
		}
		for range rapid.IntRange(0, 70).Draw(rt, "headers") {
			r.Headers = append(r.Headers, sink.Header{Name: string(bytesOf.Draw(rt, "name")), Value: bytesOf.Draw(rt, "header")})
		}
		if err := s.Send(t.Context(), r); err != nil {
			rt.Fatal(err)
		}
		sent++
		got.wait(t, sent)
		if n := <-wire; n != batchSize(r) {
			rt.Fatalf("%d bytes on the wire, batchSize says %d", n, batchSize(r))
		}
	})
}

// TestSizeLadder: around the limit every size has one answer, which no
// neighbour, compression or repetition changes, and what is taken is stored.
func TestSizeLadder(t *testing.T) {
	const limit = 1_048_588
	for _, compression := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		t.Run(compression, func(t *testing.T) {
			c := newCluster(t, kfake.SeedTopics(1, "orders"))
			s, got := newSink(t, c, func(cfg *Config) { cfg.Compression = compression; cfg.Linger = 5 * time.Millisecond })
			overhead := batchSize(record("orders", "k", string(make([]byte, 1_000_000)))) - 1_000_000
			largest := limit - framing - overhead
			taken := 0
			for _, size := range []int{300_000, 1_000_000, largest - 1, largest, largest + 1, limit, 5_000_000, 10} {
				for range 2 {
					r := record("orders", "k", "")
					r.Value = bytes.Repeat([]byte{'a'}, size)
					err := s.Send(t.Context(), r)
					if fits := size <= largest; fits != (err == nil) {
						t.Fatalf("size %d: %v", size, err)
					}
					if err == nil {
						taken++
						continue
					}
					var e *sink.Error
					if !errors.As(err, &e) || e.Kind != sink.Poison || e.Scope != sink.ScopeRecord || e.Reason != reasonTooLarge {
						t.Fatalf("size %d: %v", size, err)
					}
					for _, part := range []string{strconv.Itoa(limit), strconv.Itoa(batchSize(r) + framing), "max.message.bytes"} {
						if !bytes.Contains([]byte(e.Error()), []byte(part)) {
							t.Errorf("error %q lacks %s", e, part)
						}
					}
				}
			}
			closeNow(t, s)
			for _, o := range got.wait(t, taken) {
				if o.err != nil {
					t.Fatalf("a record that was taken failed: %v", o.err)
				}
			}
			if n := stored(c, "orders"); n != taken {
				t.Errorf("%d stored, %d taken", n, taken)
			}
		})
	}
}

// TestLimitIsTheTopicsOwn: two topics with different limits.
func TestLimitIsTheTopicsOwn(t *testing.T) {
	c := newCluster(t, kfake.SeedTopics(1, "plain"))
	if err := c.CreateTopic("big", 1, map[string]string{"max.message.bytes": "20000000"}); err != nil {
		t.Fatal(err)
	}
	s, _ := newSink(t, c, nil)
	large := make([]byte, 10_000_000)
	if err := s.Send(t.Context(), &sink.Record{Destination: "big", Key: []byte("k"), Value: large}); err != nil {
		t.Errorf("10 MB to a topic that takes 20: %v", err)
	}
	if err := s.Send(t.Context(), &sink.Record{Destination: "plain", Key: []byte("k"), Value: large}); sink.KindOf(err) != sink.Poison {
		t.Errorf("10 MB to a topic that takes 1: %v", err)
	}
	closeNow(t, s)
	if n := stored(c, "big"); n != 1 {
		t.Errorf("%d records stored in the big topic, want 1", n)
	}
}

// TestBatchMaxBytes: the configured bound holds for batches and records.
func TestBatchMaxBytes(t *testing.T) {
	c := newCluster(t, kfake.SeedTopics(1, "orders"))
	s, _ := newSink(t, c, func(cfg *Config) { cfg.BatchMaxBytes = 16 << 10 })
	err := s.Send(t.Context(), record("orders", "k", string(make([]byte, 17<<10))))
	if sink.KindOf(err) != sink.Poison || !bytes.Contains([]byte(err.Error()), []byte("KAFKA_BATCH_MAX_BYTES")) {
		t.Errorf("a record above the batch bound: %v", err)
	}
	if err := s.Send(t.Context(), record("orders", "k", string(make([]byte, 15<<10)))); err != nil {
		t.Error(err)
	}
	closeNow(t, s)
}

// TestRequestOverhead: what a batch can have of a request is less than the
// client's own limit with the longest names.
func TestRequestOverhead(t *testing.T) {
	for _, batch := range []int{0, maxRequestBytes} {
		p, err := newProducer(mustDefaults(t), newClientLog(discard(), func(string, error) {}), nil, batch)
		if err != nil {
			t.Fatal(err)
		}
		defer p.client.Close()
		most := p.client.OptValue(kgo.BrokerMaxWriteBytes).(int32)
		const names = 256 + 249 // client id, topic
		if max(batch, p.largest)+names+64 > int(most) {
			t.Errorf("a batch of %d bytes does not fit the client's limit of %d", p.largest, most)
		}
	}
}

// TestLargeTopicNeedsLargeRequests: requests grow with the topics in use, keep
// their size from then on, and no record is lost over it.
func TestLargeTopicNeedsLargeRequests(t *testing.T) {
	const size = 3 << 20
	c := newCluster(t, kfake.SeedTopics(1, "orders"))
	if err := c.CreateTopic("large", 1, map[string]string{"max.message.bytes": strconv.Itoa(size)}); err != nil {
		t.Fatal(err)
	}
	s, _ := newSink(t, c, nil)
	sendAll(t, s, "orders", 5)
	if err := s.Send(t.Context(), record("large", "k", strings.Repeat("x", size-200))); err != nil {
		t.Fatal(err)
	}
	p := s.producer.Load()
	sendAll(t, s, "orders", 5)
	if s.producer.Load() != p {
		t.Error("the client was replaced again")
	}
	closeNow(t, s)
	checkOrder(t, c, "orders", 5, 5)
	if n := stored(c, "large"); n != 1 {
		t.Errorf("%d large records stored", n)
	}
}
