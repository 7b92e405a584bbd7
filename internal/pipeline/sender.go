package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// send hands records to their sinks until the queue is closed, the context
// ends, or the generation has failed. It is the only caller of Sink.Send, so
// records reach a sink in commit order. Once stop is closed it does not wait for
// a record that its sink refuses: the grace period would not mend that.
func (g *generation) send(ctx context.Context, stop <-chan struct{}) {
	for s := range g.queue {
		for len(s) > 0 {
			n := g.suspectsAt(s)
			if n == 0 {
				if !g.sendOne(ctx, stop, &s[0]) {
					return
				}
				s = s[1:]
				continue
			}
			group := make([]*item, n)
			for i := range group {
				group[i] = &s[i]
			}
			last := s[n-1].pos
			g.p.cond.beCareful(true)
			if !g.probe(ctx, stop, group) {
				return
			}
			g.p.cond.beCareful(g.p.suspects.ahead(last))
			s = s[n:]
		}
	}
}

// sendOne sends one record, however long it takes. It is false when nothing
// may be sent any more.
func (g *generation) sendOne(ctx context.Context, stop <-chan struct{}, it *item) bool {
	at := "" // where it was refused; a record that was taken is not ours to read
	for {
		if !g.p.fence.pass(ctx, stop) {
			return false
		}
		err := g.hand(ctx, it)
		if err == nil {
			if at != "" {
				g.goOn(at)
			}
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		if !holds(err) {
			g.fail(err)
			return false
		}
		at = string(it.rec.Position)
		if !g.waitAt(ctx, stop, it, err) {
			return false
		}
		if c, ok := g.sinks[it.out].(sink.Checker); ok {
			// Its answer comes with the next Send; what counts is that the sink
			// has asked again.
			_ = c.Check(ctx, []string{it.rec.Destination})
		}
	}
}

// holds tells whether Send's error is about the record alone, so that the sink
// goes on and the record can wait in its place.
func holds(err error) bool {
	e, ok := errors.AsType[*sink.Error](err)
	return ok && e.Scope != sink.ScopeBatch && (e.Kind == sink.Poison || e.Kind == sink.Config)
}

// hand gives the record to its sink.
func (g *generation) hand(ctx context.Context, it *item) error {
	if !g.careful {
		return g.sinks[it.out].Send(ctx, &it.rec)
	}
	g.flight.start()
	err := g.sinks[it.out].Send(ctx, &it.rec)
	switch {
	case err == nil:
	case holds(err) || ctx.Err() != nil:
		g.flight.land(nil, nil)
	case g.flight.land(it, err):
		return nil // as if it had been taken and then failed
	}
	return err
}

// waitAt waits at a record that its destination refuses, until it is time to
// try again: whoever mends the destination needs no restart. Nothing overtakes
// the record meanwhile, and nothing of it is confirmed.
func (g *generation) waitAt(ctx context.Context, stop <-chan struct{}, it *item, err error) bool {
	p := g.p
	c := p.conditionAt(it, err)
	p.block(c)
	if p.cfg.ExitOnHold {
		g.fail(&HoldError{Reason: c.Reason, Remedy: c.Remedy, Err: err})
		return false
	}
	retry := time.NewTimer(p.cfg.HoldRetry)
	defer retry.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-stop:
		return false
	case <-retry.C:
		return true
	}
}

// conditionAt describes a record that its destination refuses.
func (p *Pipeline) conditionAt(it *item, err error) *Condition {
	pos, route := string(it.rec.Position), p.cfg.Router.Rules()[it.route].Name
	c := &Condition{
		State:  StateHeld,
		Reason: fmt.Sprintf("route %q can't deliver at %s: %v", route, pos, err),
		Remedy: "it is tried again by itself; nothing is skipped",
	}
	if sink.KindOf(err) == sink.Config {
		return c
	}
	reason := "unknown"
	if e, ok := errors.AsType[*sink.Error](err); ok {
		reason = e.Reason
	}
	c.State = StateHalted
	c.Remedy += "; " + p.skips.remedy(it.pos, clip(string(it.id)), p.ledger.Confirmed())
	c.Halted = &HaltedEvent{
		Position: pos, EventID: clip(string(it.id)), Route: route,
		Reason: reason, Error: err.Error(), Since: time.Now(),
	}
	return c
}
