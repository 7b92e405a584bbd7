package pipeline

import (
	"context"
	"sync/atomic"
	"time"
)

// fence lets the sender send only while the session is known to be ours. The
// slot keeps two instances from reading at once, but nothing keeps one that was
// paused, or cut off, from sending what it read before, after its successor has
// gone on. What the destination's client already has can't be called back.
type fence struct {
	limit   atomic.Int64 // nanoseconds for which a look at the session is good
	fresh   atomic.Int64 // when the session was last known to be ours; 0: there is none
	waiting atomic.Bool
	wake    chan struct{} // capacity 1
}

func newFence() *fence { return &fence{wake: make(chan struct{}, 1)} }

// open begins a session with this wal_sender_timeout. Half of it is the limit:
// what arrived before a pause may still be unread then, but no successor can
// have been let in.
func (f *fence) open(timeout time.Duration) {
	if timeout <= 0 {
		timeout = livenessOff
	}
	f.limit.Store(int64(timeout / 2))
	f.renew(time.Now())
}

// renew is called whenever the reader comes by.
func (f *fence) renew(now time.Time) {
	f.fresh.Store(now.UnixNano())
	if f.waiting.Load() {
		select {
		case f.wake <- struct{}{}:
		default:
		}
	}
}

// shut ends the session.
func (f *fence) shut() { f.fresh.Store(0) }

// stale tells that the last look is too long ago: the process was paused.
func (f *fence) stale(now time.Time) bool {
	return now.UnixNano()-f.fresh.Load() > f.limit.Load()
}

// late tells that nothing was heard of the session for longer than the limit.
func (f *fence) late(heard, now time.Time) bool {
	return now.Sub(heard) > time.Duration(f.limit.Load())
}

// pass waits until the session is known to be ours. It is false when ctx ends,
// or when stop is closed and there is nothing to wait for.
func (f *fence) pass(ctx context.Context, stop <-chan struct{}) bool {
	for f.stale(time.Now()) {
		f.waiting.Store(true)
		if !f.stale(time.Now()) {
			break
		}
		select {
		case <-f.wake:
		case <-ctx.Done():
			return false
		case <-stop:
			return false
		}
	}
	if f.waiting.Load() {
		f.waiting.Store(false)
	}
	return true
}
