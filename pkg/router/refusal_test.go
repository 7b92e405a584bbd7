package router_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/outbox-cdc/outbox-cdc/pkg/router"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// Whatever can't be delivered is poison with a fixed reason and a text that
// says which event, why, and what to do.
func TestRouteRefuses(t *testing.T) {
	long := strings.Repeat("n", 10_000)
	tests := []struct {
		name, rules string
		event       row
		reason      string
		rule        string
		text        string
	}{
		{
			"NULL id", "* -> kafka:x",
			row{"id": "-", "type": "a"},
			router.ReasonNullID, "",
			`router "public.outbox": event "" of type "a" at 00000016/B374D848:0000000007: the id is empty or NULL; every event needs an id; make the column NOT NULL and mend the writer`,
		},
		{"empty id", "* -> kafka:x", row{"id": "", "type": "a"}, router.ReasonNullID, "", ""},
		{"NULL id under drop", "* -> drop", row{"id": "-", "type": "a"}, router.ReasonNullID, "", ""},
		{
			"NULL type", "* -> kafka:x",
			row{"type": "-"},
			router.ReasonNullType, "",
			`router "public.outbox": event "e-1" of type "" at 00000016/B374D848:0000000007: the event type is empty or NULL; every event needs a type; make the column NOT NULL and mend the writer`,
		},
		{"empty type", "* -> kafka:x", row{"type": ""}, router.ReasonNullType, "", ""},
		{"empty type under drop", "* -> drop", row{"type": ""}, router.ReasonNullType, "", ""},
		{"both NULL", "* -> drop", row{"id": "-", "type": "-"}, router.ReasonNullID, "", ""},
		{
			"no rule", "a -> kafka:x",
			row{"type": "b"},
			router.ReasonNoRoute, "",
			`router "public.outbox": event "e-1" of type "b" at 00000016/B374D848:0000000007: no rule matches; add a rule for it, or a last one for all: "* -> kafka:TOPIC"`,
		},
		{"no rule for a strange table", "a -> kafka:x", row{"type": "b", "table": "My Schema.Out\"box"}, router.ReasonNoRoute, "", ""},

		{
			"NULL field in a topic", "* -> kafka:t.{tenant} name=n",
			row{"type": "a"},
			router.ReasonEmptyField, "n",
			`kafka "t.{tenant}": event "e-1" of type "a" at 00000016/B374D848:0000000007: field tenant is empty or NULL; fill the column, or route such events by a rule of their own`,
		},
		{"empty field in a topic", "* -> kafka:t.{tenant}", row{"type": "a", "tenant": ""}, router.ReasonEmptyField, "*", ""},
		{"empty field under a filter", "* -> kafka:t.{tenant|hash}", row{"type": "a"}, router.ReasonEmptyField, "*", ""},
		{"absent header in a topic", "* -> kafka:t.{header:x}", row{"type": "a", "headers": `{}`}, router.ReasonEmptyField, "*", ""},
		{"second of two destinations", "* -> kafka:x, kafka:t.{tenant}", row{"type": "a"}, router.ReasonEmptyField, "*", ""},

		{
			"space", "* -> kafka:t.{type}",
			row{"type": "Order Created"},
			router.ReasonIllegalName, "*",
			`kafka "t.{type}": event "e-1" of type "Order Created" at 00000016/B374D848:0000000007: the topic's name "t.Order Created" holds " "; a topic's name is made of letters, digits, ".", "_" and "-"; mend the writer, or use the filter hash`,
		},
		{"slash", "* -> kafka:t.{type}", row{"type": "order/created"}, router.ReasonIllegalName, "*", ""},
		{"other letters", "* -> kafka:t.{type}", row{"type": "Ördèr"}, router.ReasonIllegalName, "*", ""},
		{"colon", "* -> kafka:t.{type}", row{"type": "a:b"}, router.ReasonIllegalName, "*", ""},
		{"zero", "* -> kafka:t.{key}", row{"type": "a", "key": "x\x00"}, router.ReasonIllegalName, "*", ""},
		{"not UTF-8", "* -> kafka:t.{key}", row{"type": "a", "key": "x\xff"}, router.ReasonIllegalName, "*", ""},
		{"line end", "* -> kafka:t.{type}", row{"type": "a\r\nb"}, router.ReasonIllegalName, "*", ""},
		{"dot", "* -> kafka:{type} any_name=true", row{"type": "."}, router.ReasonIllegalName, "*", ""},
		{"two dots", "* -> kafka:{type} any_name=true", row{"type": ".."}, router.ReasonIllegalName, "*", ""},
		{"two dots of two parts", "* -> kafka:.{type}", row{"type": "."}, router.ReasonIllegalName, "*", ""},
		{
			"internal topic", "* -> kafka:{type} any_name=true",
			row{"type": "__consumer_offsets"},
			router.ReasonIllegalName, "*",
			`kafka "{type}": event "e-1" of type "__consumer_offsets" at 00000016/B374D848:0000000007: the topic's name "__consumer_offsets" starts with "__", as internal topics do; mend the writer, or use the filter hash`,
		},
		{"internal prefix made of two parts", "* -> kafka:_{type}", row{"type": "_x"}, router.ReasonIllegalName, "*", ""},
		{"249 and one", "* -> kafka:p.{type}", row{"type": strings.Repeat("n", 248)}, router.ReasonIllegalName, "*", ""},
		{
			"10 kB", "* -> kafka:p.{type}",
			row{"type": long},
			router.ReasonIllegalName, "*",
			`kafka "p.{type}": event "e-1" of type "` + long[:128] + `"... at 00000016/B374D848:0000000007: the topic's name has more than 249 characters; shorten the field with the filter hash`,
		},
		{"10 kB lowered", "* -> kafka:p.{type|lower}", row{"type": long}, router.ReasonIllegalName, "*", ""},

		{
			"headers not JSON, in a condition", "* header:x=1 -> kafka:x",
			row{"type": "a", "headers": `{"x":`},
			router.ReasonBadHeaders, "*",
			`router "public.outbox": event "e-1" of type "a" at 00000016/B374D848:0000000007: the headers column is not valid JSON; mend the writer: the column holds one JSON object`,
		},
		{"headers an array", "* header:x=1 -> kafka:x", row{"type": "a", "headers": `[]`}, router.ReasonBadHeaders, "*", ""},
		{"headers bad behind the wanted one", "* header:x=1 -> kafka:x", row{"type": "a", "headers": `{"x":"1","y":"\ud800"}`}, router.ReasonBadHeaders, "*", ""},
		{"headers in a topic", "* -> kafka:t.{header:x}", row{"type": "a", "headers": `"x"`}, router.ReasonBadHeaders, "*", ""},
		{"headers in a key", "* -> kafka:t key={header:x}", row{"type": "a", "headers": `7`}, router.ReasonBadHeaders, "*", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := compile(t, tt.rules)
			for range 2 {
				checkRefusal(t, r, tt.event, tt.reason, tt.rule, tt.text)
			}
		})
	}
}

