package decoder

import (
	"errors"
	"testing"
)

const otherOID = 16500

func otherMsg() wire {
	return relationMsg(&Relation{ID: otherOID, Namespace: "public", Name: "other", Columns: []Column{{Name: "a", TypeOID: OIDText}}})
}

func TestDecodeTransaction(t *testing.T) {
	d := New(mustTables(t, "public.outbox", ""))
	steps := []struct {
		msg  wire
		want Outcome
		pos  string
	}{
		{wire{'M', 0}.u64(1).str("p").value("outside"), OutcomeIgnored, ""},
		{beginMsg(0x100), OutcomeBegin, ""},
		{wire{'O'}.u64(7).str("up"), OutcomeIgnored, ""},
		{relationMsg(outbox()), OutcomeRelation, ""},
		{insertMsg(16400, "1", "t", "k", "{}"), OutcomeEvent, "00000000/00000100:0000000001"},
		{otherMsg(), OutcomeRelation, ""},
		{insertMsg(otherOID, "x"), OutcomeOtherTable, ""},
		{wire{'U'}.u32(16400).u8('N').tuple("1", "t", "k", ValueUnchanged), OutcomeIgnoredOp, ""},
		{insertMsg(16400, "2", "t", nil, nil), OutcomeEvent, "00000000/00000100:0000000002"},
		{wire{'D'}.u32(otherOID).u8('K').tuple("x"), OutcomeIgnoredOp, ""},
		{wire{'T'}.u32(2).u8(0).u32(16400).u32(otherOID), OutcomeIgnoredOp, ""},
		{wire{'A'}.u32(5).u32(6), OutcomeIgnored, ""},
		{commitMsg(0x100, 0x180), OutcomeCommit, ""},
		{beginMsg(0x200), OutcomeBegin, ""},
		{insertMsg(16400, "3", "t", "k", "{}"), OutcomeEvent, "00000000/00000200:0000000001"},
		{commitMsg(0x200, 0x280), OutcomeCommit, ""},
	}
	for i, step := range steps {
		var ev Event
		_, got, err := d.Decode(step.msg, make([]byte, 0, len(step.msg)), &ev)
		if err != nil || got != step.want {
			t.Fatalf("message %d, %v: got outcome %d, %v; want %d", i, Kind(step.msg[0]), got, err, step.want)
		}
		if got == OutcomeEvent && (ev.Position.String() != step.pos || ev.XID != testXID || !ev.CommitTime.Equal(wireTime)) {
			t.Errorf("message %d: event at %v of transaction %d at %v, want %s", i, ev.Position, ev.XID, ev.CommitTime, step.pos)
		}
	}
}

func TestDecoderState(t *testing.T) {
	d := New(mustTables(t, "public.outbox", ""))
	must := func(msg wire) {
		t.Helper()
		if _, _, err := d.Decode(msg, make([]byte, 0, len(msg)), new(Event)); err != nil {
			t.Fatal(err)
		}
	}
	if commit, end, at := d.LastCommit(); commit != 0 || end != 0 || !at.IsZero() || d.InTx() || d.Tx() != (Tx{}) || d.Relation() != nil || d.Table() != nil {
		t.Error("a new decoder is not empty")
	}
	must(beginMsg(0x100))
	if want := (Tx{FinalLSN: 0x100, CommitTime: wireTime, XID: testXID}); !d.InTx() || d.Tx() != want {
		t.Errorf("got %+v, want %+v", d.Tx(), want)
	}
	must(relationMsg(outbox()))
	must(insertMsg(16400, "1", "t", "k", "{}"))
	if d.Relation() == nil || d.Relation().ID != 16400 || d.Table() == nil || d.Last().New.Len() != 4 {
		t.Errorf("after an insert: relation %v, table %v, %d columns", d.Relation(), d.Table(), d.Last().New.Len())
	}
	must(otherMsg())
	must(insertMsg(otherOID, "x"))
	if d.Relation().ID != otherOID || d.Table() != nil || dumpTuple(d.Last().New) != `("x")` {
		t.Errorf("after an insert on another table: relation %v, table %v", d.Relation(), d.Table())
	}
	must(commitMsg(0x100, 0x180))
	if commit, end, at := d.LastCommit(); commit != 0x100 || end != 0x180 || !at.Equal(wireTime) || d.InTx() || d.Tx() != (Tx{}) || d.Relation() != nil {
		t.Errorf("after the commit: %v %v %v, in transaction %t", commit, end, at, d.InTx())
	}
}

