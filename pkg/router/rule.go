package router

import (
	"slices"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// Rule is one compiled rule. It never changes.
type Rule struct {
	// Name is the metric label: the option name, else the pattern, with the
	// conditions behind it where several rules have the same pattern.
	Name string
	// Pattern is the event type pattern as written, without quotes.
	Pattern string
	// Line is where the rule begins, from 1.
	Line int
	// Format is the option format; "" is the default format.
	Format string

	types pattern
	fixed []cond    // what table and event type decide
	conds []cond    // what must be asked for each event
	key   *template // nil: the key column
	dests []dest    // empty: drop

	condText          string // the conditions as written, without quotes
	at, nameAt, keyAt place
	named, anyName    bool
}

// unconditional tells that the rule takes every event.
func (r *Rule) unconditional() bool {
	return r.types.any() && len(r.fixed) == 0 && len(r.conds) == 0
}

// matchesFixed decides what table and event type decide.
func (r *Rule) matchesFixed(ev *decoder.Event, eventType, scratch []byte) bool {
	if !r.types.match(eventType) {
		return false
	}
	for i := range r.fixed {
		// Fixed fields never read the headers column: no error is possible.
		if ok, _ := r.fixed[i].holds(ev, scratch); !ok {
			return false
		}
	}
	return true
}

// matchesRest decides the other conditions.
func (r *Rule) matchesRest(ev *decoder.Event, scratch []byte) (bool, error) {
	for i := range r.conds {
		if ok, err := r.conds[i].holds(ev, scratch); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// meaning is a rule's pattern and conditions in a form that is equal for equal
// ones. It is made once: every rule is compared with all before it.
type meaning struct {
	all   bool
	types string
	conds []string
}

func (r *Rule) meaning() meaning {
	m := meaning{all: r.unconditional(), types: r.types.canonical()}
	for _, list := range [][]cond{r.fixed, r.conds} {
		for i := range list {
			m.conds = append(m.conds, list[i].canonical())
		}
	}
	return m
}

// shadows tells that a rule of meaning m, standing before a later one,
// certainly takes all of its events: it takes everything, or it has the same
// pattern and no condition that the later one does not have too.
func (m *meaning) shadows(later *meaning) bool {
	if m.all {
		return true
	}
	if m.types != later.types {
		return false
	}
	for _, c := range m.conds {
		if !slices.Contains(later.conds, c) {
			return false
		}
	}
	return true
}
