package pipeline

import (
	"context"
	"slices"
	"time"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// Status is a picture of the pipeline. Any goroutine may ask for one.
type Status struct {
	Condition
	// AllHalted are the events that can't be delivered, in their order: one that
	// its destination refuses, and one behind it that no rule can route.
	AllHalted []HaltedEvent

	Ready bool
	Alive bool
	// Confirmed is the position up to which everything is stored.
	Confirmed       decoder.LSN
	InFlightRecords int64
	InFlightBytes   int64
	// Blocked is how long the reader waited for room, in all.
	Blocked time.Duration
	// Session is the last one that streamed; nil before the first.
	Session *SessionInfo
}

// Status is the present one.
func (p *Pipeline) Status() Status {
	now := time.Now()
	records, bytes := p.ledger.InFlight()
	return Status{
		Condition: p.cond.current(),
		AllHalted: p.cond.halted(),
		Ready:     p.cond.ready(now), Alive: p.beat.alive(now),
		Confirmed:       p.ledger.Confirmed(),
		InFlightRecords: records, InFlightBytes: bytes,
		Blocked: time.Duration(p.counters.blocked.Load()),
		Session: p.last.Load(),
	}
}

// HaltedAt tells whether an event of the rule with this name can't be delivered;
// "" stands for the events without one.
func (s *Status) HaltedAt(route string) bool {
	return slices.ContainsFunc(s.AllHalted, func(h HaltedEvent) bool { return h.Route == route })
}

// condition sets the reader's condition and logs it when it is a new one.
func (p *Pipeline) condition(c Condition) {
	if !p.cond.set(c) {
		return
	}
	args := []any{"state", string(c.State)}
	if c.Reason != "" {
		args = append(args, "reason", c.Reason)
	}
	if c.Remedy != "" {
		args = append(args, "remedy", c.Remedy)
	}
	switch {
	case c.State == StateHeld || c.State == StateHalted:
		p.cfg.Log.Error("delivery has stopped", args...)
	case c.State == StateConnecting && c.Reason != "":
		p.cfg.Log.Warn("the stream has ended and is started again", args...)
	default:
		p.cfg.Log.Info("state", args...)
	}
}

// block sets what the sender is blocked by; nil lifts it.
func (p *Pipeline) block(c *Condition) {
	was := p.cond.current()
	p.cond.block(c)
	if c != nil && (was.State != c.State || was.Reason != c.Reason) {
		p.cfg.Log.Error("delivery has stopped", "state", string(c.State), "reason", c.Reason, "remedy", c.Remedy)
	}
}

func (p *Pipeline) drain() {
	p.cond.drain()
	p.cfg.Log.Info("stopping: no more rows are taken", "grace", p.cfg.ShutdownGrace)
}

// started notes that the server streams.
func (p *Pipeline) started(info SessionInfo, at decoder.LSN) {
	p.history = &info
	p.last.Store(&info)
	if p.keeper != nil {
		p.keeper.follow(&info)
	}
	p.condition(Condition{State: StateStreaming})
	p.cfg.Log.Info("streaming", "system_id", info.SystemID, "timeline", info.Timeline,
		"database", info.Database, "from", at, "slot_confirmed", info.SlotConfirmed)
}

// flushable is the position that a status may report as flushed.
func (p *Pipeline) flushable() decoder.LSN {
	confirmed := p.ledger.Confirmed()
	if p.keeper == nil {
		return confirmed
	}
	return p.keeper.bound(confirmed)
}

// wait waits, but not beyond the end of ctx, and counts as a sign of life.
func (p *Pipeline) wait(ctx context.Context, d time.Duration) {
	p.beat.expect(time.Now().Add(d))
	pause(ctx, d)
}

// pause waits, but not beyond the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
