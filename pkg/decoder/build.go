package decoder

import (
	"slices"
	"time"
)

// NewTable is a table whose columns have the given roles, for tests and tools
// that have no server. With nil it has a text column for each role, named as
// the role is.
func NewTable(name TableName, columns map[Role]Column) *Table {
	if columns == nil {
		columns = make(map[Role]Column)
		for _, r := range Roles() {
			columns[r] = Column{Name: r.String(), TypeOID: OIDText, TypeMod: -1}
		}
	}
	rel := &Relation{Namespace: name.Schema, Name: name.Name, ReplicaIdentity: 'd'}
	var roles []Role
	for _, r := range Roles() {
		if c, ok := columns[r]; ok {
			rel.Columns = append(rel.Columns, c)
			roles = append(roles, r)
		}
	}
	t := newTable(rel)
	for i, r := range roles {
		t.bind(r, i)
	}
	return t
}

// NewEvent is an event with the given fields, for tests and tools that have no
// server. A field that is nil or not in the map is NULL. The values are copied.
func NewEvent(t *Table, p Position, commit time.Time, fields map[Role][]byte) Event {
	ev := Event{Table: t, Position: p, CommitTime: commit}
	for _, r := range Roles() {
		if v := fields[r]; v != nil {
			start := len(ev.row)
			ev.row = append(ev.row, v...)
			ev.set(1<<r, start, len(ev.row))
		}
	}
	ev.row = slices.Clip(ev.row)
	return ev
}
