package pipeline

import (
	"context"
	"fmt"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// A sink may refuse records together, and one that has refused any is done. Such
// an answer says nothing of each record. So everything is sent again from the
// confirmed position, the refused ones alone: what is refused then is refused
// for its own sake, and holds in its place until the destination is mended, or
// the operator gives it up.

// alone sends a suspect while nothing else is in flight, and waits for its
// result. It is false when nothing may be sent any more.
func (g *generation) alone(ctx context.Context, stop <-chan struct{}, it *item) bool {
	pos, at := it.pos, string(it.rec.Position) // once it is stored, it is not ours to read
	held := false
	retry := backoff{limit: g.p.cfg.BackoffMax}
	g.p.cond.beCareful(true)
	for try := 1; ; try++ {
		err, ok := g.lone(ctx, stop, it)
		switch {
		case !ok:
			return false
		case err == nil:
			if held {
				g.goOn(at)
			}
			g.p.cond.beCareful(g.p.suspects.ahead(pos))
			return true
		}
		switch kind := sink.KindOf(err); {
		case kind == sink.Retriable, kind == sink.Config: // not about the record
			g.fail(err)
			return false
		case kind == sink.Fatal && try < unknownLimit:
			g.p.cfg.Log.Warn("a destination failed with a record that was sent alone; it is sent again", "position", at, "error", err)
			pause(ctx, retry.next())
		default:
			held = true
			if !g.waitAt(ctx, stop, it, err) {
				return false
			}
		}
		if !g.replaceSinks(ctx) {
			return false
		}
	}
}

// lone sends one record as soon as nothing is in flight, and gives its result.
func (g *generation) lone(ctx context.Context, stop <-chan struct{}, it *item) (err error, ok bool) {
	if _, ok := g.flight.empty(ctx); !ok {
		return nil, false
	}
	g.flight.alone(true)
	if !g.sendOne(ctx, stop, it) {
		return nil, false
	}
	if err, ok = g.flight.empty(ctx); ok {
		g.flight.alone(false)
	}
	return err, ok
}

// replaceSinks makes new ones in place of those of which one is done. Nothing is
// in flight.
func (g *generation) replaceSinks(ctx context.Context) bool {
	limit, cancel := context.WithTimeout(ctx, settleTimeout)
	err := g.close(limit)
	cancel()
	if err != nil {
		g.p.cfg.Log.Warn("a sink that has failed did not close well", "error", err)
	}
	if err := g.openSinks(); err != nil {
		g.sinks = nil
		g.fail(fmt.Errorf("open the sinks again: %w", err))
		return false
	}
	return true
}

// goOn ends a hold at a record.
func (g *generation) goOn(at string) {
	g.p.block(nil)
	g.p.cfg.Log.Info("delivery goes on", "position", at)
}
