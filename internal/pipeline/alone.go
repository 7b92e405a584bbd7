package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// A sink may refuse records together, and one that has refused any is done. Such
// an answer says nothing of each record. So everything is sent again from the
// confirmed position, and the refused ones in groups, while nothing else is in
// flight: what is refused again is halved, until it is refused alone and thereby
// for its own sake. That one holds in its place until the destination is mended,
// or the operator gives it up. (All of them alone would take a round trip each,
// and a window may hold many thousands.)

// suspectsAt is how many records at the beginning of s are suspects. They are
// sent as one group.
func (g *generation) suspectsAt(s span) (n int) {
	if g.careful {
		for n < len(s) && g.p.suspects.has(s[n].pos) {
			n++
		}
	}
	return n
}

// probe sends a group of suspects. It is false when nothing may be sent any more.
func (g *generation) probe(ctx context.Context, stop <-chan struct{}, group []*item) bool {
	if len(group) == 1 {
		return g.alone(ctx, stop, group[0])
	}
	failed, err, ok := g.try(ctx, stop, group)
	switch {
	case !ok:
		return false
	case len(failed) == 0:
		return true
	case !refuses(err):
		g.fail(err)
		return false
	}
	if !g.reopenSinks() {
		return false
	}
	half := (len(failed) + 1) / 2
	return g.probe(ctx, stop, failed[:half]) && (half == len(failed) || g.probe(ctx, stop, failed[half:]))
}

// alone sends a suspect until it is stored.
func (g *generation) alone(ctx context.Context, stop <-chan struct{}, it *item) bool {
	at := string(it.rec.Position) // once it is stored, it is not ours to read
	held := false
	retry := backoff{limit: g.p.cfg.BackoffMax}
	for try := 1; ; try++ {
		failed, err, ok := g.try(ctx, stop, []*item{it})
		switch {
		case !ok:
			return false
		case len(failed) == 0:
			if held {
				g.goOn(at)
			}
			return true
		case !refuses(err):
			g.fail(err)
			return false
		case sink.KindOf(err) == sink.Fatal && try < unknownLimit:
			g.p.cfg.Log.Warn("a destination failed with a record that was sent alone; it is sent again", "position", at, "error", err)
			pause(ctx, retry.next())
		default:
			held = true
			if !g.waitAt(ctx, stop, it, err) {
				return false
			}
		}
		if !g.reopenSinks() {
			return false
		}
	}
}

// try sends a group as soon as nothing is in flight, and gives what has failed,
// in order; the sinks are closed then.
func (g *generation) try(ctx context.Context, stop <-chan struct{}, group []*item) (failed []*item, err error, ok bool) {
	if _, ok := g.flight.settled(ctx); !ok {
		return nil, nil, false
	}
	g.flight.probe()
	for _, it := range group {
		if !g.sendOne(ctx, stop, it) {
			return nil, nil, false
		}
	}
	done, ok := g.flight.settled(ctx)
	if !ok {
		return nil, nil, false
	}
	if done {
		g.closeSinks(ctx)
	}
	failed, err = g.flight.probed()
	slices.SortFunc(failed, func(a, b *item) int { return cmp.Or(a.pos.Compare(b.pos), cmp.Compare(a.out, b.out)) })
	return failed, err, true
}

// closeSinks closes all, because one is done: it may hold back what it has for
// ever, and only by closing it every record has its result.
func (g *generation) closeSinks(ctx context.Context) {
	limit, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	if err := g.close(limit); err != nil {
		g.p.cfg.Log.Warn("a sink that has failed did not close well", "error", err)
	}
	g.sinks = nil
}

// reopenSinks makes new ones.
func (g *generation) reopenSinks() bool {
	if err := g.openSinks(); err != nil {
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
