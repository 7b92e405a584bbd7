package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func record(topic string, partition int32, key, id, payload string) *kgo.Record {
	return &kgo.Record{
		Topic: topic, Partition: partition, Key: []byte(key), Value: []byte(payload),
		Headers: []kgo.RecordHeader{
			{Key: "event-id", Value: []byte(id)},
			{Key: "event-type", Value: []byte("order.paid")},
			{Key: "position", Value: []byte("00000000/00000001:0000000001")},
		},
	}
}

// mustTake feeds a consumer that reads from nowhere, and returns what it shows.
func mustTake(t *testing.T, c *consumer, records ...*kgo.Record) string {
	t.Helper()
	var out strings.Builder
	c.screen = newScreen(&out, true)
	for _, rec := range records {
		if err := c.take(rec); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

func idleConsumer(t *testing.T) *consumer {
	t.Helper()
	c, err := newConsumer("127.0.0.1:1", newChecker(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.client.Close)
	return c
}

func TestConsumerKeepsTheBooks(t *testing.T) {
	c := idleConsumer(t)
	c.checker.commit([]event{{id: "a", topic: "orders", key: "order-1", seq: 1}, {id: "b", topic: "orders", key: "order-2", seq: 1}})
	mustTake(t, c,
		record("orders", 1, "order-1", "a", `{"seq": 1}`), record("orders", 1, "order-1", "a", `{"seq": 1}`),
		record("orders", 0, "order-2", "b", `{"seq": 1}`), record("payments", 0, "payment-1", "c", `{"seq": 1}`))
	want := tally{sent: 2, received: 2, duplicates: 1, invented: 1}
	if got := c.checker.tally(); got != want {
		t.Errorf("tally = %+v, want %+v", got, want)
	}
	var rows [][]string
	for _, line := range c.totals() {
		rows = append(rows, strings.Fields(line))
	}
	table := [][]string{
		{"topic", "partition", "records", "keys"},
		{"orders", "0", "1", "1"},
		{"orders", "1", "2", "1"},
		{"payments", "0", "1", "1"},
	}
	if !slices.EqualFunc(rows, table, slices.Equal) {
		t.Errorf("totals = %v, want %v", rows, table)
	}
}

func TestConsumerShowsSamples(t *testing.T) {
	c := idleConsumer(t)
	if got := mustTake(t, c, record("orders", 0, "order-1", "a", `{"seq": 1}`)); got != "" {
		t.Errorf("unasked it shows %q", got)
	}
	c.show(1)
	got := mustTake(t, c,
		record("orders", 0, "order-1", "b", `{"seq": 2}`), record("orders", 0, "order-1", "c", `{"seq": 3}`),
		record("payments", 2, "payment-1", "d", `{"seq": 1}`))
	if strings.Count(got, "\n") != 5 || !strings.Contains(got, `order.paid       {"seq": 2}`) || !strings.Contains(got, "| event-id        b") {
		t.Errorf("it shows\n%s", got)
	}
}

func TestConsumerRefusesAPayloadThatIsNotOurs(t *testing.T) {
	c := idleConsumer(t)
	if err := c.take(record("orders", 0, "k", "a", `nonsense`)); err == nil {
		t.Error("no error")
	}
}

func TestProgress(t *testing.T) {
	got := progress(61*time.Second, slot{confirmed: "0/1A", behind: 20 << 10}, tally{sent: 1234, received: 1200, duplicates: 7})
	want := " 61 s  sent 1,234  received 1,200  dup 7  slot 0/1A, 20 KiB behind, connector down"
	if got != want {
		t.Errorf("progress = %q, want %q", got, want)
	}
	if got := progress(0, slot{active: true}, tally{}); !strings.HasSuffix(got, "streaming") {
		t.Errorf("progress = %q", got)
	}
}
