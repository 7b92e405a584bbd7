package decoder

import (
	"encoding/binary"
	"errors"
)

// ErrTooLarge is about a message that is never large.
var ErrTooLarge = errors.New("the message is too large to be true")

// insertHead is the part of an Insert message that names its table: type byte
// and OID.
const insertHead = 5

// Oversized takes the beginning of a message that was too large to be read
// whole. For an INSERT on an outbox table it returns an Event that has a
// table, a position and a commit time but no fields: the row counts like any
// other. For whatever is ignored at any size it returns nil. Everything else
// can't be that large and is an error.
func (d *Decoder) Oversized(head []byte) (*Event, error) {
	d.last = nil
	d.msg = Message{}
	if len(head) < insertHead {
		return nil, &ParseError{Kind: KindInsert, Offset: len(head), Err: errShort}
	}
	d.msg.Kind = Kind(head[0])
	switch d.msg.Kind {
	case KindUpdate, KindDelete, KindMessage:
		return nil, nil //nolint:nilnil // no event is a good answer
	case KindInsert:
	case KindBegin, KindCommit, KindOrigin, KindRelation, KindType, KindTruncate, KindStreamAbort:
		return nil, d.fail(ErrTooLarge)
	default:
		return nil, d.fail(unwanted(d.msg.Kind))
	}
	d.msg.OID = binary.BigEndian.Uint32(head[1:])
	if err := d.find(d.msg.OID); err != nil {
		return nil, err
	}
	e := d.last
	switch {
	case e.err != nil:
		return nil, e.err
	case e.was.Name != "":
		return nil, &RenamedError{OID: d.msg.OID, Old: e.was, New: e.rel.TableName()}
	case e.table == nil:
		return nil, nil //nolint:nilnil // no event is a good answer
	}
	d.ordinal++
	return &Event{
		Table: e.table, Position: Position{Commit: d.tx.FinalLSN, Ordinal: d.ordinal},
		CommitTime: d.tx.CommitTime, XID: d.tx.XID,
	}, nil
}
