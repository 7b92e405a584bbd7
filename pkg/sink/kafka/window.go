package kafka

import (
	"context"
	"sync"
)

// window counts what Send has taken and Results has not had yet, and keeps the
// messages they travel in. It exists beside the client's own limits because the
// context that would end a wait there also cancels the record once it is
// buffered.
//
// One goroutine enters at a time; leave may be called from any.
type window struct {
	maxRecords, maxBytes int
	newMessage           func() *message
	room                 chan struct{} // capacity 1: wakes the one that waits to enter

	mu             sync.Mutex // guards what follows
	free           []*message // a sync.Pool is emptied by each collection: an allocation an event
	records, bytes int
	waiting        bool
	need           int           // bytes that the waiting one wants
	idle           chan struct{} // if not nil, to be closed when nothing is in flight
}

// maxFree is how many messages are kept while nothing is in flight.
const maxFree = 1024

func newWindow(maxRecords, maxBytes int, newMessage func() *message) *window {
	return &window{maxRecords: maxRecords, maxBytes: maxBytes, newMessage: newMessage, room: make(chan struct{}, 1)}
}

// enter takes room for one record of size bytes and gives the message for it.
// It waits for room until ctx ends (then it gives the cause) or down is closed
// (then it gives neither).
func (w *window) enter(ctx context.Context, down <-chan struct{}, size int) (*message, error) {
	for {
		w.mu.Lock()
		if w.fits(size) {
			m := w.take(size)
			w.mu.Unlock()
			return m, nil
		}
		w.waiting, w.need = true, size
		w.mu.Unlock()
		select {
		case <-w.room:
		case <-down:
			return nil, nil //nolint:nilnil // the caller knows why it is down
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// take is called with mu held.
func (w *window) take(size int) *message {
	w.records++
	w.bytes += size
	w.waiting = false
	n := len(w.free)
	if n == 0 {
		return w.newMessage()
	}
	m := w.free[n-1]
	w.free = w.free[:n-1]
	return m
}

// fits is called with mu held. A record larger than the window passes alone.
func (w *window) fits(size int) bool {
	return w.records == 0 || w.records < w.maxRecords && w.bytes+size <= w.maxBytes
}

// leave gives a record's room and its message back.
func (w *window) leave(m *message, size int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.records--
	w.bytes -= size
	w.free = append(w.free, m)
	if w.records == 0 && len(w.free) > maxFree {
		clear(w.free[maxFree:])
		w.free = w.free[:maxFree]
	}
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
