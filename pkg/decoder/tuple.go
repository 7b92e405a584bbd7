package decoder

import "encoding/binary"

// ValueKind says how a column's value was sent: TupleData in the manual.
type ValueKind byte

// The kinds of values.
const (
	ValueNull ValueKind = 'n'
	// ValueUnchanged is a large value that an UPDATE left alone and the server did not send.
	ValueUnchanged ValueKind = 'u'
	// ValueText is the output of the type's output function.
	ValueText ValueKind = 't'
	// ValueBinary is sent only to a session with the option binary.
	ValueBinary ValueKind = 'b'
)

// Tuple is a row in the bytes of its message; the zero Tuple has no columns.
type Tuple struct {
	data []byte
	n    int
}

// Len is the number of columns.
func (t Tuple) Len() int { return t.n }

// Cursor starts before the first column.
func (t Tuple) Cursor() Cursor { return Cursor{rest: t.data} }

// Cursor walks over the columns of a Tuple, in the relation's order.
type Cursor struct {
	// Kind and Value are of the current column. Value lies in the message;
	// it is nil for ValueNull and ValueUnchanged.
	Kind  ValueKind
	Value []byte

	rest []byte
}

// Next goes to the next column; false after the last. The tuple was checked
// by Parse, so that lengths can be trusted here.
func (c *Cursor) Next() bool {
	if len(c.rest) == 0 {
		return false
	}
	c.Kind = ValueKind(c.rest[0])
	if c.Kind == ValueNull || c.Kind == ValueUnchanged {
		c.Value, c.rest = nil, c.rest[1:]
		return true
	}
	end := 5 + int(binary.BigEndian.Uint32(c.rest[1:]))
	c.Value, c.rest = c.rest[5:end:end], c.rest[end:]
	return true
}

// newRow reads up to the columns of a new row and returns their number.
func (r *reader) newRow() int {
	at := r.off
	if r.uint8() != 'N' {
		r.fail(at, errTuple)
	}
	return r.count(uint32(r.uint16()), 1)
}

// oldRow does so for an old row, which begins with "K" (only the replica
// identity's columns are set) or "O" (all columns).
func (r *reader) oldRow() int {
	at := r.off
	if k := r.uint8(); k != 'K' && k != 'O' {
		r.fail(at, errOldTuple)
	}
	return r.count(uint32(r.uint16()), 1)
}

// columns checks n columns and leaves them where they are. It is written out,
// not made of the reader's methods, because it runs for the rows of all tables.
func (r *reader) columns(n int) Tuple {
	rest := r.msg[r.off:]
	for range n {
		if len(rest) == 0 {
			r.fail(len(r.msg), errShort)
			return Tuple{}
		}
		switch ValueKind(rest[0]) {
		case ValueNull, ValueUnchanged:
			rest = rest[1:]
			continue
		case ValueText, ValueBinary:
		default:
			r.fail(len(r.msg)-len(rest), errColumn)
			return Tuple{}
		}
		if len(rest) < 5 || int64(binary.BigEndian.Uint32(rest[1:])) > int64(len(rest)-5) {
			r.fail(len(r.msg)-len(rest)+1, errShort)
			return Tuple{}
		}
		rest = rest[5+binary.BigEndian.Uint32(rest[1:]):]
	}
	t := Tuple{data: r.msg[r.off : len(r.msg)-len(rest)], n: n}
	r.off = len(r.msg) - len(rest)
	return t
}
