package router

import "slices"

// FanOut is how many records the rule makes of one event; 0 for drop.
func (r *Rule) FanOut() int { return len(r.dests) }

// Uses tells whether the rule has a destination of this kind of sink.
func (r *Rule) Uses(sink string) bool {
	return slices.ContainsFunc(r.dests, func(d dest) bool { return d.sink == sink })
}
