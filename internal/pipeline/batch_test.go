package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// cluster is two topics of two partitions, which store batches, or refuse them
// whole. It outlives its sinks.
type cluster struct {
	batch int // records in one
	kind  sink.Kind
	fence bool // a sink that is done stores nothing more, and says so when it is closed
	p     *Pipeline

	mu     sync.Mutex
	bad    map[string]bool // event ids that the topic orders refuses
	heavy  map[string]bool // of which a batch may hold one
	stored []string
	opened int
	faults []string
}

func (c *cluster) open(results sink.Results) (map[string]sink.Sink, error) {
	s := &batchSink{c: c, results: results, stop: make(chan struct{}), done: make(chan struct{})}
	c.mu.Lock()
	c.opened++
	c.mu.Unlock()
	go s.run()
	return map[string]sink.Sink{"kafka": s}, nil
}

func (c *cluster) mend(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.bad, id)
}

// batchSink is one client of the cluster. When a batch is refused, all that it
// holds for that partition fails, and it takes nothing more.
type batchSink struct {
	c          *cluster
	results    sink.Results
	failure    error             // guarded by c.mu
	closing    bool              // guarded by c.mu
	held       [4][]*sink.Record // guarded by c.mu
	stop, done chan struct{}
}

func (s *batchSink) Send(_ context.Context, r *sink.Record) error {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if s.failure != nil {
		return s.failure
	}
	id := idOf(r)
	if pos, err := decoder.ParsePosition(string(r.Position)); err != nil || endOf(pos.Commit) <= s.c.p.ledger.Confirmed() {
		s.c.faults = append(s.c.faults, fmt.Sprintf("%s is sent at %s, which is confirmed", id, r.Position))
	}
	part := int(r.Key[len(r.Key)-1])%2 + 2*(len(r.Destination)%2)
	s.held[part] = append(s.held[part], r)
	return nil
}

// run stores a batch of each partition every five milliseconds.
func (s *batchSink) run() {
	defer close(s.done)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.flush()
		case <-s.stop:
			return
		}
	}
}

// flush gives results for one batch of each partition; it is false when nothing
// is left.
func (s *batchSink) flush() bool {
	found := false
	s.c.mu.Lock()
	silent := s.failure != nil && s.c.fence && !s.closing
	s.c.mu.Unlock()
	if silent {
		return false
	}
	for part := range s.held {
		records, err := s.take(part)
		for _, r := range records {
			s.results(r, err)
			found = true
		}
	}
	return found
}

func (s *batchSink) take(part int) ([]*sink.Record, error) {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	all := s.held[part]
	if s.failure != nil && s.c.fence && s.closing {
		s.held[part] = nil
		return all, errFakeClosed
	}
	batch := all[:min(len(all), s.c.batch)]
	bad, heavy := false, 0
	for _, r := range batch {
		bad = bad || s.c.bad[idOf(r)] && r.Destination == "orders"
		if s.c.heavy[idOf(r)] {
			heavy++
		}
	}
	if bad || heavy > 1 {
		s.held[part] = nil
		s.failure = &sink.Error{Kind: s.c.kind, Scope: sink.ScopeBatch, Sink: "kafka", Destination: "orders", Reason: "rejected", Err: errors.New("refused")}
		return all, s.failure
	}
	s.held[part] = all[len(batch):]
	for _, r := range batch {
		s.c.stored = append(s.c.stored, idOf(r)+"/"+r.Destination+":"+string(r.Key))
	}
	return batch, nil
}

func (s *batchSink) Close(context.Context) error {
	close(s.stop)
	<-s.done
	s.c.mu.Lock()
	s.closing = true
	s.c.mu.Unlock()
	for s.flush() {
	}
	return nil
}

// check holds what was stored against the rows in their order: of each key a
// record is followed by the next one, or by an earlier one that is repeated.
func (c *cluster) check(rows []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	place, count := map[string]int{}, map[string]int{}
	for _, row := range rows {
		_, key, _ := strings.Cut(row, "/")
		count[key]++
		place[row] = count[key]
	}
	last := map[string]int{}
	for _, row := range c.stored {
		_, key, _ := strings.Cut(row, "/")
		if place[row] > last[key]+1 {
			c.faults = append(c.faults, fmt.Sprintf("%s came after number %d of its key", row, last[key]))
		}
		last[key] = place[row]
	}
}

// has tells whether all these rows are stored.
func (c *cluster) has(rows []string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !slices.ContainsFunc(rows, func(row string) bool { return !slices.Contains(c.stored, row) })
}
