package decoder

import (
	"math/bits"
	"time"
)

// Event is one committed INSERT on a configured outbox table.
//
// Its bytes live in the arena that was given to Decoder.Decode: an Event and
// every slice taken from it are valid as long as that arena is, and must not
// be changed. Reading an Event from several goroutines is safe.
type Event struct {
	// Table is the outbox table as it looked when the row was written.
	Table *Table
	// Position is the same each time the server sends this row.
	Position Position
	// CommitTime is the server's clock at commit, to the microsecond, in UTC;
	// of a transaction that was replicated from elsewhere, that server's.
	CommitTime time.Time
	// XID is the top-level transaction id, modulo 2^32.
	XID uint32

	row   []byte
	spans [NumRoles]span
}

// span is where a column's value lies in Event.row, both counted from 1. The
// zero span is "no value": NULL, or the table has no such column.
type span struct {
	start, end uint32
}

// Field returns the server's text of the column with this role; for a column
// of type bytea its bytes. It is nil for NULL and for a role the table does
// not have, and empty but not nil for an empty value. The slice's capacity
// ends with the value, so that appending to it cannot touch a neighbour.
func (e *Event) Field(r Role) []byte {
	s := e.spans[r]
	if s.start == 0 {
		return nil
	}
	return e.row[s.start-1 : s.end-1 : s.end-1]
}

// Size is the number of arena bytes that the event holds.
func (e *Event) Size() int { return len(e.row) }

// set gives all roles of the bit set the value that begins at row[start] and
// ends where the row does so far.
func (e *Event) set(roles uint32, start, end int) {
	s := span{start: uint32(start) + 1, end: uint32(end) + 1} //nolint:gosec // a message is smaller than 1 GB.
	for ; roles != 0; roles &= roles - 1 {
		e.spans[bits.TrailingZeros32(roles)] = s
	}
}
