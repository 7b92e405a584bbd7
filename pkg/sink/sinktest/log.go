package sinktest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// outcome is one call of Results.
type outcome struct {
	record *sink.Record
	err    error
}

// log collects results.
type log struct {
	onResult func(*sink.Record) // set before the first Send

	mu      sync.Mutex // guards what follows
	all     []outcome
	changed chan struct{}
}

func newLog() *log { return &log{changed: make(chan struct{})} }

func (l *log) add(r *sink.Record, err error) {
	l.mu.Lock()
	l.all = append(l.all, outcome{r, err})
	close(l.changed)
	l.changed = make(chan struct{})
	l.mu.Unlock()
	if l.onResult != nil {
		l.onResult(r)
	}
}

func (l *log) list() []outcome {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.all)
}

// wait returns when n results are in.
func (l *log) wait(tb testing.TB, n int) {
	tb.Helper()
	timeout := time.After(patience)
	for {
		l.mu.Lock()
		got, changed := len(l.all), l.changed
		l.mu.Unlock()
		if got >= n {
			return
		}
		select {
		case <-changed:
		case <-timeout:
			tb.Fatalf("%d results after %v, want %d", got, patience, n)
		}
	}
}

// verify says whether each sent record has had exactly one result, and a good
// one.
func (l *log) verify(sent []*sink.Record, good func(error) bool) error {
	count := make(map[*sink.Record]int, len(sent))
	for _, r := range sent {
		count[r] = 0
	}
	for _, o := range l.list() {
		n, ok := count[o.record]
		switch {
		case !ok:
			return fmt.Errorf("result for a record that was not sent: %q", o.record.Value)
		case n > 0:
			return fmt.Errorf("second result for %q: %v", o.record.Value, o.err) //nolint:errorlint // a report, not a chain
		case !good(o.err):
			return fmt.Errorf("result for %q: %v", o.record.Value, o.err) //nolint:errorlint // a report, not a chain
		}
		count[o.record]++
	}
	for _, r := range sent {
		if count[r] == 0 {
			return fmt.Errorf("no result for %q", r.Value)
		}
	}
	return nil
}
