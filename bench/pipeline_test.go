package bench

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/pipeline"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/format"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset"
	"github.com/outbox-cdc/outbox-cdc/pkg/router"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink/kafka"
)

// BenchmarkPipeline delivers b.N events and waits until the last is confirmed.
// CPU is this process's own; the socket to the server is not part of it.
func BenchmarkPipeline(b *testing.B) {
	for _, perTx := range []int{1, 1000} {
		b.Run(fmt.Sprintf("rows-a-transaction=%d", perTx), func(b *testing.B) {
			broker := startBroker(b)
			deliver(b, broker, 10_000, perTx) // connects, fills pools
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			cpu := ownCPU(b)
			b.ResetTimer()
			deliver(b, broker, b.N, perTx)
			b.StopTimer()
			runtime.ReadMemStats(&after)
			n := float64(b.N)
			b.ReportMetric(float64((ownCPU(b)-cpu).Nanoseconds())/n, "cpu-ns/event")
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/n, "allocs/event")
			b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/n, "B/event")
		})
	}
}

// deliver runs one pipeline over n events.
func deliver(b *testing.B, broker string, n, perTx int) {
	b.Helper()
	src := newMemorySource(n, perTx)
	p, err := pipeline.New(config(b, broker, src))
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	limit := time.After(5 * time.Minute)
	for {
		if done := p.Totals().Routes[0].Delivered[0].N; done == int64(n) {
			break
		}
		select {
		case <-src.flushed: // every status interval
		case err := <-ended:
			b.Fatalf("the pipeline ended: %v", err)
		case <-limit:
			b.Fatalf("stuck: %+v", p.Status())
		}
	}
	cancel()
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
	if got := p.Status(); got.Confirmed != decoder.LSN(src.lsn+8) {
		b.Fatalf("confirmed %v, want %v", got.Confirmed, decoder.LSN(src.lsn+8))
	}
}

func config(b *testing.B, broker string, src *memorySource) pipeline.Config {
	b.Helper()
	names, err := decoder.ParseTables("public.outbox")
	if err != nil {
		b.Fatal(err)
	}
	mapping, err := decoder.ParseMapping("id=event_id")
	if err != nil {
		b.Fatal(err)
	}
	tables, err := decoder.NewTables(names, mapping)
	if err != nil {
		b.Fatal(err)
	}
	rules, err := router.New("* -> kafka:bench.{aggregate_type} name=bench")
	if err != nil {
		b.Fatal(err)
	}
	return pipeline.Config{
		Log: slog.New(slog.DiscardHandler), Tables: tables, Router: rules, Formats: map[string]pipeline.Formatter{"": format.NewRaw(format.Options{Source: "bench"})},
		Limits:  offset.Limits{Records: 20_000, Bytes: 16 << 20},
		Connect: func(context.Context) (pipeline.Session, error) { return memorySession{src}, nil },
		OpenSinks: func(results sink.Results) (map[string]sink.Sink, error) {
			s, err := kafka.New(kafka.Config{Brokers: []string{broker}, Compression: "none", Linger: time.Millisecond}, results)
			return map[string]sink.Sink{kafka.Name: s}, err
		},
		StatusInterval: 50 * time.Millisecond, BackoffMax: time.Second, HoldRetry: time.Second,
		StandbyPoll: time.Second, ShutdownGrace: 30 * time.Second,
	}
}

// ownCPU is the CPU time of this process so far.
func ownCPU(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
