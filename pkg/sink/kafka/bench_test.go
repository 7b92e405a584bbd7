package kafka

import (
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// BenchmarkSend sends 450-byte records with six headers to an in-process
// cluster that drops them. What is left to see is the client and we.
func BenchmarkSend(b *testing.B) {
	c := newCluster(b, kfake.SeedTopics(6, "orders"), kfake.BlackholeProduce())
	var pending sync.WaitGroup
	s, err := New(Config{Brokers: c.ListenAddrs(), Linger: time.Millisecond}, func(_ *sink.Record, err error) {
		if err != nil {
			b.Error(err)
		}
		pending.Done()
	})
	if err != nil {
		b.Fatal(err)
	}
	defer closeNow(b, s)
	value := make([]byte, 450)
	headers := make([]sink.Header, 6)
	for i := range headers {
		headers[i] = sink.Header{Name: "event-id", Value: []byte("0192f8a0-0000-7000-8000-000000000000")}
	}
	records := make([]sink.Record, 64)
	for i := range records {
		records[i] = sink.Record{Destination: "orders", Key: []byte{byte(i)}, Value: value, Headers: headers, Time: time.Now()}
	}
	if errs := s.Check(b.Context(), []string{"orders"}); errs[0] != nil {
		b.Fatal(errs[0])
	}
	ctx := b.Context()
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; b.Loop(); i++ {
		pending.Add(1)
		if err := s.Send(ctx, &records[i%len(records)]); err != nil {
			b.Fatal(err)
		}
	}
	pending.Wait()
}
