package kafka

import (
	"context"
	"sync"
)

// window counts what Send has taken and Results has not had yet. It exists
// beside the client's own limits because the context that would end a wait
// there also cancels the record once it is buffered.
//
// One goroutine enters at a time; leave may be called from any.
type window struct {
	maxRecords, maxBytes int
	room                 chan struct{} // capacity 1: wakes the one that waits to enter

	mu             sync.Mutex // guards what follows
	records, bytes int
	waiting        bool
	need           int           // bytes that the waiting one wants
	idle           chan struct{} // if not nil, to be closed when nothing is in flight
}

func newWindow(maxRecords, maxBytes int) *window {
	return &window{maxRecords: maxRecords, maxBytes: maxBytes, room: make(chan struct{}, 1)}
}

// enter takes room for one record of size bytes, waiting for it until ctx ends
// (then it gives the cause) or down is closed (then it gives nil and false).
func (w *window) enter(ctx context.Context, down <-chan struct{}, size int) (bool, error) {
	for {
		w.mu.Lock()
		if w.fits(size) {
			w.records++
			w.bytes += size
			w.waiting = false
			w.mu.Unlock()
			return true, nil
		}
		w.waiting, w.need = true, size
		w.mu.Unlock()
		select {
		case <-w.room:
		case <-down:
			return false, nil
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}

// fits is called with mu held. A record larger than the window passes alone.
func (w *window) fits(size int) bool {
	return w.records == 0 || w.records < w.maxRecords && w.bytes+size <= w.maxBytes
}

// leave gives a record's room back.
func (w *window) leave(size int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.records--
	w.bytes -= size
	if w.waiting && w.fits(w.need) {
		w.waiting = false
		select {
		case w.room <- struct{}{}:
		default: // a wake-up is there already
		}
	}
	if w.records == 0 && w.idle != nil {
		close(w.idle)
		w.idle = nil
	}
}

// empty is closed when nothing is in flight. The caller sees to it that
// nothing enters meanwhile.
func (w *window) empty() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.idle != nil {
		return w.idle
	}
	idle := make(chan struct{})
	if w.records == 0 {
		close(idle)
	} else {
		w.idle = idle
	}
	return idle
}

// inFlight is how many records have not had their result.
func (w *window) inFlight() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.records
}