func TestDecodeRefusesState(t *testing.T) {
	begin, relation := beginMsg(0x100), relationMsg(outbox())
	row := insertMsg(16400, "1", "t", "k", "{}")
	tests := []struct {
		name   string
		before []wire
		msg    wire
		err    error
		text   string
	}{
		{"begin in a transaction", []wire{begin}, beginMsg(0x200), ErrInTransaction, ""},
		{"begin at 0", nil, beginMsg(0), ErrOrder, ""},
		{
			"begin before the last end",
			[]wire{begin, commitMsg(0x100, 0x180)},
			beginMsg(0x17F), ErrOrder,
			"decode pgoutput Begin: the commit lies before the end of the last transaction",
		},
		{"commit outside", nil, commitMsg(0x100, 0x180), ErrNoTransaction, ""},
		{"commit of another transaction", []wire{begin}, commitMsg(0x101, 0x180), ErrCommitMismatch, ""},
		{"end at the commit", []wire{begin}, commitMsg(0x100, 0x100), ErrEndLSN, ""},
		{"insert outside", []wire{begin, relation, commitMsg(0x100, 0x180)}, row, ErrNoTransaction, ""},
		{"insert on an unknown relation", []wire{begin}, row, ErrUnknownRelation, "decode pgoutput Insert of transaction 0/100 on relation 16400: the server did not describe this relation before"},
		{"update of an unknown relation", []wire{begin}, wire{'U'}.u32(1).u8('N').tuple("a"), ErrUnknownRelation, ""},
		{"delete outside", []wire{begin, relation, commitMsg(0x100, 0x180)}, wire{'D'}.u32(16400).u8('K').tuple("a"), ErrNoTransaction, ""},
		{"truncate of an unknown relation", []wire{begin, relation}, wire{'T'}.u32(2).u8(0).u32(16400).u32(1), ErrUnknownRelation, ""},
		{
			"column missing",
			[]wire{begin, relation},
			insertMsg(16400, "1", "t", "k"), ErrColumnCount,
			"decode pgoutput Insert of transaction 0/100 on table public.outbox: the row has not as many columns as its relation",
		},
		{"column too many on another table", []wire{begin, otherMsg()}, insertMsg(otherOID, "1", "2"), ErrColumnCount, ""},
		{
			"unchanged value",
			[]wire{begin, relation},
			insertMsg(16400, "1", "t", "k", ValueUnchanged), ErrUnchanged,
			`decode pgoutput Insert of transaction 0/100 on table public.outbox column "payload": an inserted row lacks a large value (unchanged TOAST)`,
		},
		{"binary value", []wire{begin, relation}, insertMsg(16400, ValueBinary, "t", "k", "{}"), ErrBinary, ""},
		{"unchanged value in a column without a role", []wire{begin, relationMsg(outbox("note"))}, insertMsg(16400, "1", "t", "k", "{}", ValueUnchanged), ErrUnchanged, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := session(t, mustTables(t, "public.outbox", ""), tt.before...)
			arena := make([]byte, 1, 200)
			got, _, err := d.Decode(tt.msg, arena, new(Event))
			var e *StateError
			if !errors.Is(err, tt.err) || !errors.As(err, &e) || e.Kind != Kind(tt.msg[0]) {
				t.Fatalf("got %v, want %v", err, tt.err)
			}
			if tt.text != "" && err.Error() != tt.text {
				t.Errorf("got  %q\nwant %q", err, tt.text)
			}
			if len(got) != 1 {
				t.Errorf("the arena came back with %d bytes", len(got))
			}
		})
	}
}

