package pipeline

import (
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/router"
)

// givenUp tells whether the operator gave the event up, and says so once. Such an
// event has no record: the position passes it with its transaction. rule is nil
// where none is known.
func (r *reader) givenUp(pos decoder.Position, id []byte, rule *router.Rule) bool {
	found, other := r.p.skips.find(pos, id)
	if other != nil {
		r.p.cfg.Log.Warn("OUTBOX_CDC_SKIP names an event that this is not; it is not skipped",
			"entry", other.String(), "position", pos.String(), "event_id", clip(string(id)))
	}
	if found == nil {
		return false
	}
	r.gen.resume.took(pos)
	if found.done {
		return true
	}
	found.done = true
	name, counter := "", &r.p.counters.skipped
	if rule != nil {
		name, counter = rule.Name, &r.p.counters.routes[r.p.routeIndex(rule)].skipped
	}
	counter.Add(1)
	r.p.cfg.Log.Warn("the event is skipped, as OUTBOX_CDC_SKIP says", "position", pos.String(), "event_id", found.EventID, "route", name)
	return true
}
