package offset

import (
	"time"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// PhaseStream is the phase of a checkpoint whose slot is being streamed.
const PhaseStream = "stream"

// Checkpoint is what is kept about a slot outside of it. The slot alone cannot
// tell that it was dropped and made again, nor that a crash of the server put
// it back; held against a Checkpoint, it can: see Judge.
type Checkpoint struct {
	// Slot is the slot's name.
	Slot string
	// SystemID, Timeline and Database are where the positions mean something.
	SystemID string
	Timeline int32
	Database string
	// Confirmed is a position up to which everything was stored by its
	// destination.
	Confirmed decoder.LSN
	// Ceiling bounds what may be reported to the server as flushed: nothing
	// above it before a higher one is stored. Whatever the slot's position
	// is, if it is ours it is not above. It binds across timelines too.
	Ceiling decoder.LSN
	// Restart is the slot's restart_lsn as it was known to be ours; 0 where
	// that is not known.
	Restart decoder.LSN
	// Decoded is how many transactions the server had decoded for the slot
	// (pg_stat_replication_slots.total_txns); 0 where that is not known.
	Decoded int64
	// Snapshot is a pg_snapshot whose visible rows are all below Confirmed,
	// as the server prints it; "" for none.
	Snapshot string
	// Gap is the last gap that an operator accepted while its end could not be
	// confirmed yet; the zero Range for none. From is how he named it.
	Gap Range
	// Phase is PhaseStream, also if empty. With any other one the positions may
	// mean something else, and Judge holds.
	Phase string
	// UpdatedAt is when the row was written, by the server's clock.
	UpdatedAt time.Time
}

// Range is a piece of the write-ahead log: above From, up to and including To.
type Range struct {
	From decoder.LSN
	To   decoder.LSN
}

// NewerRows is whether the tables hold a row that is newer than a checkpoint's
// snapshot. The zero value is the safe one.
type NewerRows uint8

// The answers.
const (
	NewerUnknown NewerRows = iota // not asked, or not to be had
	// NewerNone is the only answer that proves anything: none, in tables that
	// still hold older ones.
	NewerNone
	NewerSome
	// NewerEmptied is none, and in one of the tables no older one either: rows
	// that were inserted may have been deleted since.
	NewerEmptied
)

// String is "unknown", "none", "some" or "emptied".
func (n NewerRows) String() string {
	switch n {
	case NewerEmptied:
		return "emptied"
	case NewerNone:
		return "none"
	case NewerSome:
		return "some"
	case NewerUnknown:
	}
	return "unknown"
}

// ServerState is the server that a checkpoint is held against, as it was seen
// on the connection that is to stream.
type ServerState struct {
	// SystemID, Timeline, Database and Flush are from IDENTIFY_SYSTEM.
	SystemID string
	Timeline int32
	Database string
	Flush    decoder.LSN
	// SwitchPoints is where each older timeline of the server ended
	// (TIMELINE_HISTORY); nil where that is not known.
	SwitchPoints map[int32]decoder.LSN
	// SlotConfirmed and SlotRestart are the slot's confirmed_flush_lsn and
	// restart_lsn.
	SlotConfirmed decoder.LSN
	SlotRestart   decoder.LSN
	// Decoded is the slot's total_txns, 0 or less where it is not known.
	Decoded int64
	// NewerRows is what the tables say, once they were asked.
	NewerRows NewerRows
}
