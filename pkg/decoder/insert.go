package decoder

import "encoding/binary"

// insert decodes a row. It reads the message itself instead of calling Parse,
// so that the row of an outbox table is walked over once, not twice.
func (d *Decoder) insert(msg, arena []byte, ev *Event) ([]byte, Outcome, error) {
	m := &d.msg
	m.reset(KindInsert)
	r := reader{msg: msg, off: 1}
	m.OID, m.New = r.uint32(), Tuple{}
	n := r.newRow()
	if r.err != nil {
		return arena, 0, m.finish(&r)
	}
	if err := d.find(m.OID); err != nil {
		return arena, 0, err
	}
	e := d.last
	switch {
	case n != len(e.rel.Columns):
		return arena, 0, d.fail(ErrColumnCount)
	case e.err != nil:
		return arena, 0, e.err
	case e.was.Name != "":
		return arena, 0, &RenamedError{OID: m.OID, Old: e.was, New: e.rel.TableName()}
	case e.table == nil:
		m.New = r.columns(n)
		return arena, OutcomeOtherTable, m.finish(&r)
	case cap(arena)-len(arena) < len(msg):
		return arena, 0, d.fail(ErrArena)
	}
	longer, err := d.row(&r, arena, ev)
	if err != nil {
		return arena, 0, err
	}
	d.ordinal++
	ev.Table = e.table
	ev.Position = Position{Commit: d.tx.FinalLSN, Ordinal: d.ordinal}
	ev.CommitTime = d.tx.CommitTime
	ev.XID = d.tx.XID
	return longer, OutcomeEvent, nil
}

// row checks the columns, copies the mapped ones to the end of the arena and
// notes where they lie. Mapped columns that are neighbours are copied at once,
// with the few bytes of the tuple between them: one long copy is several times
// quicker than a copy for each. So a row is never longer than its message, and
// a column that has several roles is copied once.
func (d *Decoder) row(r *reader, arena []byte, ev *Event) ([]byte, error) {
	ev.spans = [NumRoles]span{}
	start := len(arena)
	uses := d.last.table.uses
	data := r.msg[r.off:]
	// data[from:to] waits to be copied.
	off, from, to := 0, 0, 0
	for i := range uses {
		if off >= len(data) {
			r.fail(len(r.msg), errShort)
			break
		}
		kind := ValueKind(data[off])
		off++
		if kind == ValueNull {
			continue
		}
		if kind != ValueText {
			return nil, d.valueError(r, i, off-1)
		}
		value := off + 4
		if len(data) < value || int64(binary.BigEndian.Uint32(data[off:])) > int64(len(data)-value) {
			r.fail(r.off+off, errShort)
			break
		}
		off = value + int(binary.BigEndian.Uint32(data[off:]))
		u := uses[i]
		if u.roles == 0 || u.bytea {
			arena = append(arena, data[from:to]...)
			from, to = 0, 0
		}
		switch {
		case u.roles == 0:
		case u.bytea:
			at := len(arena) - start
			var ok bool
			if arena, ok = appendBytea(arena, data[value:off]); !ok {
				return nil, d.failColumn(i, ErrBytea)
			}
			ev.set(u.roles, at, len(arena)-start)
		default:
			if to == 0 {
				from = value
			}
			to = off
			at := len(arena) - start + value - from
			ev.set(u.roles, at, at+off-value)
		}
	}
	if r.err == nil {
		d.msg.New = Tuple{data: data[:off], n: len(uses)}
		r.off += off
	}
	if err := d.msg.finish(r); err != nil {
		return nil, err
	}
	arena = append(arena, data[from:to]...)
	ev.row = arena[start:len(arena):len(arena)]
	return arena, nil
}

// valueError is why the value that begins at data[off] cannot be taken.
func (d *Decoder) valueError(r *reader, column, off int) error {
	switch ValueKind(r.msg[r.off+off]) {
	case ValueUnchanged:
		return d.failColumn(column, ErrUnchanged)
	case ValueBinary:
		return d.failColumn(column, ErrBinary)
	case ValueNull, ValueText:
	}
	r.fail(r.off+off, errColumn)
	return d.msg.finish(r)
}

func (d *Decoder) failColumn(i int, err error) error {
	return &StateError{
		Kind: d.msg.Kind, FinalLSN: d.tx.FinalLSN, Relation: d.msg.OID,
		Table: d.last.table.Name, Column: d.last.rel.Columns[i].Name, Err: err,
	}
}

// appendBytea decodes the hex format, "\x00ff"; ok is false for anything else.
func appendBytea(arena, text []byte) ([]byte, bool) {
	if len(text) < 2 || len(text)%2 != 0 || text[0] != '\\' || text[1] != 'x' {
		return arena, false
	}
	for i := 2; i < len(text); i += 2 {
		hi, lo := unhex(text[i]), unhex(text[i+1])
		if hi > 15 || lo > 15 {
			return arena, false
		}
		arena = append(arena, hi<<4|lo)
	}
	return arena, true
}

// unhex is a hexadecimal digit's value, or 255.
func unhex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 255
}
