package pipeline

import (
	"context"
	"sync"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// flight counts the records that a generation's sinks have, so that suspects can
// be sent while nothing else is on its way, and keeps those of them that fail.
type flight struct {
	idle chan struct{} // capacity 1: nothing is in flight any more

	mu      sync.Mutex // guards what follows
	n       int
	probing bool // all that is in flight was sent to see what fails
	failed  []*item
	err     error // of failed; a refusal, if any of them was refused
}

func newFlight() *flight { return &flight{idle: make(chan struct{}, 1)} }

// start counts a record that is about to be sent.
func (f *flight) start() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
}

// land counts the result of a record, or that it was not taken. It tells whether
// the record was sent to see whether it fails: its failure is the sender's to
// judge, and fails nothing else.
func (f *flight) land(it *item, err error) (probed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n--; f.n == 0 {
		select {
		case f.idle <- struct{}{}:
		default:
		}
	}
	if !f.probing {
		return false
	}
	if err != nil {
		f.failed = append(f.failed, it)
		if f.err == nil || refuses(err) {
			f.err = err
		}
	}
	return true
}

// probe begins to keep what fails.
func (f *flight) probe() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.probing, f.failed, f.err = true, nil, nil
}

// probed ends that, and gives what has failed, in no order.
func (f *flight) probed() ([]*item, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.probing = false
	return f.failed, f.err
}

// empty waits until nothing is in flight. It is false when ctx ends first.
func (f *flight) empty(ctx context.Context) bool {
	for {
		f.mu.Lock()
		n := f.n
		f.mu.Unlock()
		if n == 0 {
			return true
		}
		select {
		case <-f.idle:
		case <-ctx.Done():
			return false
		}
	}
}

// refuses tells whether an error may be about what was sent. The other kinds are
// about the destination.
func refuses(err error) bool {
	kind := sink.KindOf(err)
	return kind == sink.Poison || kind == sink.Fatal
}
