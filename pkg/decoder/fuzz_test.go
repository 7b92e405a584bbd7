package decoder

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"
)

// FuzzParse: no input panics, or makes more than it has bytes for, and what is
// parsed lies within the input.
func FuzzParse(f *testing.F) {
	for _, file := range goldenFiles(f) {
		for _, line := range goldenLines(f, file) {
			if line.msg != nil && len(line.msg) < 400 {
				f.Add(line.msg)
			}
		}
	}
	f.Fuzz(func(t *testing.T, msg []byte) {
		var m Message
		err := Parse(msg, &m)
		var e *ParseError
		if err != nil && (!errors.As(err, &e) || e.Offset > len(msg)) {
			t.Fatalf("got %v", err)
		}
		if cap(m.Truncated)*4 > 2*len(msg)+64 || m.Relation != nil && len(m.Relation.Columns)*minColumn > len(msg) {
			t.Fatalf("%d bytes made %d relations, %v", len(msg), cap(m.Truncated), m.Relation)
		}
		if err != nil {
			return
		}
		if m.Kind != Kind(msg[0]) {
			t.Fatalf("kind %v", m.Kind)
		}
		for _, tuple := range []Tuple{m.Old, m.New} {
			n, size := 0, 0
			for c := tuple.Cursor(); c.Next(); n++ {
				size += len(c.Value)
			}
			if n != tuple.Len() || size > len(msg) {
				t.Fatalf("the cursor gave %d columns of %d, %d bytes of %d", n, tuple.Len(), size, len(msg))
			}
		}
		if m.Relation != nil && !bytes.Equal(relationMsg(m.Relation)[1:], withIdentity(msg, m.Relation)) {
			t.Fatalf("%x was read as %+v", msg, m.Relation)
		}
	})
}

// withIdentity is the body of a Relation message with the replica identity
// that relationMsg writes.
func withIdentity(msg []byte, rel *Relation) []byte {
	body := bytes.Clone(msg[1:])
	body[4+len(rel.Namespace)+1+len(rel.Name)+1] = 'd'
	return body
}

// frames puts messages into one fuzz input, and split takes them out again.
func frames(msgs ...[]byte) []byte {
	var all []byte
	for _, msg := range msgs {
		all = append(binary.BigEndian.AppendUint16(all, uint16(len(msg))), msg...)
	}
	return all
}

func split(all []byte) (msgs [][]byte) {
	for len(all) >= 2 {
		n := min(int(binary.BigEndian.Uint16(all)), len(all)-2)
		msgs = append(msgs, all[2:2+n])
		all = all[2+n:]
	}
	return msgs
}

// FuzzDecode: no sequence of messages panics; the arena never moves; positions
// rise; each event has what a plain reading of its message gives.
func FuzzDecode(f *testing.F) {
	for _, file := range goldenFiles(f) {
		// One input a statement; long ones would keep the fuzzer busy making
		// them shorter.
		var msgs [][]byte
		for _, line := range goldenLines(f, file) {
			if line.msg != nil && len(line.msg) < 400 {
				msgs = append(msgs, line.msg)
			} else if len(msgs) > 0 {
				f.Add(frames(msgs...))
				msgs = nil
			}
		}
	}
	f.Add(frames(beginMsg(0x100), relationMsg(outbox()), insertMsg(16400, "1", "t", nil, "{}"), commitMsg(0x100, 0x200)))
	tables := mustTables(f, goldenTables, goldenMapping)
	f.Fuzz(func(t *testing.T, input []byte) {
		d := New(tables)
		arena := make([]byte, 0, len(input))
		var last Position
		for _, msg := range split(input) {
			var ev Event
			longer, out, err := d.Decode(msg, arena, &ev)
			if cap(longer) != cap(arena) || len(longer)-len(arena) > len(msg) {
				t.Fatalf("the arena grew by %d to capacity %d", len(longer)-len(arena), cap(longer))
			}
			if err != nil {
				if len(longer) != len(arena) {
					t.Fatal("an error left bytes in the arena")
				}
				return
			}
			if out == 0 {
				t.Fatal("no outcome and no error")
			}
			if out != OutcomeEvent {
				continue
			}
			if ev.Position.Compare(last) <= 0 || !d.InTx() || ev.Position.Commit != d.Tx().FinalLSN {
				t.Fatalf("position %v after %v in transaction %v", ev.Position, last, d.Tx().FinalLSN)
			}
			arena, last = longer, ev.Position
			checkAgainstParse(t, msg, &ev)
		}
	})
}

