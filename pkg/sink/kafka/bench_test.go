package kafka

import (
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// The benchmarks send 450-byte records with six headers to an in-process
// cluster that drops them, so that the CPU of a record (cpu-ns/op) is the
// client's, ours and, in both, that of the fake broker. BenchmarkBareClient is
// the same without us.

// benchWindow is the pipeline's default.
const benchWindow = 20_000

func BenchmarkSend(b *testing.B) {
	c := newCluster(b, kfake.SeedTopics(6, "orders"), kfake.BlackholeProduce())
	var pending sync.WaitGroup
	s, err := New(Config{Brokers: c.ListenAddrs(), Linger: time.Millisecond, MaxBufferedRecords: benchWindow}, func(_ *sink.Record, err error) {
		if err != nil {
			b.Error(err)
		}
		pending.Done()
	})
	if err != nil {
		b.Fatal(err)
	}
	defer closeNow(b, s)
	records := benchRecords()
	if errs := s.Check(b.Context(), []string{"orders"}); errs[0] != nil {
		b.Fatal(errs[0])
	}
	ctx := b.Context()
	measure(b, func(i int) {
		pending.Add(1)
		if err := s.Send(ctx, &records[i%len(records)]); err != nil {
			b.Fatal(err)
		}
	}, pending.Wait)
}

func BenchmarkBareClient(b *testing.B) {
	c := newCluster(b, kfake.SeedTopics(6, "orders"), kfake.BlackholeProduce())
	cfg := mustDefaults(b)
	cfg.Brokers, cfg.Linger = c.ListenAddrs(), time.Millisecond
	p, err := newProducer(cfg, newClientLog(discard(), func(string, error) {}), nil, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer p.client.Close()
	source := benchRecords()
	free := make(chan *kgo.Record, benchWindow)
	for i := range cap(free) {
		r := &source[i%len(source)]
		k := &kgo.Record{Topic: r.Destination, Key: r.Key, Value: r.Value, Timestamp: r.Time}
		for _, h := range r.Headers {
			k.Headers = append(k.Headers, kgo.RecordHeader{Key: h.Name, Value: h.Value})
		}
		free <- k
	}
	var pending sync.WaitGroup
	done := func(k *kgo.Record, err error) {
		if err != nil {
			b.Error(err)
		}
		free <- k
		pending.Done()
	}
	ctx := b.Context()
	measure(b, func(int) {
		pending.Add(1)
		p.client.Produce(ctx, <-free, done)
	}, pending.Wait)
}

func benchRecords() []sink.Record {
	value := make([]byte, 450)
	headers := make([]sink.Header, 6)
	for i := range headers {
		headers[i] = sink.Header{Name: "event-id", Value: []byte("0192f8a0-0000-7000-8000-000000000000")}
	}
	records := make([]sink.Record, 64)
	for i := range records {
		records[i] = sink.Record{Destination: "orders", Key: []byte{byte(i)}, Value: value, Headers: headers, Time: time.Now()}
	}
	return records
}

// measure runs the benchmark and reports the process's CPU time an operation.
func measure(b *testing.B, op func(int), wait func()) {
	b.Helper()
	b.ReportAllocs()
	before := cpu(b)
	for i := 0; b.Loop(); i++ {
		op(i)
	}
	wait()
	b.ReportMetric(float64((cpu(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
}

func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
