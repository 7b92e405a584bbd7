package pipeline

import (
	"context"
	"sync"
)

// flight counts the records that a generation's sinks have, so that one can be
// sent while nothing else is on its way. The sender calls all but land.
type flight struct {
	idle chan struct{} // capacity 1: nothing is in flight any more

	mu   sync.Mutex // guards what follows
	n    int
	lone bool  // the one in flight was sent alone
	err  error // its result
}

func newFlight() *flight { return &flight{idle: make(chan struct{}, 1)} }

// start counts a record that is about to be sent.
func (f *flight) start() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
}

// land counts a result, or a record that was not taken. It tells whether it was
// the lone one, whose failure is the sender's to judge.
func (f *flight) land(err error) (lone bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n--; f.lone {
		f.err = err
	}
	if f.n == 0 {
		select {
		case f.idle <- struct{}{}:
		default:
		}
	}
	return f.lone
}

// alone marks the next record as the lone one, or ends that.
func (f *flight) alone(lone bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lone, f.err = lone, nil
}

// empty waits until nothing is in flight, and gives the lone one's result. It
// is false when ctx ends first.
func (f *flight) empty(ctx context.Context) (err error, ok bool) {
	for {
		f.mu.Lock()
		n, err := f.n, f.err
		f.mu.Unlock()
		if n == 0 {
			return err, true
		}
		select {
		case <-f.idle:
		case <-ctx.Done():
			return nil, false
		}
	}
}
