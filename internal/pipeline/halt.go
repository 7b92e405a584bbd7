package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

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
