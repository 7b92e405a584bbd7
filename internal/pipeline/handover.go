package pipeline

import (
	"context"
	"time"
)

// makeRoom makes r.chunk one that has room for a row of n bytes.
func (r *reader) makeRoom(ctx context.Context, n int) error {
	if r.chunk != nil && r.chunk.fits(n, r.p.fanOut) {
		return nil
	}
	if err := r.flush(ctx); err != nil {
		return err
	}
	r.leaveChunk()
	epoch, ok := r.p.ledger.Hold(chunkSize(n))
	if !ok {
		err := r.waitFor(ctx, func() bool {
			epoch, ok = r.p.ledger.Hold(chunkSize(n))
			return ok
		})
		if err != nil {
			return err
		}
	}
	r.chunk, r.from = r.p.pool.get(n, epoch), 0
	return nil
}

// leaveChunk gives up the reader's hold on its chunk.
func (r *reader) leaveChunk() {
	if r.chunk != nil {
		r.chunk.release(r.p.ledger, r.p.pool)
		r.chunk = nil
	}
}

// flush hands over every record that is ready.
func (r *reader) flush(ctx context.Context) error {
	if r.chunk == nil {
		return nil
	}
	return r.handOver(ctx, len(r.chunk.items))
}

// handOver gives the records before the index to the sender.
func (r *reader) handOver(ctx context.Context, to int) error {
	if r.from >= to {
		return nil
	}
	s := span(r.chunk.items[r.from:to])
	select {
	case r.gen.queue <- s:
		r.from = to
		return nil
	default:
	}
	return r.block(ctx, func(due <-chan time.Time) bool {
		select {
		case r.gen.queue <- s:
			r.from = to
			return true
		case <-due:
		case <-ctx.Done():
		}
		return false
	})
}

// leave ends the reader's work. What the ledger has counted must still reach
// the sender, because a new session will not hand it out again. It waits for
// nothing: the sender may be waiting for that new session.
func (r *reader) leave() {
	defer r.leaveChunk()
	if r.chunk == nil || r.from == len(r.chunk.items) {
		return
	}
	rest := span(r.chunk.items[r.from:])
	select {
	case r.gen.queue <- rest:
	default:
		r.gen.rest = rest
	}
}

// carry hands over what the session before could not, ahead of anything else.
func (r *reader) carry(ctx context.Context) error {
	if len(r.gen.rest) == 0 {
		return nil
	}
	return r.block(ctx, func(due <-chan time.Time) bool {
		select {
		case r.gen.queue <- r.gen.rest:
			r.gen.rest = nil
			return true
		case <-due:
		case <-ctx.Done():
		}
		return false
	})
}

// waitFor waits until try succeeds; it is tried again whenever the ledger may
// have room.
func (r *reader) waitFor(ctx context.Context, try func() bool) error {
	return r.block(ctx, func(due <-chan time.Time) bool {
		if try() {
			return true
		}
		select {
		case <-r.p.ledger.Freed():
		case <-due:
		case <-ctx.Done():
		}
		return false
	})
}

// block is keepAlive for a reader that waits for room. The time is counted as it
// passes: who looks at a sink that is stuck must not see none.
func (r *reader) block(ctx context.Context, step func(due <-chan time.Time) bool) error {
	return r.keepAlive(ctx, func(due <-chan time.Time) bool {
		start := time.Now()
		ok := step(due)
		r.p.counters.blocked.Add(int64(time.Since(start)))
		return ok
	})
}

// keepAlive repeats step until it succeeds, and keeps the session alive
// meanwhile: due fires when a status may have to go out. A server that shuts
// down is let go: nothing is read here, so it could not be heard.
func (r *reader) keepAlive(ctx context.Context, step func(due <-chan time.Time) bool) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	look := time.Now().Add(shutdownAfter)
	for {
		now := time.Now()
		if err := r.turn(ctx, now); err != nil {
			return err
		}
		if now.After(look) {
			look = now.Add(shutdownAfter)
			if r.serverStopping(ctx) {
				return r.letGo()
			}
		}
		r.unblocked = now
		timer.Reset(time.Until(r.wake()))
		if step(timer.C) {
			r.unblocked = time.Now()
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// drain keeps the session alive, and reads nothing, until done is closed.
func (r *reader) drain(done <-chan struct{}) error {
	return r.keepAlive(context.Background(), func(due <-chan time.Time) bool {
		select {
		case <-done:
			return true
		case <-r.p.ledger.Freed():
		case <-due:
		}
		return false
	})
}
