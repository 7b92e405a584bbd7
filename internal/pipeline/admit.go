package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// admit routes and formats the event in r.event and makes its records ready to
// be handed over.
func (r *reader) admit(ctx context.Context) error {
	ev := &r.event
	if r.gen.resume.skip(ev.Position) {
		return nil
	}
	d := &r.decision
	arena, err := r.p.cfg.Router.Route(ev, d, r.chunk.arena)
	if r.givenUp(ev.Position, ev.Field(decoder.RoleID), d.Rule) {
		return nil
	}
	if err != nil {
		return r.halt(ctx, ev, err)
	}
	r.chunk.arena = arena
	route := r.p.routeIndex(d.Rule)
	if len(d.Targets) == 0 {
		r.p.counters.routes[route].dropped.Add(1)
		r.gen.resume.took(ev.Position)
		return nil
	}
	first := len(r.chunk.items)
	if err := r.records(ev, route); err != nil {
		r.undo(first)
		return r.halt(ctx, ev, err)
	}
	token, err := r.count(ctx, len(d.Targets), first)
	if err != nil {
		r.undo(first)
		return err
	}
	for i := first; i < len(r.chunk.items); i++ {
		r.chunk.items[i].token = token
	}
	r.gen.resume.took(ev.Position)
	return nil
}

// records makes one record for each target. They share value and headers.
func (r *reader) records(ev *decoder.Event, route uint16) error {
	var made *item
	for _, t := range r.decision.Targets {
		it := r.chunk.next()
		it.route = route
		it.out = r.p.outs[t.Sink]
		it.pos, it.id = ev.Position, ev.Field(decoder.RoleID)
		if made == nil {
			room := cap(r.chunk.arena)
			arena, err := r.p.format[route].Append(&it.rec, ev, r.chunk.arena)
			if err != nil {
				return err
			}
			if cap(arena) != room { // it needed more than the format's usual room, and has moved
				r.countMore(int64(cap(arena)))
			}
			r.chunk.arena, made = arena, it
			r.countHeaders(it)
		} else {
			it.rec.Value, it.rec.Headers = made.rec.Value, made.rec.Headers
			it.rec.Time, it.rec.Position = made.rec.Time, made.rec.Position
		}
		it.rec.Destination, it.rec.Key = t.Destination, r.decision.Key
	}
	return nil
}

// headerCost is what a header beyond the inline ones costs at most beside the
// row that it comes from: the slice's growth, and an allocation for its name.
const headerCost = 2*40 + 32

// countHeaders counts the memory of a row's own headers, which do not fit the
// item and are made outside of the chunk.
func (r *reader) countHeaders(it *item) {
	if n := len(it.rec.Headers); n > inlineHeaders {
		r.countMore(int64(n)*headerCost + int64(r.event.Size()))
	}
}

// countMore counts memory beside what the chunk was taken for.
func (r *reader) countMore(n int64) {
	r.chunk.size += n
	r.p.ledger.Grow(n)
}

// undo takes back records that were not handed over.
func (r *reader) undo(first int) {
	r.chunk.refs.Add(-int32(len(r.chunk.items) - first)) //nolint:gosec // G115: at most chunkItems
	r.chunk.items = r.chunk.items[:first]
}

// count opens n places in the ledger's window, when there is room for them.
// What is ready before them must go out first, else nothing would make room.
func (r *reader) count(ctx context.Context, n, ready int) (offset.Token, error) {
	token, ok := r.p.ledger.TryAdd(n)
	if ok {
		return token, nil
	}
	if err := r.handOver(ctx, ready); err != nil {
		return token, err
	}
	err := r.waitFor(ctx, func() bool {
		token, ok = r.p.ledger.TryAdd(n)
		return ok
	})
	return token, err
}

// halt stops at an event that can't be delivered: it, and all that follows,
// stays unconfirmed, the session stays alive, and only an operator ends it.
func (r *reader) halt(ctx context.Context, ev *decoder.Event, err error) error {
	var e *sink.Error
	if !errors.As(err, &e) || e.Kind != sink.Poison {
		return fmt.Errorf("route the event at %v: %w", ev.Position, err)
	}
	h := &HaltedEvent{EventID: clip(string(ev.Field(decoder.RoleID))), Reason: e.Reason, Error: err.Error()}
	if rule := r.decision.Rule; rule != nil {
		h.Route = rule.Name
	}
	return r.haltAt(ctx, ev.Position, h)
}

func (r *reader) haltAt(ctx context.Context, pos decoder.Position, h *HaltedEvent) error {
	h.Position, h.Since = pos.String(), time.Now()
	if err := r.flush(ctx); err != nil {
		return err
	}
	c := Condition{
		State: StateHalted, Halted: h,
		Reason: fmt.Sprintf("event %q at %s can't be delivered: %s", h.EventID, h.Position, h.Error),
		Remedy: "nothing after it is confirmed; correct the rules or the configuration and restart; " + r.p.skips.remedy(pos, h.EventID, r.p.ledger.Confirmed()),
	}
	r.p.condition(c)
	if r.p.cfg.ExitOnHold {
		return &HoldError{Reason: c.Reason, Remedy: c.Remedy}
	}
	return r.keepAlive(ctx, func(due <-chan time.Time) bool {
		select {
		case <-due:
		case <-r.p.ledger.Freed(): // what came before it is still to be confirmed
		case <-ctx.Done():
		}
		return false
	})
}

// unread stands for the id of a row that was too large to read.
const unread = "-"

// oversized looks at the beginning of a message that was too large to buffer.
func (r *reader) oversized(ctx context.Context, f *pgrepl.Frame) error {
	ev, err := r.dec.Oversized(f.Data)
	if err != nil {
		return undecodable(err)
	}
	if ev == nil {
		r.p.counters.ignoredOps.Add(1)
		return nil
	}
	if r.givenUp(ev.Position, []byte(unread), nil) {
		return nil
	}
	return r.haltAt(ctx, ev.Position, &HaltedEvent{
		EventID: unread, Reason: "row_too_large",
		Error: fmt.Sprintf("a row of table %v is %d bytes long, above OUTBOX_CDC_MAX_EVENT_BYTES (the server's text, in which bytea counts twice)", ev.Table.Name, f.Size),
	})
}

// clip bounds text from a row that goes into logs and status. It cuts no
// character in two.
func clip(s string) string {
	if len(s) <= 128 {
		return s
	}
	n := 128
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "..."
}
