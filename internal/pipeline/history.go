package pipeline

import (
	"context"
	"fmt"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset"
)

// frontier is how far this generation has come: everything below was received.
func (g *generation) frontier() decoder.LSN {
	return max(g.resume.end, g.p.ledger.Confirmed())
}

// startAt decides where the stream of this session starts; 0 is the slot's own
// position. It sets the ledger's floor.
func (g *generation) startAt(ctx context.Context, info SessionInfo) (decoder.LSN, error) {
	p := g.p
	if err := p.notOlder(info); err != nil {
		return 0, err
	}
	var at decoder.LSN
	if p.history == nil {
		var err error
		if at, err = p.firstStart(ctx, info); err != nil {
			return 0, err
		}
	} else {
		if err := g.sameHistory(info); err != nil {
			return 0, err
		}
		p.ledger.Raise(info.SlotConfirmed)
		at = g.frontier()
	}
	beyond, err := g.acceptedGap(ctx, info, max(at, p.ledger.Confirmed()))
	if err != nil {
		return 0, err
	}
	if beyond != 0 {
		p.missing = nil
		// It queues behind what is still in flight; a transaction that was cut
		// off lies in the gap.
		if !p.ledger.Seal(beyond) {
			p.ledger.Keepalive(beyond)
		}
		g.resume = resume{end: beyond, floor: beyond}
		return beyond, nil
	}
	if p.missing != nil {
		return 0, p.missing
	}
	if g.resume.floor == 0 {
		g.resume.floor = max(at, p.ledger.Confirmed())
	}
	return at, nil
}

// notOlder refuses a server on a lower timeline than one that was seen of its
// system: an old primary that has come back. It remembers what it sees, also of
// servers that were then not streamed from.
func (p *Pipeline) notOlder(now SessionInfo) error {
	if now.SystemID == p.newest.SystemID && now.Timeline < p.newest.Timeline {
		return &HoldError{
			Reason: fmt.Sprintf("the server is on timeline %d, below %d that was seen: it is an old primary", now.Timeline, p.newest.Timeline),
			Remedy: "connect to the present primary",
		}
	}
	p.newest = now.Identity
	return nil
}

// sameHistory compares the server with the one that was streamed before.
func (g *generation) sameHistory(now SessionInfo) error {
	p := g.p
	was := p.history
	switch {
	case was.SystemID != now.SystemID:
		return &HoldError{
			Reason: fmt.Sprintf("this is another database system (%s) than the one that was streamed (%s)", now.SystemID, was.SystemID),
			Remedy: "point OUTBOX_CDC_DATABASE_URL at the right server, or restart to accept this one",
		}
	case now.Timeline > was.Timeline:
		return g.branched(now)
	case p.movedBeyond(now):
		return errNewHistory
	}
	return nil
}

// movedBeyond tells that somebody else has gone on from where we were: what we
// still have is his.
func (p *Pipeline) movedBeyond(now SessionInfo) bool { return now.SlotConfirmed > p.ledger.Confirmed() }

// branched is a failover. Positions at or below the switch point are true on
// both timelines; what lies beyond it was written on a timeline that is no
// more, and its positions may now be others' on the new one.
func (g *generation) branched(now SessionInfo) error {
	end, known := now.History[g.p.history.Timeline]
	if known && g.frontier() <= end && g.resume.cut <= end && !g.p.movedBeyond(now) {
		return nil
	}
	if known {
		g.p.past = past{g.p.history.SystemID, g.p.history.Timeline, min(g.p.ledger.Confirmed(), end)}
	}
	if known && g.resume.events > end {
		g.p.ghost(end, g.resume.events)
	}
	return errNewHistory
}

// past is what this process knows of a timeline that a failover has ended.
type past struct {
	system   string
	timeline int32
	// confirmed is how far it had come, within what the new timeline has.
	confirmed decoder.LSN
}

// remind is the checkpoint with what this process knows better. The table is
// written every few seconds, and the new primary's copy may be older still: its
// slot can be ahead of it, and would look like one that was made again.
func (k past) remind(c *offset.Checkpoint) *offset.Checkpoint {
	if c == nil || c.SystemID != k.system || c.Timeline != k.timeline || c.Confirmed >= k.confirmed {
		return c
	}
	better := *c
	better.Confirmed = k.confirmed
	better.Ceiling = max(c.Ceiling, k.confirmed)
	return &better
}

// ghost reports events that were published but that the new primary never had.
func (p *Pipeline) ghost(from, to decoder.LSN) {
	p.cfg.Log.Error("after the failover: events of this range were read, and some may have been delivered, that the new primary does not have",
		"alert", "GhostEvents", "from", from, "to", to,
		"remedy", "compare consumers with the tables; synchronized_standby_slots (PostgreSQL 17) keeps this from happening")
}
