package decoder

import (
	"maps"
	"time"
)

// Outcome is what a message was to the Decoder.
type Outcome uint8

// The outcomes.
const (
	// OutcomeBegin: a transaction was opened; see Decoder.Tx.
	OutcomeBegin Outcome = iota + 1
	// OutcomeCommit: it was closed; see Decoder.LastCommit.
	OutcomeCommit
	// OutcomeEvent: a row of an outbox table; the Event was filled.
	OutcomeEvent
	// OutcomeOtherTable: an INSERT on a table that is not configured.
	OutcomeOtherTable
	// OutcomeIgnoredOp: an UPDATE, DELETE or TRUNCATE of any table.
	OutcomeIgnoredOp
	// OutcomeRelation: a table was described.
	OutcomeRelation
	// OutcomeIgnored: a message that does not matter: origin, type, logical
	// message, the stray Stream Abort of PostgreSQL 18.
	OutcomeIgnored
)

// Tx is the open transaction.
type Tx struct {
	// FinalLSN is where its commit record starts: Position.Commit of its events.
	FinalLSN   LSN
	CommitTime time.Time
	// XID is the transaction id, modulo 2^32.
	XID uint32
}

// Decoder reads the messages of one replication session. It is not safe for
// concurrent use. After an error the session cannot go on: nothing else is to
// be decoded with it.
type Decoder struct {
	tables *Tables
	msg    Message

	inTx    bool
	tx      Tx
	ordinal uint64

	commitLSN, endLSN LSN
	commitTime        time.Time

	// relations is never cut down: the server does not describe a table twice.
	relations map[uint32]*described
	// last is what the last message was about.
	last *described
	// configured has the name of each OID that was an outbox table.
	configured map[uint32]TableName
	// present has the outbox tables as the catalog had them at the position
	// looked; see Know.
	present map[uint32]TableName
	looked  LSN
	// bases has the base type of domains over built-in types.
	bases map[uint32]uint32
}

// described is a relation as the server described it last.
type described struct {
	rel   *Relation
	table *Table
	// err is why a configured table could not be resolved. It counts only
	// when a row is inserted.
	err error
	// was is the name by which a table was configured that no longer is.
	was TableName
}

// New is a Decoder for a new history of the log.
func New(t *Tables) *Decoder {
	return &Decoder{
		tables:     t,
		relations:  make(map[uint32]*described),
		configured: make(map[uint32]TableName),
		bases:      make(map[uint32]uint32),
	}
}

// NextSession is a Decoder for the next connection to the same server. It knows no
// relations, since the server describes them again in each session, but it
// knows which of them were outbox tables, for RenamedError.
func (d *Decoder) NextSession() *Decoder {
	n := New(d.tables)
	maps.Copy(n.configured, d.configured)
	return n
}

// Know takes what the catalog said before a session: which OIDs the outbox
// tables had when the server's WAL ended at the position. Rows tell the name that
// their table had when they were written; a table that was renamed, or moved,
// and had its name again by then is still the same one. The Decoder keeps the map.
func (d *Decoder) Know(tables map[uint32]TableName, at LSN) { d.present, d.looked = tables, at }

// InTx tells whether a transaction is open.
func (d *Decoder) InTx() bool { return d.inTx }

// Tx is the open transaction; the zero Tx when none is.
func (d *Decoder) Tx() Tx { return d.tx }

// LastCommit is the transaction that was closed last: where its commit record
// starts, where it ends (the LSN to confirm), and its time. All are zero
// before the first.
func (d *Decoder) LastCommit() (commitLSN, endLSN LSN, t time.Time) {
	return d.commitLSN, d.endLSN, d.commitTime
}

// Last is the last message. It is overwritten by the next Decode, and the
// slices in it lie in the bytes that were decoded.
func (d *Decoder) Last() *Message { return &d.msg }

// Relation is the table that the last message was about: with Insert, Update,
// Delete and Relation; nil with others.
func (d *Decoder) Relation() *Relation {
	if d.last == nil {
		return nil
	}
	return d.last.rel
}

// Table is the outbox table that the last message was about, or nil.
func (d *Decoder) Table() *Table {
	if d.last == nil {
		return nil
	}
	return d.last.table
}

