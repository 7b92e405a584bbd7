package decoder

import (
	"encoding/binary"
	"errors"
	"testing"
)

// The messages of tests, as the server writes them.

const (
	testXID  = 771
	testTime = 775_000_000_000_000 // microseconds since 2000-01-01
)

type wire []byte

func (w wire) u8(v byte) wire    { return append(w, v) }
func (w wire) u16(v uint16) wire { return binary.BigEndian.AppendUint16(w, v) }
func (w wire) u32(v uint32) wire { return binary.BigEndian.AppendUint32(w, v) }
func (w wire) u64(v uint64) wire { return binary.BigEndian.AppendUint64(w, v) }
func (w wire) str(s string) wire { return append(append(w, s...), 0) }
func (w wire) value(s string) wire {
	return append(w.u32(uint32(len(s))), s...)
}

func beginMsg(final LSN) wire {
	return wire{'B'}.u64(uint64(final)).u64(testTime).u32(testXID)
}

func commitMsg(commit, end LSN) wire {
	return wire{'C', 0}.u64(uint64(commit)).u64(uint64(end)).u64(testTime)
}

func relationMsg(rel *Relation) wire {
	w := wire{'R'}.u32(rel.ID).str(rel.Namespace).str(rel.Name).u8('d').u16(uint16(len(rel.Columns)))
	for _, c := range rel.Columns {
		var key byte
		if c.Key {
			key = 1
		}
		w = w.u8(key).str(c.Name).u32(c.TypeOID).u32(uint32(c.TypeMod))
	}
	return w
}

// tuple takes a value a column: a string is text, nil is NULL, a ValueKind is
// that kind, with an empty value for ValueBinary.
func (w wire) tuple(values ...any) wire {
	w = w.u16(uint16(len(values)))
	for _, v := range values {
		switch v := v.(type) {
		case nil:
			w = w.u8('n')
		case string:
			w = w.u8('t').value(v)
		case ValueKind:
			w = w.u8(byte(v))
			if v == ValueBinary {
				w = w.value("")
			}
		}
	}
	return w
}

func insertMsg(oid uint32, values ...any) wire {
	return wire{'I'}.u32(oid).u8('N').tuple(values...)
}

// outbox is a relation with columns id, event_type, partition_key, payload and
// a number of text columns.
func outbox(more ...string) *Relation {
	rel := &Relation{ID: 16400, Namespace: "public", Name: "outbox", ReplicaIdentity: 'd', Columns: []Column{
		{Name: "id", TypeOID: OIDUUID, TypeMod: -1, Key: true},
		{Name: "event_type", TypeOID: OIDText, TypeMod: -1},
		{Name: "partition_key", TypeOID: OIDText, TypeMod: -1},
		{Name: "payload", TypeOID: OIDJSONB, TypeMod: -1},
	}}
	for _, name := range more {
		rel.Columns = append(rel.Columns, Column{Name: name, TypeOID: OIDText, TypeMod: -1})
	}
	return rel
}

func mustTables(tb testing.TB, names, mapping string) *Tables {
	tb.Helper()
	n, err := ParseTables(names)
	if err != nil {
		tb.Fatal(err)
	}
	m, err := ParseMapping(mapping)
	if err != nil {
		tb.Fatal(err)
	}
	tables, err := NewTables(n, m)
	if err != nil {
		tb.Fatal(err)
	}
	return tables
}

// session is a decoder that has got messages so far without an error.
func session(tb testing.TB, tables *Tables, msgs ...wire) *Decoder {
	tb.Helper()
	d := New(tables)
	for _, msg := range msgs {
		if _, _, err := d.Decode(msg, make([]byte, 0, len(msg)), new(Event)); err != nil {
			tb.Fatal(err)
		}
	}
	return d
}

// asError is errors.As, for the type of the target.
func asError[E error](err error, target *E) bool { return errors.As(err, target) }
