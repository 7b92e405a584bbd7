package decoder

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestDecodeArena: values lie in the caller's arena, which never moves.
func TestDecodeArena(t *testing.T) {
	d := session(t, mustTables(t, "public.outbox", ""), beginMsg(0x100), relationMsg(outbox("tenant", "note")))
	msg := insertMsg(16400, "id-1", "type", "", `{"a": 1}`, nil, "not mapped")
	arena := append(make([]byte, 0, 5+len(msg)), "other"...)
	var ev Event
	longer, out, err := d.Decode(msg, arena, &ev)
	if err != nil || out != OutcomeEvent {
		t.Fatalf("outcome %d, %v", out, err)
	}
	if &longer[0] != &arena[0] || string(longer[:5]) != "other" {
		t.Error("the arena was moved or overwritten")
	}
	clear(msg) // the connection's buffer is used again
	for r, want := range map[Role]string{RoleID: "id-1", RoleType: "type", RoleKey: "", RolePayload: `{"a": 1}`} {
		v := ev.Field(r)
		if v == nil || string(v) != want || cap(v) != len(v) {
			t.Errorf("%v: got %q of capacity %d, want %q", r, v, cap(v), want)
		}
	}
	for _, r := range []Role{RoleTenant, RoleTrace, 0} {
		if v := ev.Field(r); v != nil {
			t.Errorf("role %d: got %q, want nil", r, v)
		}
	}
	if ev.Size() != len(longer)-5 || bytes.Contains(longer, []byte("not mapped")) {
		t.Errorf("the event holds %d bytes of %q", ev.Size(), longer)
	}
}

func TestDecodeNeverGrowsTheArena(t *testing.T) {
	d := session(t, mustTables(t, "public.outbox", ""), beginMsg(0x100), relationMsg(outbox()))
	msg := insertMsg(16400, "1", "t", "k", "{}")
	if _, _, err := d.Decode(msg, make([]byte, 0, len(msg)-1), new(Event)); !errors.Is(err, ErrArena) {
		t.Errorf("a short arena gave %v", err)
	}
	tables := map[string]*Tables{}
	mappings := []string{"", "key=id", "key=payload,type=payload", "tenant=note,order=note", "id=note,key=note,type=note,payload=note"}
	for _, m := range mappings {
		tables[m] = mustTables(t, "public.outbox", m)
	}
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.StringN(0, 20, 40), 6, 6).Draw(t, "values")
		row := make([]any, len(values))
		for i, v := range values {
			row[i] = v
			if i >= 2 && rapid.Bool().Draw(t, "null") {
				row[i] = nil
			}
		}
		rel := outbox("tenant", "note")
		d := New(tables[rapid.SampledFrom(mappings).Draw(t, "mapping")])
		for _, msg := range []wire{beginMsg(0x100), relationMsg(rel)} {
			if _, _, err := d.Decode(msg, nil, nil); err != nil {
				t.Fatal(err)
			}
		}
		msg := insertMsg(16400, row...)
		arena := make([]byte, 0, len(msg))
		var ev Event
		longer, out, err := d.Decode(msg, arena, &ev)
		if err != nil || out != OutcomeEvent {
			t.Fatalf("outcome %d, %v", out, err)
		}
		if len(longer) > 0 && &longer[0] != &arena[:1][0] {
			t.Fatal("the arena was moved")
		}
		for _, r := range Roles() {
			name, _, ok := ev.Table.Column(r)
			var want []byte
			for i, c := range rel.Columns {
				if v, text := row[i].(string); ok && text && c.Name == name {
					want = []byte(v)
				}
			}
			if got := ev.Field(r); !bytes.Equal(got, want) || (got == nil) != (want == nil) {
				t.Fatalf("%v: got %q, want %q", r, got, want)
			}
		}
	})
}