func TestDecodeRefusesMalformed(t *testing.T) {
	row := insertMsg(16400, "1", "t", nil, "{}")
	for n := range row {
		d := session(t, mustTables(t, "public.outbox", ""), beginMsg(0x100), relationMsg(outbox()))
		_, _, err := d.Decode(row[:n], make([]byte, 0, len(row)), new(Event))
		if _, ok := errors.AsType[*ParseError](err); !ok {
			t.Errorf("an insert cut to %d bytes gave %v, want a ParseError", n, err)
		}
		want := Parse(row[:n], new(Message))
		if err == nil || want == nil || err.Error() != want.Error() {
			t.Errorf("an insert cut to %d bytes: Decode says %v, Parse %v", n, err, want)
		}
	}
	for _, msg := range []wire{
		wire{'I'}.u32(16400).u8('K').tuple("1", "t", nil, "{}"),
		wire{'I'}.u32(16400).u8('N').u16(4).u8('t').value("1").u8('x').u8('n').u8('n'),
		append(insertMsg(16400, "1", "t", nil, "{}"), 0),
		wire{'I'}.u32(16400).u8('N').u16(4).u8('t').u32(0xFFFFFFFF).u8('n').u8('n').u8('n'),
	} {
		d := session(t, mustTables(t, "public.outbox", ""), beginMsg(0x100), relationMsg(outbox()))
		arena, _, err := d.Decode(msg, make([]byte, 0, len(msg)), new(Event))
		if want := Parse(msg, new(Message)); err == nil || want == nil || err.Error() != want.Error() || len(arena) != 0 {
			t.Errorf("%x: Decode says %v, Parse %v", []byte(msg), err, want)
		}
	}
	other := insertMsg(otherOID, "x")
	d := session(t, mustTables(t, "public.outbox", ""), beginMsg(0x100), otherMsg())
	if _, _, err := d.Decode(append(other, 0), nil, new(Event)); !errors.Is(err, errTrailing) {
		t.Errorf("a trailing byte on another table's row gave %v", err)
	}
}

// TestRelationChange: columns are found by name again, also in mid-transaction.
func TestRelationChange(t *testing.T) {
	d := session(t, mustTables(t, "public.outbox", "type=kind|event_type"), beginMsg(0x100), relationMsg(outbox()))
	decode := func(msg wire) *Event {
		t.Helper()
		var ev Event
		if _, out, err := d.Decode(msg, make([]byte, 0, len(msg)), &ev); err != nil || out != OutcomeEvent {
			t.Fatalf("got outcome %d, %v", out, err)
		}
		return &ev
	}
	before := decode(insertMsg(16400, "1", "a", "k", "{}"))

	rel := outbox("tenant")
	rel.Columns[1].Name = "kind"
	rel.Columns[0], rel.Columns[4] = rel.Columns[4], rel.Columns[0]
	if _, _, err := d.Decode(relationMsg(rel), nil, nil); err != nil {
		t.Fatal(err)
	}
	after := decode(insertMsg(16400, "acme", "b", "k", "{}", "2"))

	for _, tt := range []struct {
		ev   *Event
		role Role
		want string
	}{
		{before, RoleID, "1"},
		{before, RoleType, "a"},
		{before, RoleTenant, ""},
		{after, RoleID, "2"},
		{after, RoleType, "b"},
		{after, RoleTenant, "acme"},
	} {
		if got := string(tt.ev.Field(tt.role)); got != tt.want {
			t.Errorf("%v of event %v: got %q, want %q", tt.role, tt.ev.Position, got, tt.want)
		}
	}
	if before.Table == after.Table {
		t.Error("the event of the old shape lost its table")
	}
}

// TestUnmappable: a configured table without the required columns stops the
// stream when a row comes, and not before.
func TestUnmappable(t *testing.T) {
	rel := outbox()
	rel.Columns[1].Name = "evt_type"
	d := session(t, mustTables(t, "public.outbox", ""), beginMsg(0x100), relationMsg(rel),
		wire{'D'}.u32(16400).u8('K').tuple("1", nil, nil, nil))
	_, _, err := d.Decode(insertMsg(16400, "1", "t", "k", "{}"), make([]byte, 0, 100), new(Event))
	var e *MappingError
	if !errors.As(err, &e) || e.Table.String() != "public.outbox" {
		t.Errorf("got %v, want a MappingError", err)
	}
}

