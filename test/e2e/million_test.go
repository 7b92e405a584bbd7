package e2e

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// million is one transaction; each key's events have rising numbers.
const million = `INSERT INTO app.outbox
	SELECT g::text, 'E', 'key-' || g % 1000, jsonb_build_object('n', g, 'pad', repeat('x', 100)) FROM generate_series(1, $1::int) g`

// TestMillion delivers one transaction of a million rows to a real broker: each
// event once and in order, in memory that does not grow with it.
func TestMillion(t *testing.T) {
	rows := 1_000_000
	r := newKafkaRig(t, nil, nil, nil)
	c := launch(t, binaries.plain, r.settings)
	c.listens()
	c.state("streaming")
	begin := time.Now()
	if _, err := r.db.Conn(t).Exec(t.Context(), million, rows); err != nil {
		t.Fatal(err)
	}
	written := time.Since(begin)
	r.settle()
	delivered := time.Since(begin)
	peak := c.peakRSS()
	c.stop()
	r.eachOnce(rows)
	t.Logf("%d rows: committed after %v, delivered after %v, VmHWM %.1f MB, read after %v", rows,
		written.Round(time.Millisecond), delivered.Round(time.Millisecond), float64(peak)/1e6, time.Since(begin).Round(time.Millisecond))
	if peak > 80<<20 {
		t.Errorf("peak memory %d MB", peak>>20)
	}
}

// eachOnce reads the topic and demands the ids 1 to rows, each once, and those
// of each key rising.
func (r *rig) eachOnce(rows int) {
	r.tb.Helper()
	from := map[int32]kgo.Offset{}
	for p := range int32(partitions) {
		from[p] = kgo.NewOffset().AtStart()
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(r.brokers()...), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{r.topic: from}))
	if err != nil {
		r.tb.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(r.tb.Context(), 2*patience)
	defer cancel()
	last := make(map[string]int, 1000)
	for read := 0; read < rows; {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			r.tb.Fatalf("%d of %d records: %v", read, rows, err)
		}
		fetches.EachRecord(func(k *kgo.Record) {
			read++
			n := number(k)
			if before := last[string(k.Key)]; n <= before || n > rows || string(k.Key) != "key-"+strconv.Itoa(n%1000) {
				r.tb.Fatalf("key %s: event %d stands behind %d", k.Key, n, before)
			}
			last[string(k.Key)] = n
		})
	}
	// Rising numbers are distinct, so as many as there are rows are all of them.
	if n := r.stored(r.topic); n != int64(rows) {
		r.tb.Errorf("%d records, %d events", n, rows)
	}
}

// number is the event's id.
func number(k *kgo.Record) int {
	for _, h := range k.Headers {
		if h.Key == "event-id" {
			n, _ := strconv.Atoi(string(h.Value))
			return n
		}
	}
	return 0
}