func TestDecodeBytea(t *testing.T) {
	const domain = 17000
	for _, oid := range []uint32{OIDBytea, domain} {
		rel := outbox("tenant")
		rel.Columns[2].TypeOID, rel.Columns[3].TypeOID = oid, oid
		d := session(t, mustTables(t, "public.outbox", ""), beginMsg(0x100),
			wire{'Y'}.u32(domain).str("").str("bytea"), relationMsg(rel))
		msg := insertMsg(16400, "id", "t", `\x00fF7e`, `\x`, "acme")
		var ev Event
		if _, _, err := d.Decode(msg, make([]byte, 0, len(msg)), &ev); err != nil {
			t.Fatal(err)
		}
		if got := ev.Field(RoleKey); !bytes.Equal(got, []byte{0, 0xFF, 0x7E}) {
			t.Errorf("got %x", got)
		}
		if got := ev.Field(RolePayload); got == nil || len(got) != 0 {
			t.Errorf("got %#v, want an empty value", got)
		}
		if id, tenant := string(ev.Field(RoleID)), string(ev.Field(RoleTenant)); id != "id" || tenant != "acme" {
			t.Errorf("the neighbours are %q and %q", id, tenant)
		}
		if _, typ, _ := ev.Table.Column(RolePayload); typ != OIDBytea {
			t.Errorf("the payload's type is %d", typ)
		}
	}
}

func TestDecodeRefusesBytea(t *testing.T) {
	rel := outbox()
	rel.Columns[3].TypeOID = OIDBytea
	for _, text := range []string{"", "x", `\`, `\x0`, `\x0g`, `\xg0`, `\y00`, `x\00`, `\000\377`, "\\x\n0"} {
		d := session(t, mustTables(t, "public.outbox", ""), beginMsg(0x100), relationMsg(rel))
		msg := insertMsg(16400, "id", "t", "k", text)
		if _, _, err := d.Decode(msg, make([]byte, 0, len(msg)), new(Event)); !errors.Is(err, ErrBytea) {
			t.Errorf("%q gave %v", text, err)
		}
	}
}

// TestTypeOfOtherSchema: a type of the user's own that is only called bytea is text to us.
func TestTypeOfOtherSchema(t *testing.T) {
	rel := outbox()
	rel.Columns[3].TypeOID = 17000
	d := session(t, mustTables(t, "public.outbox", ""), beginMsg(0x100),
		wire{'Y'}.u32(17000).str("public").str("bytea"), wire{'Y'}.u32(17001).str("").str("circle"), relationMsg(rel))
	msg := insertMsg(16400, "id", "t", "k", `\x00`)
	var ev Event
	if _, _, err := d.Decode(msg, make([]byte, 0, len(msg)), &ev); err != nil {
		t.Fatal(err)
	}
	if got := string(ev.Field(RolePayload)); got != `\x00` {
		t.Errorf("got %q", got)
	}
}

func TestBuiltinOIDs(t *testing.T) {
	for name, oid := range map[string]uint32{
		"bool": OIDBool, "bytea": OIDBytea, "int8": OIDInt8, "int2": OIDInt2, "int4": OIDInt4, "text": OIDText,
		"json": OIDJSON, "varchar": OIDVarchar, "timestamp": OIDTimestamp, "timestamptz": OIDTimestamptz,
		"numeric": OIDNumeric, "uuid": OIDUUID, "jsonb": OIDJSONB, "circle": 0,
	} {
		if got := builtinOID([]byte(name)); got != oid {
			t.Errorf("%s: got %d, want %d", name, got, oid)
		}
	}
}

func TestDecodeAllocations(t *testing.T) {
	d, msg := benchRow(t)
	rel := outbox()
	rel.ID, rel.Columns[3].TypeOID = 16401, OIDBytea
	if _, _, err := d.Decode(relationMsg(rel), nil, nil); err != nil {
		t.Fatal(err)
	}
	msgs := []wire{
		msg,
		insertMsg(16401, "id", "t", "k", `\x`+strings.Repeat("00", 100)),
		wire{'U'}.u32(16401).u8('N').tuple("1", "t", "k", ValueUnchanged),
		commitMsg(0x100, 0x100+8),
		beginMsg(0x200),
		wire{'T'}.u32(1).u8(0).u32(16401),
		wire{'M', 1}.u64(1).str("p").value("x"),
		wire{'O'}.u64(1).str("up"),
		msg,
		commitMsg(0x200, 0x200+8),
	}
	arena := make([]byte, 0, 4096)
	var ev Event
	n := testing.AllocsPerRun(100, func() {
		d.inTx, d.endLSN, d.tx.FinalLSN = true, 0, 0x100
		for _, m := range msgs {
			if _, _, err := d.Decode(m, arena, &ev); err != nil {
				t.Error(err)
			}
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
