package decoder

import (
	"fmt"
	"slices"
	"strings"
)

// Mapping names columns for roles: for all tables, and for single ones. The
// zero Mapping leaves every role to be found by its usual names.
type Mapping struct {
	all      roleColumns
	sections []section
}

// roleColumns has the alternatives of each role, in the order in which they
// are tried; nil for a role that was not set.
type roleColumns [NumRoles][]ident

type section struct {
	table TableName
	cols  roleColumns
}

// ParseMapping reads OUTBOX_CDC_COLUMNS:
//
//	id=event_id, type=kind|event_type; billing.outbox: id=eid, key="Kunden-Nr"
//
// Parts are separated by semicolons. The first may be without a table, and is
// then for all tables; a role that a table's part sets replaces that of the
// first part. Columns are written as SQL identifiers; alternatives are tried
// in their order, for each version of the table anew. The error joins all
// faults, each with its place.
func ParseMapping(text string) (Mapping, error) {
	s := scanner{what: "column mapping", text: text}
	var m Mapping
	for first := true; ; first = false {
		if !s.end() && s.peek() != ';' {
			s.section(&m, first)
		}
		s.skipTo(";")
		if !s.take(';') {
			break
		}
	}
	if err := s.err(); err != nil {
		return Mapping{}, err
	}
	return m, nil
}

// section reads one part: a table's name and a colon, if any, and roles.
func (s *scanner) section(m *Mapping, first bool) {
	at := s.off
	id, ok := s.ident("role or table")
	if !ok {
		return
	}
	if c := s.peek(); c != '.' && c != ':' {
		if !first {
			s.fault(at, "only the first part is for all tables; begin the others with a table, as in \"public.outbox: id=event_id\"")
			return
		}
		s.off = at
		s.roles(&m.all)
		return
	}
	table, ok := s.tableAfter(id)
	if !ok {
		return
	}
	if !s.take(':') {
		s.fault(s.off, "want a colon after the table, as in \"public.outbox: id=event_id\"")
		return
	}
	sec := section{table: table}
	for i := range m.sections {
		if m.sections[i].table.plain() == table.plain() {
			s.fault(at, "table %s has two parts; join them", table)
		}
	}
	s.roles(&sec.cols)
	m.sections = append(m.sections, sec)
}

// roles reads role=column|column, role=column, ... up to the part's end.
func (s *scanner) roles(cols *roleColumns) {
	for {
		s.role(cols)
		s.skipTo(",;")
		if !s.take(',') {
			return
		}
	}
}

func (s *scanner) role(cols *roleColumns) {
	s.peek()
	at := s.off
	id, ok := s.ident("role")
	if !ok {
		return
	}
	r, known := ParseRole(id.text)
	if !known {
		s.fault(at, "there is no role %q%s", clip(id.text), didYouMean(id.text, roleNames[1:]))
	} else if cols[r] != nil {
		s.fault(at, "role %q is set twice; separate alternatives with |", r)
	}
	if !s.take('=') {
		s.fault(s.off, "want = and a column after %q", clip(id.text))
		return
	}
	for {
		c, ok := s.ident("column")
		if !ok {
			return
		}
		cols[r] = append(cols[r], c)
		if !s.take('|') {
			break
		}
	}
	if c := s.peek(); s.off < len(s.text) && c != ',' && c != ';' {
		s.fault(s.off, "want a comma between roles, got %s; quote names that hold more than letters, digits, _ and $", s.next())
	}
}

// didYouMean is the end of an error about a name that is not in names.
func didYouMean(name string, names []string) string {
	if n, ok := nearest([]string{name}, names); ok {
		return fmt.Sprintf("; did you mean %q?", clip(n))
	}
	sorted := slices.Sorted(slices.Values(names))
	return "; there are " + clip(strings.Join(sorted, " "))
}

// forTable is what is set for a table: its own part over the part for all.
func (m *Mapping) forTable(n TableName) roleColumns {
	cols := m.all
	for i := range m.sections {
		if m.sections[i].table.same(n) {
			for r, alts := range m.sections[i].cols {
				if alts != nil {
					cols[r] = alts
				}
			}
		}
	}
	return cols
}

// same tells whether two written names can mean one table.
func (n TableName) same(o TableName) bool {
	_, a := n.Matches(o.Schema, o.Name)
	_, b := o.Matches(n.Schema, n.Name)
	return a || b
}
