package decoder

import (
	"errors"
	"fmt"
	"time"
)

// Errors of Parse about messages that are never sent to a session that did
// not ask for them; ask with errors.Is.
var (
	// ErrTwoPhase is a message of two-phase decoding: the slot was created
	// with two_phase.
	ErrTwoPhase = errors.New("the slot decodes prepared transactions (two_phase); drop it and create it without two_phase")
	// ErrStreaming is a message of an unfinished transaction, though the
	// session was started with streaming off.
	ErrStreaming = errors.New("the server streams unfinished transactions although streaming is off")
	// ErrUnknownKind is a first byte that protocol version 1 does not have.
	ErrUnknownKind = errors.New("unknown kind of message")
)

var (
	errEmpty    = errors.New("empty message")
	errFlags    = errors.New("unknown flags")
	errTuple    = errors.New(`a new row must begin with "N"`)
	errOldTuple = errors.New(`an old row must begin with "K" or "O"`)
	errColumn   = errors.New("unknown kind of column value")
)

// ParseError is a message that could not be read. Its text holds no data.
type ParseError struct {
	// Kind is the message's first byte; 0 when there was none.
	Kind Kind
	// Offset is where in the message the field begins that is wrong.
	Offset int
	Err    error
}

// Error says which message, where and what.
func (e *ParseError) Error() string {
	if e.Kind == 0 {
		return fmt.Sprintf("parse pgoutput message: %v", e.Err)
	}
	return fmt.Sprintf("parse pgoutput %v at byte %d: %v", e.Kind, e.Offset, e.Err)
}

// Unwrap gives the reason.
func (e *ParseError) Unwrap() error { return e.Err }

// Parse reads one pgoutput message, of a session without streaming and without
// two-phase decoding, into m. It checks the whole message, so that what m
// refers to can be read without errors. All but Relation are read without an
// allocation. The error is a *ParseError; m is then of no use.
func Parse(msg []byte, m *Message) error {
	if len(msg) == 0 {
		m.reset(0)
		return &ParseError{Err: errEmpty}
	}
	m.reset(Kind(msg[0]))
	r := reader{msg: msg, off: 1}
	m.parse(&r)
	return m.finish(&r)
}

// reset makes m an empty message. From one row to the next the same fields are
// set, so that there is nothing to clear.
func (m *Message) reset(k Kind) {
	if k != KindInsert || m.Kind != KindInsert {
		*m = Message{Kind: k, Truncated: m.Truncated[:0]}
	}
}

// finish makes a ParseError of what the reader found.
func (m *Message) finish(r *reader) error {
	if err := r.finish(); err != nil {
		return &ParseError{Kind: m.Kind, Offset: r.errOff, Err: err}
	}
	return nil
}

func (m *Message) parse(r *reader) {
	switch m.Kind {
	case KindInsert:
		m.OID = r.uint32()
		m.New = r.columns(r.newRow())
	case KindBegin:
		m.FinalLSN = r.lsn()
		m.CommitTime = r.time()
		m.XID = r.uint32()
	case KindCommit:
		r.flags(0)
		m.CommitLSN = r.lsn()
		m.EndLSN = r.lsn()
		m.CommitTime = r.time()
	case KindOrigin:
		m.CommitLSN = r.lsn()
		m.Name = r.cstring()
	case KindRelation:
		m.Relation = r.relation()
	case KindType:
		m.OID = r.uint32()
		m.Namespace = r.cstring()
		m.Name = r.cstring()
	case KindUpdate:
		m.OID = r.uint32()
		if r.peek() != 'N' {
			m.Old = r.columns(r.oldRow())
		}
		m.New = r.columns(r.newRow())
	case KindDelete:
		m.OID = r.uint32()
		m.Old = r.columns(r.oldRow())
	case KindTruncate:
		m.truncate(r)
	case KindMessage:
		m.Transactional = r.flags(1) == 1
		m.LSN = r.lsn()
		m.Prefix = r.cstring()
		m.Content = r.value()
	case KindStreamAbort:
		m.XID = r.uint32()
		m.SubXID = r.uint32()
	default:
		r.fail(0, unwanted(m.Kind))
	}
}

// truncate reads option bits (1 CASCADE, 2 RESTART IDENTITY) and relations.
func (m *Message) truncate(r *reader) {
	n := r.uint32()
	r.flags(3)
	for range r.count(n, 4) {
		m.Truncated = append(m.Truncated, r.uint32())
	}
}

// unwanted is the error for messages that belong to what we never switch on.
func unwanted(k Kind) error {
	switch byte(k) {
	case 'b', 'P', 'K', 'r', 'p': // Begin Prepare, Prepare, Commit and Rollback Prepared, Stream Prepare
		return ErrTwoPhase
	case 'S', 'E', 'c': // Stream Start, Stop, Commit
		return ErrStreaming
	}
	return ErrUnknownKind
}

// flags reads a byte of which only the bits in known may be set.
func (r *reader) flags(known byte) byte {
	at := r.off
	v := r.uint8()
	if v&^known != 0 {
		r.fail(at, errFlags)
	}
	return v
}

// peek is the next byte, or 0 at the end.
func (r *reader) peek() byte {
	if r.off < len(r.msg) {
		return r.msg[r.off]
	}
	return 0
}

// postgresEpoch is 2000-01-01 in microseconds of Unix time: where the
// timestamps of the protocol count from.
const postgresEpoch = 946_684_800_000_000

func (r *reader) time() time.Time {
	us := int64(r.uint64()) //nolint:gosec // two's complement on the wire.
	return time.UnixMicro(us + postgresEpoch).UTC()
}
