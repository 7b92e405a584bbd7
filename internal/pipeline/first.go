package pipeline

import (
	"context"
	"fmt"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset"
)

// firstStart decides where a history begins that this process has not streamed
// yet: at its checkpoint, where that is still true, else at the slot.
func (p *Pipeline) firstStart(ctx context.Context, info SessionInfo) (decoder.LSN, error) {
	if p.keeper == nil {
		// Not raised: an attempt that came no further may have left the
		// position of another server here.
		p.ledger.Reset(info.SlotConfirmed)
		return 0, nil
	}
	// Of a history that has ended here nothing more is reported: what the slot
	// has gained since was not ours.
	if err := p.keeper.seal(ctx); err != nil {
		return 0, fmt.Errorf("the checkpoint of slot %q: %w", info.Slot, err)
	}
	c, err := p.keeper.store.Load(ctx, info.Slot)
	if err != nil {
		return 0, fmt.Errorf("load the checkpoint of slot %q: %w", info.Slot, err)
	}
	v, err := p.judgeCheckpoint(ctx, p.past.remind(c), info)
	if isGap(err) {
		// Named by what is stored: that is all a restart with the accepted gap
		// has to recognise it by.
		v, err = p.judgeCheckpoint(ctx, c, info)
	}
	if err != nil {
		return 0, err
	}
	if p.cfg.FromSlot && v.Start > info.SlotConfirmed {
		// Only a slot that was moved back is obeyed: above the checkpoint there
		// may be a gap, whatever the command line says.
		p.cfg.Log.Warn("the checkpoint is ignored, as --from=slot says", "checkpoint", c.Confirmed, "slot", info.SlotConfirmed)
		v.Start, v.Floor = 0, info.SlotConfirmed
	}
	if v.Accepted != nil {
		if c, err = p.keeper.acceptSlot(ctx, info, v); err != nil {
			return 0, err
		}
	}
	p.ledger.Reset(v.Floor)
	p.keeper.begin(c, v.Floor, info)
	if c != nil {
		p.cfg.Log.Info("checkpoint", "confirmed", c.Confirmed, "timeline", c.Timeline, "slot", info.SlotConfirmed, "from", v.Start)
	}
	return v.Start, nil
}

// judgeCheckpoint holds the checkpoint against the server; what only an operator
// can decide is an error.
func (p *Pipeline) judgeCheckpoint(ctx context.Context, c *offset.Checkpoint, info SessionInfo) (offset.Verdict, error) {
	at := offset.ServerState{
		SystemID: info.SystemID, Timeline: info.Timeline, Database: info.Database, Flush: info.Flush,
		SwitchPoints: info.History, SlotConfirmed: info.SlotConfirmed, SlotRestart: info.SlotRestart,
	}
	v := offset.Judge(c, at, p.cfg.AcceptGap)
	if v.Suspect && p.cfg.Decoded != nil {
		var err error
		if at.Decoded, err = p.cfg.Decoded(ctx); err != nil {
			return v, fmt.Errorf("ask the server what it has decoded for the slot: %w", err)
		}
		v = offset.Judge(c, at, p.cfg.AcceptGap)
	}
	if v.Suspect && p.cfg.NewerRows != nil {
		var err error
		if at.NewerRows, err = p.cfg.NewerRows(ctx, c); err != nil {
			return v, fmt.Errorf("ask the tables for rows beyond the checkpoint: %w", err)
		}
		v = offset.Judge(c, at, p.cfg.AcceptGap)
	}
	if v.Hold {
		hold := &HoldError{Reason: v.Reason, Remedy: v.Remedy}
		if v.GapFrom != 0 {
			hold.Err = &gapError{from: v.GapFrom}
		}
		return v, hold
	}
	if v.Ghost != nil {
		p.ghost(v.Ghost.From, v.Ghost.To)
	}
	return v, nil
}