// Decode reads one message. For an INSERT on an outbox table it appends the
// values of the mapped columns to arena, with the few bytes between neighbours
// but never more than len(msg), fills ev, which refers to them, and returns the
// longer arena; else arena comes back as it was and ev is of no use. The caller sees to it that cap(arena)-len(arena) is at least
// len(msg): Decode never re-allocates, since earlier events lie in the arena.
// msg may be overwritten afterwards.
//
// The error is a *ParseError, *StateError, *MappingError or *RenamedError.
func (d *Decoder) Decode(msg, arena []byte, ev *Event) ([]byte, Outcome, error) {
	d.last = nil
	if len(msg) > 0 && Kind(msg[0]) == KindInsert {
		return d.insert(msg, arena, ev)
	}
	if err := Parse(msg, &d.msg); err != nil {
		return arena, 0, err
	}
	m := &d.msg
	switch m.Kind {
	case KindBegin:
		return arena, OutcomeBegin, d.begin()
	case KindCommit:
		return arena, OutcomeCommit, d.commit()
	case KindRelation:
		d.describe(m.Relation)
		return arena, OutcomeRelation, nil
	case KindUpdate, KindDelete:
		return arena, OutcomeIgnoredOp, d.find(m.OID)
	case KindTruncate:
		return arena, OutcomeIgnoredOp, d.truncate()
	case KindType:
		d.noteType()
	case KindOrigin, KindMessage, KindStreamAbort, KindInsert:
	}
	return arena, OutcomeIgnored, nil
}

// begin opens a transaction. Transactions come in the order of their commits;
// anything else would let a later confirmation pass an earlier one.
func (d *Decoder) begin() error {
	if d.inTx {
		return d.fail(ErrInTransaction)
	}
	if d.msg.FinalLSN == 0 || d.msg.FinalLSN < d.endLSN {
		return d.fail(ErrOrder)
	}
	d.inTx = true
	d.ordinal = 0
	d.tx = Tx{FinalLSN: d.msg.FinalLSN, CommitTime: d.msg.CommitTime, XID: d.msg.XID}
	return nil
}

func (d *Decoder) commit() error {
	m := &d.msg
	switch {
	case !d.inTx:
		return d.fail(ErrNoTransaction)
	case m.CommitLSN != d.tx.FinalLSN:
		return d.fail(ErrCommitMismatch)
	case m.EndLSN <= m.CommitLSN:
		return d.fail(ErrEndLSN)
	}
	d.inTx, d.tx = false, Tx{}
	d.commitLSN, d.endLSN, d.commitTime = m.CommitLSN, m.EndLSN, m.CommitTime
	return nil
}

// describe takes a Relation in. A table that cannot be resolved is not an
// error yet: an UPDATE or DELETE may be all that follows.
func (d *Decoder) describe(rel *Relation) {
	for i := range rel.Columns {
		if base, ok := d.bases[rel.Columns[i].TypeOID]; ok {
			rel.Columns[i].TypeOID = base
		}
	}
	e := &described{rel: rel}
	e.table, e.err = d.tables.Resolve(rel)
	if now, ok := d.present[rel.ID]; ok && e.table == nil && e.err == nil && d.tx.FinalLSN < d.looked {
		renamed := *rel
		renamed.Namespace, renamed.Name = now.Schema, now.Name
		e.table, e.err = d.tables.Resolve(&renamed)
	}
	if e.table != nil || e.err != nil {
		d.configured[rel.ID] = rel.TableName()
	} else {
		e.was = d.configured[rel.ID]
	}
	d.relations[rel.ID] = e
	d.last = e
}

// find makes the relation the current one.
func (d *Decoder) find(oid uint32) error {
	if !d.inTx {
		return d.fail(ErrNoTransaction)
	}
	e, ok := d.relations[oid]
	if !ok {
		return d.fail(ErrUnknownRelation)
	}
	d.last = e
	return nil
}

// truncate has several relations; all must be known.
func (d *Decoder) truncate() error {
	for _, oid := range d.msg.Truncated {
		if err := d.find(oid); err != nil {
			return err
		}
	}
	d.last = nil
	return nil
}

// noteType remembers domains over built-in types: a Type message precedes the
// first Relation that has the type, and gives the base type's name, without a
// schema for pg_catalog.
func (d *Decoder) noteType() {
	if len(d.msg.Namespace) > 0 {
		return
	}
	if oid := builtinOID(d.msg.Name); oid != 0 {
		d.bases[d.msg.OID] = oid
	}
}

// fail is a StateError about the current message.
func (d *Decoder) fail(err error) error {
	e := &StateError{Kind: d.msg.Kind, FinalLSN: d.tx.FinalLSN, Relation: d.msg.OID, Err: err}
	if d.last != nil {
		e.Table = d.last.rel.TableName()
	}
	return e
}