// checkAgainstParse reads the row the plain way.
func checkAgainstParse(t *testing.T, msg []byte, ev *Event) {
	t.Helper()
	var m Message
	if err := Parse(msg, &m); err != nil {
		t.Fatalf("Decode accepts what Parse refuses: %v", err)
	}
	i := 0
	for c := m.New.Cursor(); c.Next(); i++ {
		want := c.Value
		if want != nil && ev.Table.Relation.Columns[i].TypeOID == OIDBytea {
			continue
		}
		for _, r := range Roles() {
			if ev.Table.column[r] != i+1 {
				continue
			}
			if got := ev.Field(r); !bytes.Equal(got, want) || (got == nil) != (want == nil) {
				t.Fatalf("%v: got %q, want %q", r, got, want)
			}
		}
	}
}

// FuzzParseLSN: what is read prints as something that is read the same.
func FuzzParseLSN(f *testing.F) {
	for _, s := range []string{"16/B374D848", "0/0", "00000000/00000001", "x", "/", "FFFFFFFF/FFFFFFFF"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, err := ParseLSN(s)
		if err != nil {
			return
		}
		if back, err := ParseLSN(l.String()); err != nil || back != l || len(l.String()) > len(s) {
			t.Fatalf("%q: %v came back as %v, %v", s, l, back, err)
		}
	})
}

// FuzzParsePosition: as FuzzParseLSN.
func FuzzParsePosition(f *testing.F) {
	for _, s := range []string{"00000016/B374D848:0000000001", "16/B374D848:7", "0/0:1", ":", "0/1:18446744073709551615"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePosition(s)
		if err != nil {
			return
		}
		if back, err := ParsePosition(p.String()); err != nil || back != p || p.Ordinal == 0 {
			t.Fatalf("%q: %v came back as %v, %v", s, p, back, err)
		}
	})
}

// FuzzParseTables: a list that is read prints as one that is read the same.
func FuzzParseTables(f *testing.F) {
	for _, s := range []string{`public.outbox,"Billing"."Outbox"`, goldenTables, `a.B`, `"a""b".c`, `a."`, "é.ü", "a.b,,", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		names, err := ParseTables(s)
		if (err == nil) != (len(names) > 0) {
			t.Fatalf("%q: got %v, %v", s, names, err)
		}
		var text bytes.Buffer
		for i, n := range names {
			if i > 0 {
				text.WriteByte(',')
			}
			text.WriteString(n.String())
		}
		if err != nil {
			return
		}
		back, err := ParseTables(text.String())
		if err != nil || len(back) != len(names) {
			t.Fatalf("%q: %s came back as %v, %v", s, text.String(), back, err)
		}
		for i := range back {
			if back[i] != names[i].plain() {
				t.Fatalf("%q: %v came back as %v", s, names[i], back[i])
			}
		}
	})
}

// FuzzParseMapping: no text panics, and a mapping that is read resolves a table
// or says why not.
func FuzzParseMapping(f *testing.F) {
	for _, s := range []string{
		"id=event_id,type=kind|event_type; billing.outbox: id=eid", goldenMapping, `key="Kunden-Nr"`, "id=", ";;", `"`, "a.b:c=d", "id=a|", "",
	} {
		f.Add(s)
	}
	names := []TableName{{Schema: "public", Name: "outbox"}}
	f.Fuzz(func(t *testing.T, s string) {
		m, err := ParseMapping(s)
		if err != nil {
			return
		}
		tables, err := NewTables(names, m)
		if err != nil {
			return
		}
		table, err := tables.Resolve(outbox("kind", "event_id"))
		if (table == nil) == (err == nil) {
			t.Fatalf("%q: got %v, %v", s, table, err)
		}
		if table == nil {
			return
		}
		for _, r := range Roles() {
			if _, _, ok := table.Column(r); r.Required() && !ok {
				t.Fatalf("%q: %v has no column", s, r)
			}
		}
	})
}
