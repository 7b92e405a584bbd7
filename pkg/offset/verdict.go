package offset

import (
	"fmt"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// Verdict is how a stream goes on from a checkpoint.
type Verdict struct {
	// Start is the position to ask the server for; 0 is the slot's own.
	Start decoder.LSN
	// Floor is the confirmed position to begin with.
	Floor decoder.LSN
	// Hold says that the stream must not start; Reason and Remedy say why,
	// and what an operator has to do.
	Hold   bool
	Reason string
	Remedy string
	// GapFrom is where a gap begins that an operator may accept, by naming
	// exactly this position; 0 for none.
	GapFrom decoder.LSN
	// Accepted is the gap that was accepted, to be reported: what was
	// committed in it is not delivered by the stream.
	Accepted *Range
	// Ghost is what was confirmed on the checkpoint's timeline but is not part
	// of the server's history: its events were delivered, and the server
	// never had them.
	Ghost *Range
	// Suspect says that positions alone cannot tell whether the slot is
	// ours. While NewerRows is unknown, asking the tables may end the hold:
	// judge again with the answer.
	Suspect bool
}

// Judge holds a checkpoint, nil for none, against the server. acceptGap is the
// one gap that an operator accepts, 0 for none; it counts for exactly the gap
// that begins there.
//
// The rule: nothing is skipped unless it was confirmed in this history, and a
// slot that may not be the one that was streamed is never streamed over.
func Judge(cp *Checkpoint, at ServerState, acceptGap decoder.LSN) Verdict {
	switch {
	case cp == nil:
		return Verdict{Floor: at.SlotConfirmed}
	case cp.Phase != PhaseStream && cp.Phase != "":
		return Verdict{
			Hold:   true,
			Reason: fmt.Sprintf("the checkpoint of slot %s is in phase %q, a phase that this version does not know", cp.Slot, clip(cp.Phase)),
			Remedy: "run the version of outbox-cdc that wrote it",
		}
	case cp.SystemID != at.SystemID:
		return foreign("this is database system %s, and the checkpoint of slot %s is of system %s", at.SystemID, cp.Slot, cp.SystemID)
	case cp.Database != at.Database:
		return foreign("this is database %q, and the checkpoint of slot %s is of database %q", clip(at.Database), cp.Slot, clip(cp.Database))
	case at.Timeline < cp.Timeline:
		return Verdict{
			Hold:   true,
			Reason: fmt.Sprintf("the server is on timeline %d, below %d of the checkpoint: it is an old primary", at.Timeline, cp.Timeline),
			Remedy: "connect to the present primary",
		}
	case at.Timeline == cp.Timeline && cp.Confirmed > at.Flush:
		return foreign("the server's WAL ends at %s, below %s which was confirmed on the same timeline: it was restored to an earlier state", at.Flush, cp.Confirmed)
	}
	v := Verdict{Floor: at.SlotConfirmed}
	valid, known := validUpTo(cp, at)
	if known && valid < cp.Confirmed {
		v.Ghost = &Range{From: valid, To: cp.Confirmed}
	}
	switch {
	case known && at.SlotConfirmed <= valid:
		if v.Ghost == nil {
			// Also right after a crash of the server that put the slot back.
			v.Start, v.Floor = cp.Confirmed, cp.Confirmed
		}
		return v
	case at.SlotConfirmed > cp.Ceiling:
		reason := fmt.Sprintf("slot %s stands at %s, above %s, the highest that was ever confirmed for it: it was made again, or somebody else moved it",
			cp.Slot, at.SlotConfirmed, cp.Ceiling)
		if at.SlotConfirmed-cp.Confirmed > near {
			return v.gap(gapFrom(cp, valid), at, acceptGap, reason)
		}
		return v.suspect(gapFrom(cp, valid), at, acceptGap, reason)
	case ours(cp, at, valid):
		return v
	}
	reason := fmt.Sprintf("slot %s stands at %s, and needs WAL only from %s on, above everything that the checkpoint knows: it may have been made again",
		cp.Slot, at.SlotConfirmed, at.SlotRestart)
	return v.suspect(gapFrom(cp, valid), at, acceptGap, reason)
}

// near is how many bytes of the log may lie between a checkpoint and a slot that
// was made again, or moved, if the tables are to tell that no row is missing.
// The more there is in between, the more may have been deleted since.
const near = 64 << 20

// suspect asks the tables, and is a gap unless they say that there is none.
func (v Verdict) suspect(from decoder.LSN, at ServerState, accepted decoder.LSN, reason string) Verdict {
	v.Suspect = true
	if at.NewerRows == NewerNone {
		return v
	}
	v = v.gap(from, at, accepted, reason)
	if !v.Hold {
		return v
	}
	switch at.NewerRows {
	case NewerUnknown:
		v.Remedy += "; once the connector's role has SELECT on the outbox tables, it looks for such rows itself, and goes on if there are none"
	case NewerEmptied:
		v.Remedy += "; that the tables hold no such rows proves nothing, because older ones are deleted, too"
	case NewerNone, NewerSome:
	}
	return v
}

// validUpTo is the highest position of the checkpoint that is part of the
// server's history. Above the point where the checkpoint's timeline ended,
// positions mean other WAL. Not known means that any may.
func validUpTo(cp *Checkpoint, at ServerState) (valid decoder.LSN, known bool) {
	if at.Timeline == cp.Timeline {
		return cp.Confirmed, true
	}
	end, known := at.SwitchPoints[cp.Timeline]
	return min(cp.Confirmed, end), known
}

// ours tells whether the slot is known to be the one of the checkpoint. A slot
// that is made again needs no WAL from before that moment; and its count of
// decoded transactions starts at 0, while a reset of the statistics, such as
// by a crash of the server, makes ours look new, but not a new one ours.
func ours(cp *Checkpoint, at ServerState, valid decoder.LSN) bool {
	if at.SlotRestart == 0 {
		return false
	}
	if at.Timeline != cp.Timeline {
		// What is beyond the switch point is of no use to tell slots apart.
		return at.SlotRestart <= max(valid, min(cp.Restart, at.SwitchPoints[cp.Timeline]))
	}
	return at.SlotRestart <= max(valid, cp.Restart) || cp.Decoded > 0 && at.Decoded >= cp.Decoded
}

func gapFrom(cp *Checkpoint, valid decoder.LSN) decoder.LSN {
	if valid > 0 {
		return valid
	}
	return cp.Confirmed
}

// gap is the hold because of a gap, or its acceptance.
func (v Verdict) gap(from decoder.LSN, at ServerState, accepted decoder.LSN, reason string) Verdict {
	if accepted == from {
		v.Accepted = &Range{From: from, To: at.SlotConfirmed}
		return v
	}
	v.Hold, v.GapFrom = true, from
	v.Reason = fmt.Sprintf("gap from LSN %s: %s; rows that were committed from there to %s may be missing", from, reason, at.SlotConfirmed)
	v.Remedy = fmt.Sprintf("deliver the rows from the tables that are missing, then set OUTBOX_CDC_ACCEPT_GAP=%s to go on at the slot", from)
	if accepted != 0 {
		v.Remedy += fmt.Sprintf(" (%s, which is set, is another gap)", accepted)
	}
	return v
}

// foreign is the hold for a server on which the checkpoint's positions mean
// nothing.
func foreign(format string, args ...any) Verdict {
	return Verdict{
		Hold:   true,
		Reason: fmt.Sprintf(format, args...),
		Remedy: "connect to the right server; if this one has taken its place, deliver the rows from the tables that are missing, " +
			"delete the slot's row in the table that OUTBOX_CDC_OFFSET_TABLE names, and run outbox-cdc setup",
	}
}

// clip bounds a name from outside.
func clip(s string) string {
	if len(s) > 128 {
		return s[:128] + "..."
	}
	return s
}
