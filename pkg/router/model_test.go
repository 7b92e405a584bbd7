package router_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/outbox-cdc/outbox-cdc/pkg/router"
)

// The model: rules as values, decided in the plainest way.
type modelRule struct {
	globs []string
	conds []modelCond
	dests []string // "kafka:a.{tenant}", "stdout"; none is drop
	key   string   // a column; "" is the key column
}

type modelCond struct {
	field  string
	negate bool
	globs  []string
}

func modelGlobs(t *rapid.T, label string) []string {
	return rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("ab*? |;,#")), 1, 4, -1), 1, 3).Draw(t, label)
}

func drawRule(t *rapid.T) modelRule {
	r := modelRule{
		globs: modelGlobs(t, "pattern"),
		key:   rapid.SampledFrom([]string{"", "", "tenant", "aggregate_id"}).Draw(t, "key"),
		dests: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"kafka:a", "kafka:b.{tenant}", "stdout"}), 0, 3, rapid.ID[string]).Draw(t, "destinations"),
	}
	if len(r.dests) == 0 {
		r.key = ""
	}
	for range rapid.IntRange(0, 2).Draw(t, "conditions") {
		r.conds = append(r.conds, modelCond{
			field:  rapid.SampledFrom([]string{"tenant", "type", "table", "schema", "header:h", "aggregate_id"}).Draw(t, "field"),
			negate: rapid.Bool().Draw(t, "negate"), globs: modelGlobs(t, "want"),
		})
	}
	return r
}

// quoted writes a word in one of the ways that mean the same.
func quoted(t *rapid.T, text string) string {
	if !strings.ContainsAny(text, " |;,#") && rapid.Bool().Draw(t, "bare") {
		return text
	}
	return `"` + text + `"`
}

func drawAlternatives(t *rapid.T, globs []string) string {
	var all []string
	for _, g := range globs {
		all = append(all, quoted(t, g))
	}
	return strings.Join(all, "|")
}

// text prints the rule with any blanks, line ends and comments between.
func (r modelRule) text(t *rapid.T, name string) string {
	blank := func() string { return rapid.SampledFrom([]string{" ", "\t", "  "}).Draw(t, "blank") }
	goesOn := func() string { return rapid.SampledFrom([]string{" ", "\n\n ", " # why\r\n"}).Draw(t, "goes on") }
	words := []string{drawAlternatives(t, r.globs)}
	for _, c := range r.conds {
		op := map[bool]string{false: "=", true: "!="}[c.negate]
		words = append(words, c.field+op+drawAlternatives(t, c.globs))
	}
	dests := []string{"drop"}
	if len(r.dests) > 0 {
		dests = nil
	}
	for _, d := range r.dests {
		dests = append(dests, quoted(t, d))
	}
	words = append(words, "->"+goesOn()+strings.Join(dests, ","+goesOn()), "name="+name)
	if r.key != "" {
		words = append(words, "key={"+r.key+"}")
	}
	return strings.Join(words, blank()) + rapid.SampledFrom([]string{"\n", " ;", " # end\n"}).Draw(t, "end")
}

// anyGlob is the definition of a list of globs as a regular expression.
func anyGlob(globs []string, text string) bool {
	for _, g := range globs {
		expr := regexp.QuoteMeta(g)
		expr = strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(expr)
		if regexp.MustCompile("(?s)^(?:" + expr + ")$").MatchString(text) {
			return true
		}
	}
	return false
}

func (c modelCond) holds(ev row) bool {
	schema, bare, _ := strings.Cut(ev["table"], ".")
	var found bool
	switch c.field {
	case "table":
		found = anyGlob(c.globs, bare) || anyGlob(c.globs, ev["table"])
	case "schema":
		found = anyGlob(c.globs, schema)
	case "header:h":
		found = anyGlob(c.globs, strings.TrimSuffix(strings.TrimPrefix(ev["headers"], `{"h":"`), `"}`))
	default:
		found = anyGlob(c.globs, ev[c.field])
	}
	return found != c.negate
}

// decide is what the rules say, in the form of outcomeOf.
func decide(rules []modelRule, ev row) string {
next:
	for i, r := range rules {
		if !anyGlob(r.globs, ev["type"]) {
			continue
		}
		for _, c := range r.conds {
			if !c.holds(ev) {
				continue next
			}
		}
		targets := strings.Join(r.dests, ", ")
		if strings.Contains(targets, "{tenant}") && ev["tenant"] == "" {
			return router.ReasonEmptyField
		}
		key := "[" + ev["key"] + "]"
		if r.key != "" {
			key = "[" + ev[r.key] + "]"
			if ev[r.key] == "" {
				key = "-"
			}
		}
		return fmt.Sprintf("r%d %s %s", i, strings.ReplaceAll(targets, "{tenant}", ev["tenant"]), key)
	}
	return router.ReasonNoRoute
}

// Rules that are printed, parsed and compiled decide as their definition does.
func TestRouteAgreesWithTheModel(t *testing.T) {
	draw := func(t *rapid.T, label, letters string, least int) string {
		return rapid.StringOfN(rapid.RuneFrom([]rune(letters)), least, 4, -1).Draw(t, label)
	}
	rapid.Check(t, func(t *rapid.T) {
		var rules []modelRule
		text := ""
		for i := range rapid.IntRange(1, 5).Draw(t, "rules") {
			r := drawRule(t)
			line := r.text(t, fmt.Sprintf("r%d", i))
			// Rules that are never reached are refused: leave them out.
			if _, err := router.Parse(text + line); err != nil {
				if !strings.Contains(err.Error(), "never reached") {
					t.Fatalf("%q: %v", text+line, err)
				}
				r.globs, line = []string{"\x7f"}, ""
			}
			rules, text = append(rules, r), text+line
		}
		r := compile(t, text)
		for range 5 {
			ev := row{
				"type": draw(t, "type", "ab |,", 1), "tenant": draw(t, "tenant", "ab", 0), "aggregate_id": draw(t, "aggregate id", "ab ", 0), "key": "k",
				"table":   draw(t, "schema", "ab", 1) + "." + draw(t, "table", "ab", 1),
				"headers": `{"h":"` + draw(t, "header", "ab;#", 0) + `"}`,
			}
			if got, want := decision(t, r, ev), decide(rules, ev); got != want {
				t.Fatalf("%q on %v: got %s, want %s", text, ev, got, want)
			}
		}
	})
}
