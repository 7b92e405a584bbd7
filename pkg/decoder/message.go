package decoder

import (
	"strconv"
	"time"
)

// Kind is the first byte of a pgoutput message. Source of all layouts: the
// PostgreSQL manual, "Logical Replication Message Formats".
type Kind byte

// The kinds that pgoutput sends at protocol version 1.
const (
	KindBegin    Kind = 'B'
	KindCommit   Kind = 'C'
	KindOrigin   Kind = 'O'
	KindRelation Kind = 'R'
	KindType     Kind = 'Y'
	KindInsert   Kind = 'I'
	KindUpdate   Kind = 'U'
	KindDelete   Kind = 'D'
	KindTruncate Kind = 'T'
	KindMessage  Kind = 'M'
	// KindStreamAbort belongs to version 2, but PostgreSQL 18 also sends it
	// at version 1, for a rolled-back transaction that it had spilled to disk.
	KindStreamAbort Kind = 'A'
)

// String is the manual's name of the message.
func (k Kind) String() string {
	switch k {
	case KindBegin:
		return "Begin"
	case KindCommit:
		return "Commit"
	case KindOrigin:
		return "Origin"
	case KindRelation:
		return "Relation"
	case KindType:
		return "Type"
	case KindInsert:
		return "Insert"
	case KindUpdate:
		return "Update"
	case KindDelete:
		return "Delete"
	case KindTruncate:
		return "Truncate"
	case KindMessage:
		return "Message"
	case KindStreamAbort:
		return "Stream Abort"
	}
	return "message " + strconv.QuoteRuneToASCII(rune(k))
}

// Message is one pgoutput message: Kind says which of the fields are set, the
// others are zero. Its byte slices and tuples lie in the message that was
// parsed. It is meant to be used again and again; only a Relation is new each
// time and may be kept.
type Message struct {
	Kind Kind

	// FinalLSN (Begin) is where the commit record starts; equal to the
	// CommitLSN of the Commit that follows.
	FinalLSN LSN
	// CommitLSN (Commit) is where the commit record starts; in an Origin it
	// is that of the commit on the origin server.
	CommitLSN LSN
	// EndLSN (Commit) is where the log goes on after the commit record: what
	// to confirm.
	EndLSN LSN
	// CommitTime (Begin, Commit) is in UTC, to the microsecond.
	CommitTime time.Time
	// XID (Begin, Stream Abort) is the transaction, modulo 2^32.
	XID uint32
	// SubXID (Stream Abort) is the subtransaction that was rolled back.
	SubXID uint32

	// OID is the relation of Insert, Update and Delete, and the type of Type.
	OID uint32
	// New is the row of Insert and Update.
	New Tuple
	// Old is the row, or the key of the row, before Update and in Delete.
	Old Tuple
	// Relation (Relation) is a table's description.
	Relation *Relation
	// Truncated (Truncate) lists relations. It is overwritten by the next Parse.
	Truncated []uint32

	// Namespace (Type) is the type's schema; empty stands for pg_catalog.
	Namespace []byte
	// Name is the name of Origin and Type. For a domain the type is its base type.
	Name []byte

	// Transactional (Message) tells whether it belongs to a transaction.
	Transactional bool
	// LSN (Message) is where the message lies in the log.
	LSN LSN
	// Prefix and Content (Message) are as pg_logical_emit_message was given them.
	Prefix, Content []byte
}
