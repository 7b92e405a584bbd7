package decoder

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

var wireTime = time.UnixMicro(postgresEpoch + testTime).UTC()

func TestParse(t *testing.T) {
	rel := outbox("tenant")
	tests := []struct {
		name string
		msg  wire
		want Message
	}{
		{"begin", beginMsg(0x16B374D848), Message{Kind: KindBegin, FinalLSN: 0x16B374D848, CommitTime: wireTime, XID: testXID}},
		{"commit", commitMsg(0x10, 0x20), Message{Kind: KindCommit, CommitLSN: 0x10, EndLSN: 0x20, CommitTime: wireTime}},
		{"origin", wire{'O'}.u64(0x1234).str("up"), Message{Kind: KindOrigin, CommitLSN: 0x1234, Name: []byte("up")}},
		{"relation", relationMsg(rel), Message{Kind: KindRelation, Relation: rel}},
		{"type", wire{'Y'}.u32(16385).str("").str("text"), Message{Kind: KindType, OID: 16385, Namespace: []byte{}, Name: []byte("text")}},
		{"truncate", wire{'T'}.u32(2).u8(3).u32(7).u32(8), Message{Kind: KindTruncate, Truncated: []uint32{7, 8}}},
		{
			"transactional message", wire{'M'}.u8(1).u64(0x30).str("p").value("xy"),
			Message{Kind: KindMessage, Transactional: true, LSN: 0x30, Prefix: []byte("p"), Content: []byte("xy")},
		},
		{"message", wire{'M'}.u8(0).u64(0x30).str("").value(""), Message{Kind: KindMessage, LSN: 0x30, Prefix: []byte{}, Content: []byte{}}},
		{"stream abort", wire{'A'}.u32(5).u32(6), Message{Kind: KindStreamAbort, XID: 5, SubXID: 6}},
	}
	// One Message for all: nothing of one may be left in the next.
	var m Message
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := Parse(insertMsg(1, "x", nil), &m); err != nil {
				t.Fatal(err)
			}
			if err := Parse(tt.msg, &m); err != nil {
				t.Fatal(err)
			}
			got := m
			if len(got.Truncated) == 0 {
				got.Truncated = nil
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func TestParseRows(t *testing.T) {
	tests := []struct {
		name     string
		msg      wire
		old, new string
	}{
		{"insert", insertMsg(9, "a", nil, ""), "()", `("a", null, "")`},
		{"insert of no columns", insertMsg(9), "()", "()"},
		{"update", wire{'U'}.u32(9).u8('N').tuple("a", ValueUnchanged), "()", `("a", unchanged)`},
		{"update with key", wire{'U'}.u32(9).u8('K').tuple("k", nil).u8('N').tuple("a", "b"), `("k", null)`, `("a", "b")`},
		{"update with old row", wire{'U'}.u32(9).u8('O').tuple("k", "l").u8('N').tuple("a", "b"), `("k", "l")`, `("a", "b")`},
		{"delete by key", wire{'D'}.u32(9).u8('K').tuple("k", nil), `("k", null)`, "()"},
		{"delete of a row", wire{'D'}.u32(9).u8('O').tuple("k", ValueBinary), `("k", "")`, "()"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var m Message
			if err := Parse(tt.msg, &m); err != nil {
				t.Fatal(err)
			}
			if m.OID != 9 || dumpTuple(m.Old) != tt.old || dumpTuple(m.New) != tt.new {
				t.Errorf("got relation %d, old %s, new %s; want 9, %s, %s", m.OID, dumpTuple(m.Old), dumpTuple(m.New), tt.old, tt.new)
			}
			columns := 0
			for c := m.New.Cursor(); c.Next(); columns++ {
				if cap(c.Value) != len(c.Value) {
					t.Errorf("column %d: appending to the value would overwrite the message", columns)
				}
			}
			if columns != m.New.Len() {
				t.Errorf("the cursor gave %d columns of %d", columns, m.New.Len())
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct {
		name   string
		msg    wire
		err    error
		offset int
	}{
		{"empty", wire{}, errEmpty, 0},
		{"unknown kind", wire{'Z', 1}, ErrUnknownKind, 0},
		{"begin prepare", wire{'b'}.u64(1), ErrTwoPhase, 0},
		{"prepare", wire{'P'}, ErrTwoPhase, 0},
		{"commit prepared", wire{'K'}, ErrTwoPhase, 0},
		{"rollback prepared", wire{'r'}, ErrTwoPhase, 0},
		{"stream prepare", wire{'p'}, ErrTwoPhase, 0},
		{"stream start", wire{'S'}, ErrStreaming, 0},
		{"stream stop", wire{'E'}, ErrStreaming, 0},
		{"stream commit", wire{'c'}, ErrStreaming, 0},
		{"commit flags", wire{'C', 1}.u64(1).u64(2).u64(3), errFlags, 1},
		{"message flags", wire{'M', 2}.u64(1).str("").value(""), errFlags, 1},
		{"truncate flags", wire{'T'}.u32(0).u8(4), errFlags, 5},
		{"column flags", wire{'R'}.u32(1).str("").str("t").u8('d').u16(1).u8(2).str("c").u32(1).u32(1), errFlags, 11},
		{"trailing byte", append(beginMsg(1), 0), errTrailing, 21},
		{"insert without N", wire{'I'}.u32(1).u8('O').tuple("a"), errTuple, 5},
		{"delete with N", wire{'D'}.u32(1).u8('N').tuple("a"), errOldTuple, 5},
		{"update without N", wire{'U'}.u32(1).u8('K').tuple("a").u8('K').tuple("a"), errTuple, 14},
		{"unknown value", wire{'I'}.u32(1).u8('N').u16(1).u8('x'), errColumn, 8},
		{"more columns than bytes", wire{'I'}.u32(1).u8('N').u16(0xFFFF).u8('n'), errShort, 8},
		{"negative length", wire{'I'}.u32(1).u8('N').u16(1).u8('t').u32(0xFFFFFFFF), errShort, 9},
		{"length above the rest", wire{'I'}.u32(1).u8('N').u16(1).u8('t').u32(2).u8('a'), errShort, 9},
		{"negative content", wire{'M', 0}.u64(1).str("").u32(0x80000000), errShort, 11},
		{"name without end", wire{'O'}.u64(1).u8('a'), errShort, 9},
		{"more relations than bytes", wire{'T'}.u32(0x40000000).u8(0), errShort, 6},
		{"more columns than the relation has bytes", wire{'R'}.u32(1).str("").str("t").u8('d').u16(2).u8(0).str("c").u32(1).u32(1), errShort, 11},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Parse(tt.msg, new(Message))
			var e *ParseError
			if !errors.Is(err, tt.err) || !errors.As(err, &e) {
				t.Fatalf("got %v, want %v", err, tt.err)
			}
			if e.Offset != tt.offset {
				t.Errorf("the fault is placed at %d, want %d: %v", e.Offset, tt.offset, err)
			}
		})
	}
}

// TestParseTruncated cuts real messages of all kinds at every place: a message
// that lacks a byte is never taken for one.
func TestParseTruncated(t *testing.T) {
	seen := map[Kind]int{}
	for _, file := range goldenFiles(t) {
		for _, line := range goldenLines(t, file) {
			if len(line.msg) == 0 || seen[Kind(line.msg[0])] > 20 {
				continue
			}
			seen[Kind(line.msg[0])]++
			for n := range line.msg {
				if err := Parse(line.msg[:n], new(Message)); err == nil {
					t.Fatalf("%x is taken for a message although %d bytes are missing", line.msg[:n], len(line.msg)-n)
				}
			}
			if err := Parse(append(bytes.Clone(line.msg), 0), new(Message)); !errors.Is(err, errTrailing) {
				t.Fatalf("%x with one byte more gave %v", line.msg, err)
			}
		}
	}
	for _, k := range []Kind{
		KindBegin, KindCommit, KindOrigin, KindRelation, KindType, KindInsert,
		KindUpdate, KindDelete, KindTruncate, KindMessage, KindStreamAbort,
	} {
		if seen[k] == 0 {
			t.Errorf("no real %v was tried", k)
		}
	}
}

func TestParseErrorHasNoData(t *testing.T) {
	msg := wire{'I'}.u32(1).u8('N').u16(2).u8('t').value("s3cret").u8('x')
	err := Parse(msg, new(Message))
	if err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v", err)
	}
	if want := "parse pgoutput Insert at byte 19: unknown kind of column value"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	if got := Parse(wire{0xFF}, new(Message)).Error(); got != `parse pgoutput message 'ÿ' at byte 0: unknown kind of message` &&
		got != `parse pgoutput message '\u00ff' at byte 0: unknown kind of message` {
		t.Errorf("got %q", got)
	}
}

func TestParseAllocations(t *testing.T) {
	var m Message
	for _, line := range goldenLines(t, "testdata/golden/pg18.txt") {
		if len(line.msg) == 0 || Kind(line.msg[0]) == KindRelation {
			continue
		}
		if err := Parse(line.msg, &m); err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(10, func() {
			if err := Parse(line.msg, &m); err != nil {
				t.Error(err)
			}
		}); n != 0 {
			t.Errorf("%v: %v allocations", m.Kind, n)
		}
	}
}
