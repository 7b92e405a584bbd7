package decoder

import (
	"errors"
	"fmt"
	"strings"
)

// MappingError is a configured table whose columns do not fit the roles.
type MappingError struct {
	Table TableName
	// Err joins a fault for each role that does not fit.
	Err error
}

// Error names the table and all faults, each with what to set.
func (e *MappingError) Error() string {
	return fmt.Sprintf("columns of outbox table %s: %v", e.Table, e.Err)
}

// Unwrap gives the faults.
func (e *MappingError) Unwrap() error { return e.Err }

// usualNames are the names by which the column of a role is found when nothing
// is set, the preferred first.
func usualNames(r Role) []string {
	switch r {
	case RoleID:
		return []string{"id", "event_id", "eventId"}
	case RoleType:
		return []string{"event_type", "eventType", "type"}
	case RoleKey:
		return []string{"partition_key", "partitionKey", "aggregateid", "aggregate_id", "aggregateId"}
	case RoleAggregateType:
		return []string{"aggregate_type", "aggregatetype", "aggregateType"}
	case RoleTrace:
		return []string{"traceparent"}
	case RolePayload, RoleAggregateID, RoleSequence, RoleSchemaVersion, RoleTenant,
		RoleCorrelationID, RoleHeaders, RoleCreatedAt, RoleOrder:
		return []string{r.String()}
	}
	return nil
}

// resolve finds the column of each role.
func resolve(rel *Relation, set roleColumns) (*Table, error) {
	t := newTable(rel)
	var faults []error
	for _, r := range Roles() {
		names := set[r]
		if names == nil {
			for _, n := range usualNames(r) {
				names = append(names, ident{text: n})
			}
		}
		i, err := findColumn(rel, r, names, set[r] == nil)
		switch {
		case err != nil:
			faults = append(faults, err)
		case i >= 0:
			t.bind(r, i)
		case r.Required():
			faults = append(faults, missing(t, r, names))
		}
	}
	if len(faults) > 0 {
		return nil, &MappingError{Table: t.Name, Err: errors.Join(faults...)}
	}
	return t, nil
}

// findColumn is the index of a role's column, or -1: the first of the names
// that a column has exactly; else the first that one has but for the case of
// ASCII letters. Two columns for the event id are an error unless it is set which:
// the wrong choice would go unnoticed and break every consumer's deduplication.
func findColumn(rel *Relation, r Role, names []ident, usual bool) (int, error) {
	single := usual && r == RoleID
	for _, fold := range []bool{false, true} {
		found := -1
		for _, n := range names {
			if found >= 0 && !single {
				break
			}
			for i := range rel.Columns {
				switch {
				case !n.is(rel.Columns[i].Name, fold) || i == found:
				case found < 0:
					found = i
				case fold || single:
					return -1, ambiguous(rel, r, found, i)
				}
			}
		}
		if found >= 0 {
			return found, nil
		}
	}
	return -1, nil
}

// is compares a written name with a column's.
func (id ident) is(column string, fold bool) bool {
	if !fold {
		return id.text == column
	}
	return !id.quoted && foldASCII(id.text) == foldASCII(column)
}

func ambiguous(rel *Relation, r Role, a, b int) error {
	x, y := rel.Columns[a].Name, rel.Columns[b].Name
	return fmt.Errorf("role %q could be column %q or %q; set OUTBOX_CDC_COLUMNS='%s: %s=%s'",
		r, clip(x), clip(y), rel.TableName(), r, quoteIdent(clip(y)))
}

// missing is the error for a required role without a column.
func missing(t *Table, r Role, names []ident) error {
	wanted := make([]string, 0, len(names)+1)
	for _, n := range names {
		wanted = append(wanted, n.text)
	}
	looked := clip(strings.Join(wanted, ", "))
	all := make([]string, 0, len(t.Relation.Columns))
	var free []string
	for i, c := range t.Relation.Columns {
		all = append(all, quoteIdent(clip(c.Name)))
		if t.uses[i].roles == 0 {
			free = append(free, c.Name)
		}
	}
	column, hint := "COLUMN", ""
	if n, ok := nearest(append(wanted, r.String()), free); ok {
		column, hint = quoteIdent(clip(n)), fmt.Sprintf(", the nearest is %q", clip(n))
	} else if len(all) > 0 {
		hint = ", there are " + clip(strings.Join(all, ", "))
	}
	return fmt.Errorf("no column for role %q: looked for %s%s; set OUTBOX_CDC_COLUMNS='%s: %s=%s'",
		r, looked, hint, t.Name, r, column)
}
