package pipeline

import (
	"context"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset"
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
