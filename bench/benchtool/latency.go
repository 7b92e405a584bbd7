package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kgo"
)

// openLoop inserts at a fixed rate, whatever the answers take, and notes when
// each row comes out at the other end.
type openLoop struct {
	kafkaFlags
	slotFlags
	pids pids

	rate                 int64
	warmup, length, tail time.Duration
	connections          int
	via                  string

	times *timeline
	late  atomic.Int64
}

// latency measures from "COMMIT has returned" to "the consumer has the record",
// by the clock of this process.
func latency(ctx context.Context, args []string, out io.Writer) error {
	l := &openLoop{pids: pids{}}
	f := newFlags("latency")
	l.kafkaFlags.register(f)
	l.slotFlags.register(f)
	l.pids.register(f)
	f.Int64Var(&l.rate, "rate", 1000, "rows a second")
	f.DurationVar(&l.length, "duration", time.Minute, "length, without the warm-up")
	f.DurationVar(&l.warmup, "warmup", 10*time.Second, "warm-up, which does not count")
	f.DurationVar(&l.tail, "tail", 30*time.Second, "how long to wait for the last records")
	f.IntVar(&l.connections, "conns", 8, "database connections")
	f.StringVar(&l.via, "via", "kafka", "kafka: a connector; slot: this process reads the slot; direct: it produces after its commit")
	ctx, cancel, err := f.parse(ctx, args)
	if err != nil {
		return err
	}
	defer cancel()
	conns := make([]*pgx.Conn, l.connections)
	for i := range conns {
		if conns[i], err = pgx.Connect(ctx, l.dsn); err != nil {
			return err
		}
		defer func() { _ = conns[i].Close(context.WithoutCancel(ctx)) }()
	}
	var base int64
	if err := conns[0].QueryRow(ctx, "SELECT coalesce(max(id), 0) FROM outbox").Scan(&base); err != nil {
		return err
	}
	total := int64((l.warmup + l.length).Seconds() * float64(l.rate))
	l.times = newTimeline(base, total)
	result, err := l.measure(ctx, conns, total)
	if err != nil {
		return err
	}
	return emit(out, result)
}

// measure runs the whole loop: listener first, then the inserts.
func (l *openLoop) measure(ctx context.Context, conns []*pgx.Conn, total int64) (latencies, error) {
	inner, stop := context.WithCancel(ctx)
	var listener sync.WaitGroup
	defer listener.Wait()
	defer stop()
	ears, err := l.listen(inner)
	if err != nil {
		return latencies{}, err
	}
	listener.Go(ears)
	after := func(context.Context, int64) {}
	if l.via == "direct" {
		client, err := kgo.NewClient(kgo.SeedBrokers(l.brokers), kgo.DefaultProduceTopic(l.topic), kgo.ProducerLinger(0))
		if err != nil {
			return latencies{}, err
		}
		defer client.Close()
		after = func(ctx context.Context, id int64) {
			r := record(id, payload(id))
			client.Produce(ctx, &r, nil)
		}
	}
	connector := l.pids["connector"]
	before, _ := cpuMS(connector)
	// The listener is at work before it counts.
	begin := time.Now().Add(500 * time.Millisecond)
	l.insertAll(inner, conns, begin, total, after)
	select {
	case <-l.times.complete:
	case <-l.times.failed:
		return latencies{}, l.times.failure
	case <-ctx.Done():
		return latencies{}, ctx.Err()
	case <-time.After(l.tail): // what is missing is counted
	}
	result := l.times.sum(begin.Add(l.warmup))
	result.Late = l.late.Load()
	if now, running := cpuMS(connector); running {
		result.Cost, result.PeakRSS = cost(now-before, total), peakRSS(connector)
	}
	return result, nil
}

// insertAll returns when all rows are committed or one failed.
func (l *openLoop) insertAll(ctx context.Context, conns []*pgx.Conn, begin time.Time, total int64, after func(context.Context, int64)) {
	const insert = `INSERT INTO outbox (aggregate_type, aggregate_id, event_type, partition_key, payload)
		VALUES ('order', 'ord-' || $1::bigint, 'OrderPlaced', 'k' || ($1::bigint % 10000), bench_payload($1::bigint)) RETURNING id`
	var next atomic.Int64
	var workers sync.WaitGroup
	for _, conn := range conns {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < total; i = next.Add(1) - 1 {
				at := begin.Add(time.Duration(i) * time.Second / time.Duration(l.rate))
				if pause(ctx, time.Until(at)) != nil {
					return
				}
				if time.Since(at) > 50*time.Millisecond {
					l.late.Add(1)
				}
				var id int64
				if err := conn.QueryRow(ctx, insert, i).Scan(&id); err != nil {
					l.times.fail(fmt.Errorf("insert: %w", err))
					return
				}
				l.times.insert(id, at, time.Now())
				after(ctx, id)
			}
		})
	}
	workers.Wait()
}
