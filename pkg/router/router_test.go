package router_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/router"
)

func TestLiteralsAndSinks(t *testing.T) {
	tests := []struct {
		name, rules, literals string
		sinks                 []string
	}{
		{"none", "* -> drop", "", nil},
		{"stdout has no name", "* -> stdout", "", []string{"stdout"}},
		{"templates are no literals", "* -> kafka:t.{tenant}", "", []string{"kafka"}},
		{"each once, in the order of the rules", "a -> kafka:z, stdout; b -> kafka:y, kafka:z; c -> kafka:x.{id}; * -> drop", "kafka:z, kafka:y", []string{"kafka", "stdout"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := compile(t, tt.rules)
			if got := show(r.Literals()); got != tt.literals {
				t.Errorf("literals %q, want %q", got, tt.literals)
			}
			if got := r.Sinks(); !slices.Equal(got, tt.sinks) {
				t.Errorf("sinks %q, want %q", got, tt.sinks)
			}
		})
	}
}

func TestRules(t *testing.T) {
	r := compile(t, "a|b -> stdout name=first\n\n* -> drop")
	var got []string
	for _, rule := range r.Rules() {
		got = append(got, fmt.Sprintf("%d %s %s", rule.Line, rule.Name, rule.Pattern))
	}
	if want := []string{"1 first a|b", "3 * *"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNewRefusesAsParseDoes(t *testing.T) {
	r, err := router.New("a -> nowhere")
	_, want := router.Parse("a -> nowhere")
	if r != nil || err == nil || err.Error() != want.Error() {
		t.Errorf("router %v, %v, want %v", r, err, want)
	}
}

// Caches may change what a decision costs, never what it is: a router with
// room for one entry, a large one and a new one for each event agree.
func TestCachesDoNotShow(t *testing.T) {
	const rules = `a* tenant=x|y -> kafka:1
		a? table=s1.t1|t2 -> kafka:2.{tenant|lower} key={type}/{tenant}
		*b schema!=s1 header:h=1 -> kafka:3.{type}, kafka:3.{tenant}
		b* -> drop
		?* tenant!=  -> kafka:{tenant}.x any_name=true`
	some := func(t *rapid.T, label string, from ...string) string { return rapid.SampledFrom(from).Draw(t, label) }
	rapid.Check(t, func(t *rapid.T) {
		tiny := compile(t, rules, router.WithRouteCache(1), router.WithNameCache(0))
		large := compile(t, rules)
		for range rapid.IntRange(1, 20).Draw(t, "events") {
			ev := event(t, row{
				"type":    some(t, "type", "a", "ab", "b", "bb", "c", "ca"),
				"tenant":  some(t, "tenant", "-", "", "x", "X", "y", "not legal"),
				"table":   some(t, "table", "s1.t1", "s1.t2", "s2.t1"),
				"headers": some(t, "headers", "-", `{"h":1}`, `{"h":2}`, "[]"),
			})
			want := outcome(compile(t, rules), ev)
			for name, r := range map[string]*router.Router{"tiny": tiny, "large": large} {
				if got := outcome(r, ev); got != want {
					t.Fatalf("%s: got %s, want %s", name, got, want)
				}
			}
		}
	})
}

func outcome(r *router.Router, ev *decoder.Event) string {
	var d router.Decision
	_, err := r.Route(ev, &d, nil)
	rule := ""
	if d.Rule != nil {
		rule = d.Rule.Name
	}
	return fmt.Sprintf("rule %q to %q key %s: %v", rule, show(d.Targets), showKey(d.Key), err)
}

// Texts from rows must not grow the router without bound.
func TestLongTypesAreNotRemembered(t *testing.T) {
	r := compile(t, "a* tenant=x -> kafka:x; a* -> kafka:y")
	for i := range 3 {
		long := "a" + strings.Repeat("b", 300+i)
		for _, tenant := range []string{"x", "z"} {
			want := map[string]string{"x": "kafka:x", "z": "kafka:y"}[tenant]
			if got, _ := route(t, r, event(t, row{"type": long, "tenant": tenant})); got != want {
				t.Errorf("tenant %s: %s", tenant, got)
			}
		}
	}
}