func checkRefusal(t *testing.T, r *router.Router, of row, reason, rule, text string) {
	t.Helper()
	d := router.Decision{Key: []byte("old"), Targets: []router.Target{{Sink: "old"}}}
	buf, err := r.Route(event(t, of), &d, []byte("kept"))
	var e *sink.Error
	if !errors.As(err, &e) || e.Kind != sink.Poison || e.Scope != sink.ScopeRecord || e.Reason != reason {
		t.Fatalf("got %#v, want poison of reason %s", err, reason)
	}
	if e.Sink == "" || e.Destination == "" || e.Remedy == "" {
		t.Errorf("incomplete: %#v", e)
	}
	if text != "" && err.Error() != text {
		t.Errorf("got\n%s\nwant\n%s", err, text)
	}
	if s := err.Error(); strings.ContainsAny(s, "\r\n\x00") || len(s) > 1000 || !utf8.ValidString(s) {
		t.Errorf("unfit for a log line: %q", s)
	}
	name := ""
	if d.Rule != nil {
		name = d.Rule.Name
	}
	if name != rule || d.Key != nil || len(d.Targets) != 0 || string(buf) != "kept" {
		t.Errorf("decision %+v of rule %q and buffer %q are left behind, want rule %q only", d, name, buf, rule)
	}
}

// Payload, key and headers must not show in an error, even where a template
// names them.
func TestRefusalShowsNoPayload(t *testing.T) {
	secret := row{"type": "b", "payload": "a canary", "key": "a canary", "headers": `{"h":"a canary"}`}
	for _, rules := range []string{
		"a -> kafka:x", "* -> kafka:t.{payload}", "* -> kafka:t.{payload|lower}", "* -> kafka:t.{key}",
		"* -> kafka:t.{headers}", "* -> kafka:t.{header:h}",
	} {
		var d router.Decision
		_, err := compile(t, rules).Route(event(t, secret), &d, nil)
		if err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", rules, err)
		}
	}
}
