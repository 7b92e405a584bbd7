package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// place is a partition of a topic.
type place struct {
	topic     string
	partition int32
}

// consumer reads both topics from their beginning.
type consumer struct {
	client  *kgo.Client
	checker *checker
	screen  *screen

	mu      sync.Mutex // guards all below
	samples map[string]int
	records map[place]int
	keys    map[place]map[string]bool
	whole   bool // a record has been shown with all its headers
}

func newConsumer(broker string, c *checker, s *screen) (*consumer, error) {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(broker), kgo.ConsumeTopics(ordersTopic, paymentsTopic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(250*time.Millisecond))
	if err != nil {
		return nil, fmt.Errorf("make a Kafka consumer: %w", err)
	}
	return &consumer{
		client: client, checker: c, screen: s,
		samples: map[string]int{}, records: map[place]int{}, keys: map[place]map[string]bool{},
	}, nil
}

// show asks for the next n records of each topic to be shown.
func (c *consumer) show(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.samples[ordersTopic], c.samples[paymentsTopic] = n, n
}

// run reads until ctx ends.
func (c *consumer) run(ctx context.Context) error {
	for {
		fetches := c.client.PollFetches(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if faults := fetches.Errors(); len(faults) > 0 {
			return fmt.Errorf("read topic %s: %w", faults[0].Topic, faults[0].Err)
		}
		for rec := range fetches.RecordsAll() {
			if err := c.take(rec); err != nil {
				return err
			}
		}
	}
}

func (c *consumer) take(rec *kgo.Record) error {
	var payload struct{ Seq int }
	if err := json.Unmarshal(rec.Value, &payload); err != nil {
		return fmt.Errorf("payload in %s: %w", rec.Topic, err)
	}
	isNew := c.checker.receive(arrival{
		event:    event{id: header(rec, "event-id"), topic: rec.Topic, key: string(rec.Key), seq: payload.Seq},
		position: header(rec, "position"), value: rec.Value,
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	at := place{rec.Topic, rec.Partition}
	c.records[at]++
	if c.keys[at] == nil {
		c.keys[at] = map[string]bool{}
	}
	c.keys[at][string(rec.Key)] = true
	if isNew && c.samples[rec.Topic] > 0 {
		c.samples[rec.Topic]--
		c.print(rec)
	}
	return nil
}

// print shows a record in a line, and the first one of all with its headers.
func (c *consumer) print(rec *kgo.Record) {
	c.screen.say("%-8s p%d  %-10s  %-16s %s", rec.Topic, rec.Partition, rec.Key, header(rec, "event-type"), rec.Value)
	if c.whole {
		return
	}
	c.whole = true
	for _, h := range rec.Headers {
		c.screen.quote(fmt.Sprintf("%-15s %s", h.Key, h.Value))
	}
}

// totals are lines of a table: what came by topic, partition and key.
func (c *consumer) totals() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := make([]string, 0, 1+len(c.records))
	lines = append(lines, fmt.Sprintf("%-10s %9s %9s %6s", "topic", "partition", "records", "keys"))
	places := slices.SortedFunc(maps.Keys(c.records), func(a, b place) int {
		if a.topic != b.topic {
			return slices.Compare([]byte(a.topic), []byte(b.topic))
		}
		return int(a.partition - b.partition)
	})
	for _, at := range places {
		lines = append(lines, fmt.Sprintf("%-10s %9d %9s %6d", at.topic, at.partition, thousands(c.records[at]), len(c.keys[at])))
	}
	return lines
}

func header(rec *kgo.Record, name string) string {
	for _, h := range rec.Headers {
		if h.Key == name {
			return string(h.Value)
		}
	}
	return ""
}
