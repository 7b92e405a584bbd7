package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// send hands records to their sinks until the queue is closed, the context
// ends, or the generation has failed. It is the only caller of Sink.Send, so
// records reach a sink in commit order. Once stop is closed it does not wait for
// a record that its sink refuses: the grace period would not mend that.
func (g *generation) send(ctx context.Context, stop <-chan struct{}) {
	for s := range g.queue {
		for i := range s {
			if !g.sendOne(ctx, stop, &s[i]) {
				return
			}
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
		err := it.out.Send(ctx, &it.rec)
		if err == nil {
			if at != "" {
				g.p.block(nil)
				g.p.cfg.Log.Info("delivery goes on", "position", at)
			}
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		var e *sink.Error
		if !errors.As(err, &e) || e.Scope == sink.ScopeBatch || (e.Kind != sink.Poison && e.Kind != sink.Config) {
			g.fail(err)
			return false
		}
		at = string(it.rec.Position)
		if !g.waitAt(ctx, stop, it, e) {
			return false
		}
	}
}

// waitAt waits at a record that its sink did not take, and then asks the
// destination again: whoever mends it needs no restart. Nothing overtakes the
// record meanwhile, and nothing of it is confirmed.
func (g *generation) waitAt(ctx context.Context, stop <-chan struct{}, it *item, e *sink.Error) bool {
	p := g.p
	p.block(conditionAt(it, e, p.cfg.Router.Rules()[it.route].Name))
	if p.cfg.ExitOnHold {
		g.fail(&HoldError{Reason: e.Error(), Err: e})
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
	}
	if c, ok := it.out.Sink.(sink.Checker); ok {
		// Its answer comes with the next Send; what counts is that the sink
		// has asked again.
		_ = c.Check(ctx, []string{it.rec.Destination})
	}
	return true
}

// conditionAt describes a record that its sink did not take.
func conditionAt(it *item, e *sink.Error, route string) *Condition {
	pos := string(it.rec.Position)
	c := &Condition{
		State:  StateHeld,
		Reason: fmt.Sprintf("route %q can't deliver at %s: %v", route, pos, e),
		Remedy: "it is tried again by itself; nothing is skipped",
	}
	if e.Kind == sink.Poison {
		c.State = StateHalted
		c.Halted = &HaltedEvent{
			Position: pos, EventID: clip(eventID(it)), Route: route,
			Reason: e.Reason, Error: e.Error(), Since: time.Now(),
		}
	}
	return c
}

// eventID is the event id that the record carries.
func eventID(it *item) string {
	for _, h := range it.rec.Headers {
		if h.Name == "event-id" || h.Name == decoder.RoleID.String() {
			return string(h.Value)
		}
	}
	return ""
}
