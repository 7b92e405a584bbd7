package pipeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset"
)

// The setting that accepts a gap may be left in place, and the process may end at
// any time. So before anything beyond the gap is handed over it is on record how
// far the gap reaches: who meets it again, because its end was not confirmed yet,
// leaves out the same rows and no more.

var errNotAccepted = errors.New("the checkpoint was not stored, and nothing beyond the gap is read before")

// acceptSlot puts on record that the stream begins at a slot in spite of a gap,
// and returns the checkpoint that says so.
func (k *keeper) acceptSlot(ctx context.Context, info SessionInfo, v offset.Verdict) (*offset.Checkpoint, error) {
	c := checkpointOf(info)
	c.Confirmed, c.Ceiling = v.Floor, v.Floor
	if err := k.put(ctx, c); err != nil {
		return nil, err
	}
	k.p.beyond(*v.Accepted)
	return &c, nil
}

// acceptUpTo puts on record how far the accepted gap reaches: to the position, or
// as far as it was found to reach before.
func (k *keeper) acceptUpTo(ctx context.Context, info SessionInfo, to decoder.LSN) (decoder.LSN, error) {
	accepted := k.p.cfg.AcceptGap
	k.mu.Lock()
	known := k.gap
	k.mu.Unlock()
	if known.From == accepted && known.To > 0 {
		return known.To, nil
	}
	c := checkpointOf(info)
	c.Confirmed = k.p.ledger.Confirmed()
	c.Ceiling, c.Gap = c.Confirmed, offset.Range{From: accepted, To: to}
	return to, k.put(ctx, c)
}

// put stores a checkpoint outside of the usual times.
func (k *keeper) put(ctx context.Context, c offset.Checkpoint) error {
	k.writing.Lock()
	defer k.writing.Unlock()
	ctx, cancel := context.WithTimeout(ctx, keepTimeout)
	defer cancel()
	ok, err := k.store.Save(ctx, c, 0)
	if err == nil && ok {
		return nil
	}
	return fmt.Errorf("accept the gap from %s: %w", k.p.cfg.AcceptGap, errors.Join(errNotAccepted, err))
}

// checkpointOf is a checkpoint without positions.
func checkpointOf(info SessionInfo) offset.Checkpoint {
	return offset.Checkpoint{
		Slot: info.Slot, SystemID: info.SystemID, Timeline: info.Timeline, Database: info.Database, Phase: offset.PhaseStream,
	}
}

// beyond notes that the gap is left behind.
func (p *Pipeline) beyond(gap offset.Range) {
	p.gapAccepted = true
	p.cfg.Log.Warn("going on beyond a gap, as OUTBOX_CDC_ACCEPT_GAP says; rows in between were not delivered",
		"from", gap.From, "to", gap.To)
}
