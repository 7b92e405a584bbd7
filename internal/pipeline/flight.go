package pipeline

import (
	"context"
	"sync"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// flight counts the records that a generation's sinks have, so that suspects can
// be sent while nothing else is on its way, and keeps those of them that fail.
type flight struct {
	wake chan struct{} // capacity 1: nothing is in flight any more, or one has failed

	mu      sync.Mutex // guards what follows
	n       int
	probing bool // all that is in flight was sent to see what fails
	failed  []*item
	err     error // of failed; a refusal, if any of them was refused
}

func newFlight() *flight { return &flight{wake: make(chan struct{}, 1)} }

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
	if f.n--; f.n == 0 || err != nil {
		select {
		case f.wake <- struct{}{}:
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

// settled waits until nothing is in flight, or something that was probed has
// failed. It is false when ctx ends first.
func (f *flight) settled(ctx context.Context) (failed, ok bool) {
	for {
		f.mu.Lock()
		n, failed := f.n, f.probing && len(f.failed) > 0
		f.mu.Unlock()
		if n == 0 || failed {
			return failed, true
		}
		select {
		case <-f.wake:
		case <-ctx.Done():
			return false, false
		}
	}
}

// refuses tells whether an error may be about what was sent. The other kinds are
// about the destination.
func refuses(err error) bool {
	kind := sink.KindOf(err)
	return kind == sink.Poison || kind == sink.Fatal
}
