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

// shadows tells that r, standing before later, certainly takes all of its
// events: it takes everything, or it has the same pattern and no condition
// that later does not have too.
func (r *Rule) shadows(later *Rule) bool {
	if r.unconditional() {
		return true
	}
	if r.types.canonical() != later.types.canonical() {
		return false
	}
	theirs := later.canonicalConds()
	for _, c := range r.canonicalConds() {
		if !slices.Contains(theirs, c) {
			return false
		}
	}
	return true
}

func (r *Rule) canonicalConds() []string {
	var all []string
	for _, list := range [][]cond{r.fixed, r.conds} {
		for i := range list {
			all = append(all, list[i].canonical())
		}
	}
	return all
}

// FanOut is how many records the rule makes of one event; 0 for drop.
func (r *Rule) FanOut() int { return len(r.dests) }

// Uses tells whether the rule has a destination of this kind of sink.
func (r *Rule) Uses(sink string) bool {
	return slices.ContainsFunc(r.dests, func(d dest) bool { return d.sink == sink })
}
