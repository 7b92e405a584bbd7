package router

import (
	"slices"
	"strconv"
	"strings"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// cond is "field=pattern" or "field!=pattern".
type cond struct {
	field  field
	negate bool
	want   pattern
}

// parseCond reads one condition; on a fault it reports it and ok is false.
func parseCond(w word, f *faults) (c cond, ok bool) {
	eq := w.index('=')
	if eq < 0 {
		f.add(w.at, `a condition is "field=pattern" or "field!=pattern", and "->" stands before the destinations`, "%s is no condition", quoteWord(w.text))
		return cond{}, false
	}
	end := eq
	if eq > 0 && w.text[eq-1] == '!' && !w.marks[eq-1].quoted {
		end--
		c.negate = true
	}
	c.field, ok = parseField(w.slice(0, end), f)
	c.want = newPattern(w.slice(eq+1, len(w.text)))
	return c, ok
}

// holds decides the condition for an event.
func (c *cond) holds(ev *decoder.Event, scratch []byte) (bool, error) {
	if c.field.kind == fieldTable {
		return c.want.matchTable(ev.Table.Name) != c.negate, nil
	}
	v, err := c.field.value(ev, scratch)
	if err != nil {
		return false, err
	}
	return c.want.match(v) != c.negate, nil
}

// matchTable takes a table by its bare name or by "schema.name".
func (p pattern) matchTable(name decoder.TableName) bool {
	return p.match([]byte(name.Name)) || p.match([]byte(name.Schema+"."+name.Name))
}

// canonical is equal for conditions that mean the same.
func (c *cond) canonical() string {
	op := "="
	if c.negate {
		op = "!="
	}
	return c.field.String() + op + c.want.canonical()
}

// canonical is equal for patterns with the same alternatives.
func (p pattern) canonical() string {
	parts := make([]string, len(p))
	for i, g := range p {
		parts[i] = strconv.Quote(g.text)
	}
	slices.Sort(parts)
	return strings.Join(slices.Compact(parts), "|")
}
