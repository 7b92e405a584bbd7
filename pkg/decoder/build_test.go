package decoder

import (
	"testing"
	"time"
)

func TestNewTable(t *testing.T) {
	name := TableName{Schema: "public", Name: "outbox"}
	all := NewTable(name, nil)
	for _, r := range Roles() {
		column, typ, ok := all.Column(r)
		if column != r.String() || typ != OIDText || !ok {
			t.Errorf("%v: got %q of type %d, %t", r, column, typ, ok)
		}
	}
	few := NewTable(name, map[Role]Column{RoleID: {Name: "eid", TypeOID: OIDUUID}, RoleSequence: {Name: "n", TypeOID: OIDInt8}})
	if few.Name != name || few.Relation.TableName() != name {
		t.Errorf("the table is %v", few.Name)
	}
	if column, typ, ok := few.Column(RoleSequence); column != "n" || typ != OIDInt8 || !ok {
		t.Errorf("got %q of type %d, %t", column, typ, ok)
	}
	for _, r := range []Role{RoleType, 0, NumRoles, 255} {
		if column, _, ok := few.Column(r); ok || column != "" {
			t.Errorf("role %d: got column %q", r, column)
		}
	}
}

func TestNewEvent(t *testing.T) {
	table := NewTable(TableName{Schema: "public", Name: "outbox"}, nil)
	pos, at := Position{Commit: 5, Ordinal: 1}, time.Unix(1, 0)
	id := []byte("1")
	ev := NewEvent(table, pos, at, map[Role][]byte{RoleID: id, RoleType: {}, RoleKey: nil, RoleTrace: []byte("00-ab")})
	id[0] = 'x'
	if ev.Table != table || ev.Position != pos || !ev.CommitTime.Equal(at) || ev.Size() != 6 {
		t.Errorf("got %+v", ev)
	}
	for r, want := range map[Role]string{RoleID: "1", RoleType: "", RoleTrace: "00-ab"} {
		if v := ev.Field(r); v == nil || string(v) != want || cap(v) != len(v) {
			t.Errorf("%v: got %q, want %q", r, v, want)
		}
	}
	for _, r := range []Role{RoleKey, RolePayload} {
		if v := ev.Field(r); v != nil {
			t.Errorf("%v: got %q, want nil", r, v)
		}
	}
}
