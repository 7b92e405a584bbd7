package decoder

import "encoding/binary"

// insert decodes a row, which is size bytes long with its message.
func (d *Decoder) insert(size int, arena []byte, ev *Event) ([]byte, Outcome, error) {
	m := &d.msg
	if err := d.find(m.OID); err != nil {
		return arena, 0, err
	}
	e := d.last
	switch {
	case m.New.Len() != len(e.rel.Columns):
		return arena, 0, d.fail(ErrColumnCount)
	case e.err != nil:
		return arena, 0, e.err
	case e.was.Name != "":
		return arena, 0, &RenamedError{OID: m.OID, Old: e.was, New: e.rel.TableName()}
	case e.table == nil:
		return arena, OutcomeOtherTable, nil
	case cap(arena)-len(arena) < size:
		return arena, 0, d.fail(ErrArena)
	}
	d.ordinal++
	ev.Table = e.table
	ev.Position = Position{Commit: d.tx.FinalLSN, Ordinal: d.ordinal}
	ev.CommitTime = d.tx.CommitTime
	ev.XID = d.tx.XID
	longer, err := d.row(arena, ev)
	if err != nil {
		return arena, 0, err
	}
	return longer, OutcomeEvent, nil
}

// row copies the mapped columns to the end of the arena and notes where they
// lie. Mapped columns that are neighbours are copied at once, with the few bytes
// of the tuple between them: one long copy is several times quicker than a copy
// for each. So a row is never longer than its message, and a column that has
// several roles is copied once.
func (d *Decoder) row(arena []byte, ev *Event) ([]byte, error) {
	ev.spans = [NumRoles]span{}
	start := len(arena)
	data := d.msg.New.data
	// data[from:to] waits to be copied.
	from, to := 0, 0
	for i, off := 0, 0; i < len(d.last.table.uses); i++ {
		kind := ValueKind(data[off])
		off++
		if kind == ValueNull {
			continue
		}
		if kind != ValueText {
			return nil, d.failColumn(i, valueError(kind))
		}
		value := off + 4
		off = value + int(binary.BigEndian.Uint32(data[off:]))
		u := d.last.table.uses[i]
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
	arena = append(arena, data[from:to]...)
	ev.row = arena[start:len(arena):len(arena)]
	return arena, nil
}

// valueError is why a value of an inserted row cannot be taken.
func valueError(kind ValueKind) error {
	if kind == ValueUnchanged {
		return ErrUnchanged
	}
	return ErrBinary
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
