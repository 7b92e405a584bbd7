package decoder

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// model is a server that writes random transactions, and the events that a
// decoder must make of them.
type model struct {
	t      *rapid.T
	lsn    LSN
	rels   map[uint32]*Relation
	msgs   []wire
	events []modelEvent
	// commits are the transactions' commit and end LSNs.
	commits [][2]LSN
}

type modelEvent struct {
	table  string
	pos    Position
	fields map[Role][]byte
}

// modelColumns are the columns that the tables of the model can have, with
// the role that each has in the mapping of the model.
var modelColumns = []struct {
	name string
	role Role
}{
	{"id", RoleID},
	{"event_type", RoleType},
	{"partition_key", RoleKey},
	{"payload", RolePayload},
	{"tenant", RoleTenant},
	{"headers", RoleHeaders},
	{"note", 0},
	{"status", 0},
}

var modelTables = map[uint32]string{1: "outbox", 2: "outbox2", 3: "orders"}

func (s *model) send(w wire) { s.msgs = append(s.msgs, w) }

// describe sends a table's description, with its optional columns and their
// order drawn anew.
func (s *model) describe(oid uint32) {
	rel := &Relation{ID: oid, Namespace: "public", Name: modelTables[oid]}
	for i, c := range modelColumns {
		if i < 4 || rapid.Bool().Draw(s.t, "has "+c.name) {
			rel.Columns = append(rel.Columns, Column{Name: c.name, TypeOID: OIDText, TypeMod: -1})
		}
	}
	rel.Columns = rapid.Permutation(rel.Columns).Draw(s.t, "columns")
	s.rels[oid] = rel
	s.send(relationMsg(rel))
}

// values are a row of the relation: text or NULL.
func (s *model) values(rel *Relation) []any {
	row := make([]any, len(rel.Columns))
	for i := range row {
		if rapid.IntRange(0, 3).Draw(s.t, "null") > 0 {
			row[i] = rapid.StringN(0, 8, 16).Draw(s.t, "value")
		}
	}
	return row
}

func (s *model) insert(rel *Relation, commit LSN, ordinal *uint64) {
	row := s.values(rel)
	s.send(insertMsg(rel.ID, row...))
	if rel.Name == "orders" {
		return
	}
	*ordinal++
	ev := modelEvent{table: "public." + rel.Name, pos: Position{Commit: commit, Ordinal: *ordinal}, fields: map[Role][]byte{}}
	for i, c := range rel.Columns {
		for _, mc := range modelColumns {
			if v, text := row[i].(string); text && mc.role != 0 && mc.name == c.Name {
				ev.fields[mc.role] = []byte(v)
			}
		}
	}
	s.events = append(s.events, ev)
}

// transaction sends one with a few random messages in it.
func (s *model) transaction() {
	s.lsn += LSN(rapid.IntRange(0, 1000).Draw(s.t, "gap"))
	commit := s.lsn
	s.send(beginMsg(commit))
	var ordinal uint64
	for range rapid.IntRange(0, 8).Draw(s.t, "messages") {
		oid := rapid.SampledFrom([]uint32{1, 2, 3}).Draw(s.t, "table")
		if s.rels[oid] == nil || rapid.IntRange(0, 4).Draw(s.t, "changed") == 0 {
			s.describe(oid)
		}
		rel := s.rels[oid]
		switch rapid.IntRange(0, 8).Draw(s.t, "message") {
		case 0:
			s.send(wire{'U'}.u32(oid).u8('O').tuple(s.values(rel)...).u8('N').tuple(s.values(rel)...))
		case 1:
			s.send(wire{'D'}.u32(oid).u8('K').tuple(s.values(rel)...))
		case 2:
			s.send(wire{'T'}.u32(1).u8(0).u32(oid))
		case 3:
			s.send(wire{'M', 1}.u64(uint64(commit)).str("p").value("x"))
		default:
			s.insert(rel, commit, &ordinal)
		}
	}
	s.lsn += LSN(rapid.IntRange(1, 100).Draw(s.t, "commit record"))
	s.send(commitMsg(commit, s.lsn))
	s.commits = append(s.commits, [2]LSN{commit, s.lsn})
	if rapid.Bool().Draw(s.t, "between") {
		s.send(wire{'M', 0}.u64(uint64(s.lsn)).str("p").value("outside"))
		s.send(wire{'A'}.u32(9).u32(10))
	}
}

// TestSessionModel: whatever the transactions, the events are those rows of
// outbox tables that were written, in their order, with their values; and their
// bytes stay as they are while more is decoded into the same arena.
func TestSessionModel(t *testing.T) {
	tables := mustTables(t, "public.outbox, public.outbox2", "")
	rapid.Check(t, func(t *rapid.T) {
		s := &model{t: t, lsn: 1, rels: map[uint32]*Relation{}}
		for range rapid.IntRange(1, 6).Draw(t, "transactions") {
			s.transaction()
		}
		d := New(tables)
		arena := make([]byte, 0, len(slices.Concat(s.msgs...)))
		buffer := make([]byte, cap(arena)+1) // the connection's, used again for each message
		var events []Event
		var commits [][2]LSN
		for _, msg := range s.msgs {
			var ev Event
			longer, out, err := d.Decode(buffer[:copy(buffer, msg)], arena, &ev)
			if err != nil {
				t.Fatalf("%v: %v", Kind(msg[0]), err)
			}
			arena = longer
			switch out {
			case OutcomeEvent:
				events = append(events, ev)
			case OutcomeCommit:
				commit, end, _ := d.LastCommit()
				commits = append(commits, [2]LSN{commit, end})
			case OutcomeBegin, OutcomeOtherTable, OutcomeIgnoredOp, OutcomeRelation, OutcomeIgnored:
			}
		}
		if !slices.Equal(commits, s.commits) || len(events) != len(s.events) {
			t.Fatalf("got commits %v and %d events, want %v and %d", commits, len(events), s.commits, len(s.events))
		}
		for i, want := range s.events {
			if diff := want.compare(&events[i]); diff != "" {
				t.Fatalf("event %d: %s", i, diff)
			}
		}
	})
}

func (want *modelEvent) compare(got *Event) string {
	if got.Position != want.pos || got.Table.Name.String() != want.table {
		return fmt.Sprintf("got %v of %v, want %v of %s", got.Position, got.Table.Name, want.pos, want.table)
	}
	for _, r := range Roles() {
		if v := got.Field(r); !bytes.Equal(v, want.fields[r]) || (v == nil) != (want.fields[r] == nil) {
			return fmt.Sprintf("%v: got %q, want %q", r, v, want.fields[r])
		}
	}
	return ""
}
