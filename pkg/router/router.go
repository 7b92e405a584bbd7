package router

import (
	"cmp"
	"slices"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// Router decides where events go. Route must be called by one goroutine at a
// time; the other methods may be called by any.
type Router struct {
	rules  []*Rule
	routes *simplelru.LRU[routeKey, []*Rule]
	// names holds rendered topics that were found legal, so that a name is
	// checked and allocated once.
	names   *simplelru.LRU[string, string]
	name    []byte // a name while it is rendered
	scratch []byte // a field's value while it is looked at
}

// Option changes a Router's bounds.
type Option func(*bounds)

type bounds struct{ routes, names int }

// WithRouteCache bounds the decisions that are remembered, one for each pair
// of table and event type; the default is DefaultRouteCache.
func WithRouteCache(entries int) Option { return func(b *bounds) { b.routes = entries } }

// WithNameCache bounds the rendered names that are remembered; the default is
// DefaultNameCache.
func WithNameCache(entries int) Option { return func(b *bounds) { b.names = entries } }

// New parses and compiles the rules of docs/routing.md. The error joins a
// *SyntaxError for every fault of the text.
func New(text string, options ...Option) (*Router, error) {
	rules, err := Parse(text)
	if err != nil {
		return nil, err
	}
	b := bounds{routes: DefaultRouteCache, names: DefaultNameCache}
	for _, o := range options {
		o(&b)
	}
	return &Router{
		rules:  rules,
		routes: newLRU[routeKey, []*Rule](b.routes),
		names:  newLRU[string, string](b.names),
		// Both hold all that can be cached, without growing.
		name:    make([]byte, 0, 2*maxTopic),
		scratch: make([]byte, 0, 2*maxTopic),
	}, nil
}

// Rules lists the rules in their order. The caller must not change the list.
func (r *Router) Rules() []*Rule { return r.rules }

// Literals lists the topics that no field takes part in, each once, in the
// order of the rules. They can be checked before any event is seen.
func (r *Router) Literals() []Target {
	var all []Target
	for _, rule := range r.rules {
		for _, d := range rule.dests {
			if d.target.Destination != "" && !slices.Contains(all, d.target) {
				all = append(all, d.target)
			}
		}
	}
	return all
}

// Sinks lists the kinds of sinks that the rules use, sorted.
func (r *Router) Sinks() []string {
	var all []string
	for _, rule := range r.rules {
		for _, d := range rule.dests {
			all = append(all, d.sink)
		}
	}
	slices.SortFunc(all, cmp.Compare)
	return slices.Compact(all)
}

// candidates are the rules that table and event type leave, in their order,
// up to the first that asks for nothing else.
func (r *Router) candidates(ev *decoder.Event) []*Rule {
	eventType := ev.Field(decoder.RoleType)
	key := routeKey{ev.Table, lookup(eventType)}
	if found, ok := r.routes.Get(key); ok {
		return found
	}
	var found []*Rule
	for _, rule := range r.rules {
		if !rule.matchesFixed(ev, eventType, r.scratch) {
			continue
		}
		found = append(found, rule)
		if len(rule.conds) == 0 {
			break
		}
	}
	if len(eventType) <= maxCachedType {
		r.routes.Add(routeKey{ev.Table, string(eventType)}, found)
	}
	return found
}
