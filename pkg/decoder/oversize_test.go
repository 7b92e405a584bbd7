package decoder

import (
	"errors"
	"strings"
	"testing"
)

func TestOversized(t *testing.T) {
	tables := mustTables(t, "public.outbox", "")
	moved := outbox()
	moved.Namespace = "s9"
	broken := outbox()
	broken.Columns = broken.Columns[:2]
	begin, relation := beginMsg(0x100), relationMsg(outbox())
	row := insertMsg(16400, "1", "t", "k", strings.Repeat("x", 100))
	tests := []struct {
		name   string
		before []wire
		head   wire
		event  bool
		err    error
	}{
		{"outbox row", []wire{begin, relation, row}, row[:20], true, nil},
		{"head only", []wire{begin, relation, row}, row[:5], true, nil},
		{"other table", []wire{begin, otherMsg()}, insertMsg(otherOID, "x"), false, nil},
		{"update", []wire{begin, relation}, wire{'U'}.u32(16400), false, nil},
		{"delete", []wire{begin, relation}, wire{'D'}.u32(16400), false, nil},
		{"logical message", nil, wire{'M', 0}.u64(1), false, nil},
		{"short", []wire{begin, relation}, row[:4], false, errShort},
		{"unknown relation", []wire{begin}, row, false, ErrUnknownRelation},
		{"outside", nil, row, false, ErrNoTransaction},
		{"begin", nil, begin, false, ErrTooLarge},
		{"two-phase", nil, wire{'P'}.u64(1), false, ErrTwoPhase},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := session(t, tables, tt.before...)
			ev, err := d.Oversized(tt.head)
			if !errors.Is(err, tt.err) || (ev != nil) != tt.event {
				t.Fatalf("got %v, %v; want an event %t, %v", ev, err, tt.event, tt.err)
			}
			if ev == nil {
				return
			}
			if want := (Position{Commit: 0x100, Ordinal: 2}); ev.Position != want || ev.Table != d.Table() || ev.XID != testXID || !ev.CommitTime.Equal(wireTime) {
				t.Errorf("got %+v", ev)
			}
			if ev.Size() != 0 || ev.Field(RoleID) != nil {
				t.Errorf("the event has %d bytes", ev.Size())
			}
			// The row after it has the next number, as in a session that could read both.
			var next Event
			if _, _, err := d.Decode(row, make([]byte, 0, len(row)), &next); err != nil || next.Position.Ordinal != 3 {
				t.Errorf("the next row is %v, %v", next.Position, err)
			}
		})
	}
	var renamed *RenamedError
	if ev, err := session(t, tables, begin, relation, relationMsg(moved)).Oversized(row); ev != nil || !errors.As(err, &renamed) {
		t.Errorf("renamed: got %v, %v", ev, err)
	}
	var mapping *MappingError
	if ev, err := session(t, tables, begin, relationMsg(broken)).Oversized(row); ev != nil || !errors.As(err, &mapping) {
		t.Errorf("unmappable: got %v, %v", ev, err)
	}
}