func TestRenamed(t *testing.T) {
	tables := mustTables(t, "public.outbox", "")
	moved := outbox()
	moved.Namespace = "s9"
	row := insertMsg(16400, "1", "t", "k", "{}")
	check := func(d *Decoder) {
		t.Helper()
		_, _, err := d.Decode(row, make([]byte, 0, len(row)), new(Event))
		var e *RenamedError
		if !errors.As(err, &e) || e.OID != 16400 || e.Old.String() != "public.outbox" || e.New.String() != "s9.outbox" {
			t.Errorf("got %v, want a RenamedError", err)
		}
	}
	d := session(t, tables, beginMsg(0x100), relationMsg(outbox()), row, relationMsg(moved))
	check(d)
	// The next session has never seen the old name.
	next := d.NextSession()
	for _, msg := range []wire{beginMsg(0x100), relationMsg(moved)} {
		if _, _, err := next.Decode(msg, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	check(next)
	// Deletes do not matter, and renaming back mends it.
	back := session(t, tables, beginMsg(0x100), relationMsg(outbox()), relationMsg(moved),
		wire{'D'}.u32(16400).u8('K').tuple("1", nil, nil, nil), relationMsg(outbox()))
	if _, out, err := back.Decode(row, make([]byte, 0, len(row)), new(Event)); err != nil || out != OutcomeEvent {
		t.Errorf("after renaming back: outcome %d, %v", out, err)
	}
	// A twin in another schema that never was an outbox table is only counted.
	twin := session(t, tables, beginMsg(0x100), relationMsg(moved))
	if _, out, err := twin.Decode(row, nil, nil); err != nil || out != OutcomeOtherTable {
		t.Errorf("a twin: outcome %d, %v", out, err)
	}
}

// A table that had another name for a while is the same one, and its rows come
// under the name that it has.
func TestRenamedAndBack(t *testing.T) {
	moved := outbox()
	moved.Namespace = "s9"
	row := insertMsg(16400, "1", "t", "k", "{}")
	for title, tc := range map[string]struct {
		known  uint32
		looked LSN
		out    Outcome
	}{
		"this table":        {16400, 0x101, OutcomeEvent},
		"another":           {16401, 0x101, OutcomeOtherTable},
		"renamed afterward": {16400, 0x100, OutcomeOtherTable},
	} {
		t.Run(title, func(t *testing.T) {
			d := New(mustTables(t, "public.outbox", ""))
			d.Know(map[uint32]TableName{tc.known: {Schema: "public", Name: "outbox"}}, tc.looked)
			for _, msg := range []wire{beginMsg(0x100), relationMsg(moved)} {
				if _, _, err := d.Decode(msg, nil, nil); err != nil {
					t.Fatal(err)
				}
			}
			ev := new(Event)
			_, out, err := d.Decode(row, make([]byte, 0, len(row)), ev)
			if err != nil || out != tc.out {
				t.Fatalf("outcome %d, %v, want %d", out, err, tc.out)
			}
			if out == OutcomeEvent && (ev.Table.Name.String() != "public.outbox" || string(ev.Field(RoleID)) != "1") {
				t.Errorf("event %q of table %v", ev.Field(RoleID), ev.Table.Name)
			}
			if got := d.Relation().TableName().String(); got != "s9.outbox" {
				t.Errorf("the relation is %s, want the name on the wire", got)
			}
		})
	}
}

func TestNextSessionKnowsNoRelation(t *testing.T) {
	d := session(t, mustTables(t, "public.outbox", ""), beginMsg(0x100), relationMsg(outbox())).NextSession()
	if d.InTx() {
		t.Error("the next session begins in a transaction")
	}
	if _, _, err := d.Decode(beginMsg(0x80), nil, nil); err != nil {
		t.Fatalf("a re-sent transaction is refused: %v", err)
	}
	if _, _, err := d.Decode(insertMsg(16400, "1", "t", "k", "{}"), make([]byte, 0, 100), new(Event)); !errors.Is(err, ErrUnknownRelation) {
		t.Errorf("got %v", err)
	}
}
