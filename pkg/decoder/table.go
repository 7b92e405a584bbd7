package decoder

import (
	"errors"
	"fmt"
)

// Tables are the configured outbox tables with their column mapping. They do
// not change; any number of goroutines may use them.
type Tables struct {
	names   []TableName
	mapping Mapping
}

// NewTables joins the tables and the mapping. Each part of the mapping must be
// for a table that is listed.
func NewTables(names []TableName, m Mapping) (*Tables, error) {
	if len(names) == 0 {
		return nil, errors.New("no outbox table is configured")
	}
	var faults []error
	for i := range m.sections {
		sec := &m.sections[i]
		used := false
		texts := make([]string, len(names))
		for j, n := range names {
			used = used || sec.table.same(n)
			texts[j] = n.String()
		}
		if !used {
			faults = append(faults, fmt.Errorf("column mapping: table %s is not one of the outbox tables%s",
				sec.table, didYouMean(sec.table.String(), texts)))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return &Tables{names: append([]TableName(nil), names...), mapping: m}, nil
}

// Names are the configured tables as they were given. The caller owns the slice.
func (t *Tables) Names() []TableName { return append([]TableName(nil), t.names...) }

// Match finds the configured name that stands for this schema and table,
// exact names first; ok is false for a table that is not configured.
func (t *Tables) Match(schema, name string) (configured TableName, ok bool) {
	for _, n := range t.names {
		exact, folded := n.Matches(schema, name)
		if exact {
			return n, true
		}
		if folded && !ok {
			configured, ok = n, true
		}
	}
	return configured, ok
}

// Resolve finds the columns of a relation. The table is nil, without an error,
// for a relation that is not configured. The error, a *MappingError, is about a
// configured one whose columns do not fit.
func (t *Tables) Resolve(rel *Relation) (*Table, error) {
	name := rel.TableName()
	configured, ok := t.Match(name.Schema, name.Name)
	if !ok {
		return nil, nil //nolint:nilnil // both nil is the answer "not configured".
	}
	return resolve(rel, t.mapping.forTable(configured))
}

// Table is one version of an outbox table: a relation and which of its columns
// mean what. It does not change; any number of goroutines may use it.
type Table struct {
	// Name is the table's name in the catalog.
	Name TableName
	// Relation is the description that this was made from.
	Relation *Relation

	// column is the index of each role's column plus one; 0 for none.
	column [NumRoles]int
	// uses has what is to be done with each of the relation's columns.
	uses []use
}

// use says which roles a column has, as a bit set, and how it is decoded.
type use struct {
	roles uint32
	bytea bool
}

// Column is the column that has a role: its name and type; for a domain over a
// built-in type the base type. ok is false where the table has none.
func (t *Table) Column(r Role) (name string, typeOID uint32, ok bool) {
	if int(r) >= len(t.column) || t.column[r] == 0 {
		return "", 0, false
	}
	c := &t.Relation.Columns[t.column[r]-1]
	return c.Name, c.TypeOID, true
}

// bind gives a column a role.
func (t *Table) bind(r Role, column int) {
	t.column[r] = column + 1
	t.uses[column].roles |= 1 << r
}

// newTable is a table without any roles yet.
func newTable(rel *Relation) *Table {
	t := &Table{Name: rel.TableName(), Relation: rel, uses: make([]use, len(rel.Columns))}
	for i := range rel.Columns {
		t.uses[i].bytea = rel.Columns[i].TypeOID == OIDBytea
	}
	return t
}
