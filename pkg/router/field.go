package router

import (
	"slices"
	"strings"

	"github.com/outbox-cdc/outbox-cdc/internal/rowheaders"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

type fieldKind uint8

const (
	fieldRole fieldKind = iota + 1
	fieldTable
	fieldSchema
	fieldPosition
	fieldHeader
)

// headerPrefix starts the name of a field that is one of the row's own headers.
const headerPrefix = "header:"

// field is what a condition asks about and a template renders.
type field struct {
	kind   fieldKind
	role   decoder.Role // of fieldRole
	header string       // of fieldHeader
}

// fieldNames lists what a rule may name, for hints.
func fieldNames() []string {
	var names []string
	for _, r := range decoder.Roles() {
		names = append(names, r.String())
	}
	return append(names, "table", "schema", "position", headerPrefix+"NAME")
}

// parseField reads a field's name; on a fault it reports it and ok is false.
func parseField(w word, f *faults) (fl field, ok bool) {
	switch w.text {
	case "":
		f.add(w.at, "want one of "+strings.Join(fieldNames(), ", "), `a field's name is missing`)
		return field{}, false
	case "table":
		return field{kind: fieldTable}, true
	case "schema":
		return field{kind: fieldSchema}, true
	case "position":
		return field{kind: fieldPosition}, true
	}
	if name, found := strings.CutPrefix(w.text, headerPrefix); found {
		if name == "" {
			f.add(w.at, `write "header:NAME"`, `a header's name is missing`)
			return field{}, false
		}
		return field{kind: fieldHeader, header: name}, true
	}
	if r, found := decoder.ParseRole(w.text); found {
		return field{kind: fieldRole, role: r}, true
	}
	if slices.Contains(optionNames(), w.text) {
		f.add(w.at, "options stand behind the destinations", "%s is an option", quote(w.text))
		return field{}, false
	}
	f.add(w.at, didYouMean(w.text, fieldNames()), "unknown field %s", quote(w.text))
	return field{}, false
}

// String is the field's name in rules.
func (f field) String() string {
	switch f.kind {
	case fieldRole:
		return f.role.String()
	case fieldTable:
		return "table"
	case fieldSchema:
		return "schema"
	case fieldPosition:
		return "position"
	case fieldHeader:
		return headerPrefix + f.header
	}
	return ""
}

// fixed tells that the field depends on nothing but table and event type.
func (f field) fixed() bool {
	return f.kind == fieldTable || f.kind == fieldSchema || f.kind == fieldRole && f.role == decoder.RoleType
}

// value is the field's text, empty for an absent one. It may live in the
// event or in scratch, whose contents are overwritten. The error is about the
// row's headers column.
func (f field) value(ev *decoder.Event, scratch []byte) ([]byte, error) {
	switch f.kind {
	case fieldRole:
		return ev.Field(f.role), nil
	case fieldTable:
		return append(scratch[:0], ev.Table.Name.Name...), nil
	case fieldSchema:
		return append(scratch[:0], ev.Table.Name.Schema...), nil
	case fieldPosition:
		return ev.Position.AppendText(scratch[:0])
	case fieldHeader:
		return headerValue(ev.Field(decoder.RoleHeaders), f.header)
	}
	return nil, nil
}

// headerValue finds a row header. Of a repeated name the last one counts, as
// it does for jsonb and for most readers of JSON.
func headerValue(column []byte, name string) (value []byte, err error) {
	if column == nil {
		return nil, nil
	}
	s := rowheaders.Scan(column)
	for m, ok := s.Next(); ok; m, ok = s.Next() {
		if string(m.Name) != name {
			continue
		}
		value = m.Value
		if m.Null {
			value = nil
		}
	}
	return slices.Clip(value), s.Err()
}
