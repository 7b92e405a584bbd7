package main

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink/kafka"
)

// payload is as bench_payload of schema.sql makes it.
func payload(i int64) []byte {
	return fmt.Appendf(nil, `{"note": "leave at the door", "lines": [{"qty": %d, "sku": "SKU-%d", "price": 19.99, "title": "Blue cotton shirt, size M"}, `+
		`{"qty": 2, "sku": "SKU-%d", "price": 5.49, "title": "Socks"}], "total": %d.%02d, "shipTo": {"zip": "10115", "city": "Berlin", `+
		`"name": "Ada Lovelace", "street": "Example street %d", "country": "DE"}, "status": "PLACED", "orderId": "ord-%d", "currency": "EUR", `+
		`"placedAt": "2026-01-01T12:00:00.000Z", "customerId": "cus-%d"}`,
		1+i%5, i%5000, i%4999, i%1000, i%100, i%300, i, i%9973)
}

// record is the event of a row without a table.
func record(row int64, value []byte) kgo.Record {
	return kgo.Record{
		Key: fmt.Appendf(nil, "k%d", row*7919%10000), Value: value,
		Headers: []kgo.RecordHeader{{Key: "event-id", Value: []byte(eventID(row))}, {Key: "event-type", Value: []byte("OrderPlaced")}},
	}
}

// produce is one of the two limits: what the broker takes from memory.
func produce(ctx context.Context, args []string, out io.Writer) error {
	w := &watcher{pids: pids{}}
	f := newFlags("produce")
	w.kafkaFlags.register(f)
	w.pids.register(f)
	n := f.Int64("n", 0, "records")
	compression := f.String("compression", "none", "none, gzip, snappy, lz4 or zstd")
	linger := f.Duration("linger", 5*time.Millisecond, "how long a batch waits to fill")
	ctx, cancel, err := f.parse(ctx, args)
	if err != nil {
		return err
	}
	defer cancel()
	compress, err := kafka.Codec(*compression)
	if err != nil {
		return err
	}
	client, admin, err := w.dial(kgo.DefaultProduceTopic(w.topic), kgo.ProducerLinger(*linger), kgo.ProducerBatchMaxBytes(1<<20-1024),
		kgo.MaxBufferedRecords(200_000), kgo.ProducerBatchCompression(compress))
	if err != nil {
		return err
	}
	defer client.Close()
	if err := client.Ping(ctx); err != nil {
		return err
	}
	values := make([][]byte, 10_000)
	for i := range values {
		values[i] = payload(int64(i))
	}
	records := make([]kgo.Record, *n)
	for i := range records {
		records[i] = record(int64(i)+1, values[i%len(values)])
	}
	w.start = time.Now()
	start := w.atStart()
	var refused atomic.Int64
	for i := range records {
		client.Produce(ctx, &records[i], func(_ *kgo.Record, err error) {
			if err != nil {
				refused.Add(1)
			}
		})
	}
	if err := client.Flush(ctx); err != nil {
		return err
	}
	done := w.take(ctx, *n)
	stored, err := w.records(ctx, admin)
	if err != nil {
		return err
	}
	if refused.Load() > 0 || stored != *n {
		return fmt.Errorf("%d records were refused, %d of %d are stored", refused.Load(), stored, *n)
	}
	return emit(out, own(start, start, done))
}

// own is the result of a peer that is this process: watcher and connector are
// the same.
func own(start, first, done reading) drain {
	for _, r := range []reading{start, first, done} {
		r.cpu["connector"] = r.cpu["watcher"]
	}
	return newDrain(start, first, done)
}
