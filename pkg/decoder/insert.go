package decoder

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

// row copies the mapped columns. A column is copied once, however many roles
// it has, so that the row is never longer than its message.
func (d *Decoder) row(arena []byte, ev *Event) ([]byte, error) {
	start := len(arena)
	ev.spans = [NumRoles]span{}
	c := d.msg.New.Cursor()
	for i := range d.last.table.uses {
		c.Next()
		u := &d.last.table.uses[i]
		switch c.Kind {
		case ValueText:
			if u.roles == 0 {
				continue
			}
			from := len(arena) - start
			if !u.bytea {
				arena = append(arena, c.Value...)
			} else {
				var ok bool
				if arena, ok = appendBytea(arena, c.Value); !ok {
					return nil, d.failColumn(i, ErrBytea)
				}
			}
			ev.set(u.roles, from, len(arena)-start)
		case ValueNull:
		case ValueUnchanged:
			return nil, d.failColumn(i, ErrUnchanged)
		case ValueBinary:
			return nil, d.failColumn(i, ErrBinary)
		}
	}
	ev.row = arena[start:len(arena):len(arena)]
	return arena, nil
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
