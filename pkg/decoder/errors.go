package decoder

import (
	"errors"
	"fmt"
)

// What is wrong with a message that can be read but does not fit what came
// before it; ask with errors.Is. Each means that the session cannot go on:
// what was not understood may be an event.
var (
	ErrInTransaction   = errors.New("a transaction begins before the last one has ended")
	ErrNoTransaction   = errors.New("outside of a transaction")
	ErrOrder           = errors.New("the commit lies before the end of the last transaction")
	ErrCommitMismatch  = errors.New("the commit is not that of the transaction's beginning")
	ErrEndLSN          = errors.New("the transaction's end does not lie after its commit")
	ErrUnknownRelation = errors.New("the server did not describe this relation before")
	ErrColumnCount     = errors.New("the row has not as many columns as its relation")
	ErrUnchanged       = errors.New("an inserted row lacks a large value (unchanged TOAST)")
	ErrBinary          = errors.New("the value is in binary format, which was not asked for")
	ErrBytea           = errors.New(`the bytea value is not in hex format; it needs bytea_output=hex`)
	ErrArena           = errors.New("the arena has no room for the message")
)

// StateError is a message that does not fit what came before it. Its text
// holds no row's data.
type StateError struct {
	Kind Kind
	// FinalLSN is of the transaction that was open; 0 for none.
	FinalLSN LSN
	// Relation is the OID of the table; 0 where the message has none.
	Relation uint32
	// Table and Column say where, as far as it is known.
	Table  TableName
	Column string
	// Err is one of the errors above.
	Err error
}

// Error says which message, where in the log and in which table, and what.
func (e *StateError) Error() string {
	s := fmt.Sprintf("decode pgoutput %v", e.Kind)
	if e.FinalLSN != 0 {
		s += fmt.Sprintf(" of transaction %v", e.FinalLSN)
	}
	switch {
	case e.Table.Name != "":
		s += fmt.Sprintf(" on table %v", e.Table)
	case e.Relation != 0:
		s += fmt.Sprintf(" on relation %d", e.Relation)
	}
	if e.Column != "" {
		s += fmt.Sprintf(" column %q", clip(e.Column))
	}
	return s + ": " + e.Err.Error()
}

// Unwrap gives the reason.
func (e *StateError) Unwrap() error { return e.Err }

// RenamedError is an INSERT on a table that was an outbox table and has since
// been renamed or moved to another schema, so that it is none by its name.
type RenamedError struct {
	OID      uint32
	Old, New TableName
}

// Error says what was renamed and what can be done.
func (e *RenamedError) Error() string {
	return fmt.Sprintf("a row was inserted into table %v, which is not an outbox table but was %v before (OID %d); "+
		"rename it back, or add %v to OUTBOX_CDC_TABLES", e.New, e.Old, e.OID, e.New)
}
