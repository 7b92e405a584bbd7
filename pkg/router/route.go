package router

import (
	"slices"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// Decision is what the rules say about one event. Route overwrites all of it
// and re-uses Targets.
type Decision struct {
	// Rule is the first that matched. After an error it is the rule that
	// could not be followed, or nil.
	Rule *Rule
	// Key is the partition key; nil is "no key". It points into the event or
	// into Route's buffer.
	Key []byte
	// Targets are the destinations, all of which must store the event; the
	// rule's order, each once. It is empty for "drop" and after an error.
	Targets []Target
}

// Route decides for one event. Where a key has to be rendered it is appended
// to buf; buf is returned, extended. Repeated events cost no allocation.
//
// An error is a *sink.Error of kind Poison and scope ScopeRecord with one of
// the Reason constants: the event can't be delivered as the rules are. An
// empty or NULL id or type is refused before any rule is looked at.
func (r *Router) Route(ev *decoder.Event, d *Decision, buf []byte) ([]byte, error) {
	d.Rule, d.Key, d.Targets = nil, nil, d.Targets[:0]
	if len(ev.Field(decoder.RoleID)) == 0 {
		return buf, refuse(ev, ReasonNullID, "the id is empty or NULL", "every event needs an id; make the column NOT NULL and mend the writer")
	}
	if len(ev.Field(decoder.RoleType)) == 0 {
		return buf, refuse(ev, ReasonNullType, "the event type is empty or NULL", "every event needs a type; make the column NOT NULL and mend the writer")
	}
	for _, rule := range r.candidates(ev) {
		ok, err := rule.matchesRest(ev, r.scratch)
		if err != nil {
			d.Rule = rule
			return buf, refuseHeaders(ev, err)
		}
		if ok {
			d.Rule = rule
			return r.follow(rule, ev, d, buf)
		}
	}
	return buf, refuse(ev, ReasonNoRoute, "no rule matches", `add a rule for it, or a last one for all: "* -> kafka:TOPIC"`)
}

// follow fills key and targets as the rule says.
func (r *Router) follow(rule *Rule, ev *decoder.Event, d *Decision, buf []byte) ([]byte, error) {
	for i := range rule.dests {
		t := rule.dests[i].target
		if t.Sink == "" {
			var err error
			if t, err = r.render(&rule.dests[i], ev); err != nil {
				d.Targets = d.Targets[:0]
				return buf, err
			}
		}
		// Two templates may give one name; the event goes there once.
		if !slices.Contains(d.Targets, t) {
			d.Targets = append(d.Targets, t)
		}
	}
	buf, err := r.key(rule, ev, d, buf)
	if err != nil {
		d.Targets = d.Targets[:0]
		return buf, refuseHeaders(ev, err)
	}
	return buf, nil
}

// key sets the decision's key.
func (r *Router) key(rule *Rule, ev *decoder.Event, d *Decision, buf []byte) ([]byte, error) {
	if rule.key == nil {
		d.Key = ev.Field(decoder.RoleKey)
		return buf, nil
	}
	if role, ok := rule.key.column(); ok {
		if v := ev.Field(role); len(v) > 0 {
			d.Key = v
		}
		return buf, nil
	}
	start := len(buf)
	buf, err := rule.key.appendText(buf, ev, r.scratch)
	if err != nil {
		return buf[:start], err
	}
	if len(buf) > start {
		d.Key = buf[start:len(buf):len(buf)]
	}
	return buf, nil
}

// render gives the target of a template.
func (r *Router) render(to *dest, ev *decoder.Event) (Target, error) {
	name, err := to.name.appendName(r.name[:0], ev, r.scratch, maxTopic)
	if err != nil {
		return Target{}, refuseRendering(to, ev, err)
	}
	known, ok := r.names.Get(lookup(name))
	if !ok {
		known = string(name)
		if fault := renderedTopicFault(known); fault != "" {
			what := "the topic's name is illegal"
			if !to.name.private() {
				what = "the topic's name " + quote(known) + " " + fault
			}
			return Target{}, refuseName(to, ev, ReasonIllegalName, what, "mend the writer, or use the filter hash")
		}
		r.names.Add(known, known)
	}
	return Target{Sink: to.sink, Destination: known}, nil
}
