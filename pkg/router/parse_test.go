package router_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/outbox-cdc/outbox-cdc/pkg/router"
)

// Every fault that one rule can have. "¶" in the wanted text stands for the
// list of all fields.
func TestParseFaults(t *testing.T) {
	tests := []struct{ name, rules, want string }{
		// Words.
		{"open quote", `"a -> kafka:x`, "line 1, column 1: this quote is never closed; close it on the same line\n" +
			`line 1, column 14: "->" is missing; a rule is "PATTERN -> DESTINATION" on one line`},
		{"unknown escape", `"a\n" -> kafka:x`, `line 1, column 3: unknown escape; inside quotes write \" for a quote and \\ for a backslash`},
		{"dollar brace", `a -> kafka:${TOPIC}`, "line 1, column 12: \"${\" is refused; shells and compose files eat it; write the value itself, or \"{field}\" for a field of the event"},
		{"dollar brace in quotes", `"${X}" -> kafka:x`, `line 1, column 2: "${" is refused; shells and compose files eat it; write the value itself, or "{field}" for a field of the event`},
		{"control character", "a\x01 -> kafka:x", `line 1, column 2: control character U+0001; remove it`},
		{"no-break space", "a\u00a0-> kafka:x", "line 1, column 2: invisible character U+00A0; use an ordinary space, or quote it\n" +
			`line 1, column 3: "->" touches a word; put a space on both sides of it, or quote what holds it`},
		{"not UTF-8", "a\xff -> kafka:x", `line 1, column 2: not UTF-8; save the rules as UTF-8`},
		{"columns count characters", `"ключ" х=y -> kafka:x`, `line 1, column 8: unknown field "х"; want one of ¶`},
		{"glued arrow", `a->kafka:x`, `line 1, column 2: "->" touches a word; put a space on both sides of it, or quote what holds it`},
		{"arrow glued to the destination", `a ->kafka:x`, `line 1, column 3: "->" touches a word; put a space on both sides of it, or quote what holds it`},

		// Structure.
		{"nothing", "", `line 1, column 1: there is no rule; write at least one, such as "* -> kafka:outbox.events"`},
		{"only a comment", " # -> a\n\n;;", `line 1, column 1: there is no rule; write at least one, such as "* -> kafka:outbox.events"`},
		{"no pattern", `-> kafka:x`, `line 1, column 1: an event type pattern is missing; a rule is "PATTERN -> DESTINATION"`},
		{"condition first", `tenant=a -> kafka:x`, `line 1, column 1: an event type pattern is missing; begin the rule with one, as "* tenant=acme -> ...", or quote a "=" that belongs to an event type`},
		{"empty alternative", `a||b -> kafka:x`, `line 1, column 3: an alternative is empty; no event has an empty type; remove the "|", or quote one that belongs to an event type`},
		{"no arrow", "a kafka:x\nb -> kafka:y", "line 1, column 3: \"kafka:x\" is no condition; a condition is \"field=pattern\" or \"field!=pattern\", and \"->\" stands before the destinations\n" +
			`line 1, column 10: "->" is missing; a rule is "PATTERN -> DESTINATION" on one line`},
		{"comma between patterns", `a, b -> kafka:x`, `line 1, column 2: "," before "->"; alternatives are separated by "|"; quote a "," that belongs to a name`},
		{"no destination", "a ->", `line 1, column 5: a destination is missing; write "kafka:TOPIC", "stdout" or "drop"`},
		{"no destination before the next rule", "a -> ; b -> stdout", `line 1, column 6: a destination is missing; write "kafka:TOPIC", "stdout" or "drop"`},
		{"comma at the end", "a -> kafka:x,", `line 1, column 14: a destination is missing; write "kafka:TOPIC", "stdout" or "drop"`},
		{"two arrows", "a -> kafka:x -> kafka:y", `line 1, column 14: a second "->" after the destinations; destinations stand before options; quote what belongs to a value`},
		{"comma behind an option", "a -> kafka:x key=a, kafka:y", `line 1, column 19: "," after the destinations; destinations stand before options; quote what belongs to a value`},

		// Conditions.
		{"unknown field", "* tennant=a -> kafka:x", `line 1, column 3: unknown field "tennant"; did you mean "tenant"?`},
		{"empty field", "* =a -> kafka:x", "line 1, column 3: a field's name is missing; want one of ¶"},
		{"header without a name", "* header:=a -> kafka:x", `line 1, column 3: a header's name is missing; write "header:NAME"`},

		// Destinations.
		{"unknown word", "a -> stdot", `line 1, column 6: unknown destination "stdot"; did you mean "stdout"?`},
		{"topic without a kind", "a -> orders", `line 1, column 6: unknown destination "orders"; write "kafka:TOPIC", "stdout" or "drop"`},
		{"unknown kind", "a -> kafak:x", `line 1, column 6: unknown kind of destination "kafak"; did you mean "kafka"?`},
		{"kind far from all", "a -> rabbitmq:x", `line 1, column 6: unknown kind of destination "rabbitmq"; want one of kafka, sqs, https, http`},
		{"second cluster", "a -> kafka@eu:x", `line 1, column 6: "scheme@name:" is reserved for a second cluster or account, not in this version; deliver to one cluster only, as "kafka:NAME"`},
		{"sqs", "a -> sqs:x", `line 1, column 6: destinations of kind "sqs" are not in this version; deliver to "kafka:TOPIC" or "stdout"`},
		{"https", "a -> https://user:secret@host/x", `line 1, column 6: destinations of kind "https" are not in this version; deliver to "kafka:TOPIC" or "stdout"`},
		{"http", "a -> http://host/x", `line 1, column 6: destinations of kind "http" are not in this version; deliver to "kafka:TOPIC" or "stdout"`},
		{"table", "a -> table", `line 1, column 6: "table" is a dead-letter destination only, and those are not in this version; deliver to "kafka:TOPIC" or "stdout"`},
		{"drop and more", "a -> kafka:x, drop", `line 1, column 15: "drop" stands alone; remove it, or the other destinations`},
		{"drop with a key", "a -> drop key={id}", `line 1, column 11: "drop" has no use for a key; remove it`},
		{"twice the same", "a -> kafka:x, stdout, kafka:x, stdout", "line 1, column 23: destination \"kafka:x\" is named twice; remove one\n" +
			`line 1, column 32: destination "stdout" is named twice; remove one`},
		{"empty topic", "a -> kafka:", `line 1, column 12: topic "" is empty; choose another name`},
		{"topic .", "a -> kafka:.", `line 1, column 12: topic "." is "." or "..", which brokers refuse; choose another name`},
		{"topic ..", "a -> kafka:..", `line 1, column 12: topic ".." is "." or "..", which brokers refuse; choose another name`},
		{"internal topic", "a -> kafka:__consumer_offsets", `line 1, column 12: topic "__consumer_offsets" is an internal topic of Kafka; choose another name`},
		{"illegal character", "a -> kafka:orders/eu", `line 1, column 12: topic "orders/eu" holds "/"; a topic's name is made of letters, digits, ".", "_" and "-"; choose another name`},
		{"illegal letter", "a -> kafka:Ördèr", `line 1, column 12: topic "Ördèr" holds "Ö"; a topic's name is made of letters, digits, ".", "_" and "-"; choose another name`},
		{"topic of 250", "a -> kafka:" + strings.Repeat("n", 250), `line 1, column 12: topic "` + strings.Repeat("n", 128) + `"... has 250 characters; brokers take 249; choose another name`},

		// Templates.
		{"unknown field in a topic", "a -> kafka:t.{aggregat_type}", `line 1, column 15: unknown field "aggregat_type"; did you mean "aggregate_type"?`},
		{"empty braces", "a -> kafka:t.{}", "line 1, column 15: a field's name is missing; want one of ¶"},
		{"unknown filter", "a -> kafka:t.{tenant|lover}", `line 1, column 22: unknown filter "lover"; did you mean "lower"?`},
		{"empty filter", "a -> kafka:t.{tenant|}", `line 1, column 22: unknown filter ""; want one of lower, upper, hash`},
		{"open brace", "a -> kafka:t.{tenant", `line 1, column 14: "{" is never closed; close it with "}", or write "{{" for a literal brace`},
		{"brace in a brace", "a -> kafka:t.{a{b}}", `line 1, column 14: "{" is never closed; close it with "}", or write "{{" for a literal brace`},
		{"closing brace alone", "a -> kafka:t.}x", `line 1, column 14: "}" without "{"; write "}}" for a literal brace`},
		{"literal brace in a topic", "a -> kafka:t.{{", `line 1, column 12: topic "t.{" holds "{"; a topic's name is made of letters, digits, ".", "_" and "-"; choose another name`},
		{"illegal character beside a field", "a -> kafka:t/{tenant}", `line 1, column 12: topic "t/{tenant}" holds "/"; a topic's name is made of letters, digits, ".", "_" and "-"; change it`},
		{"position in a topic", "a -> kafka:t.{position}", `line 1, column 14: a position holds "/" and ":", which no topic's name may; write "{position|hash}"`},
		{"internal prefix", "a -> kafka:__{tenant}", `line 1, column 12: topic "__{tenant}" starts with "__", as internal topics do; choose another prefix`},
		{"no literal prefix", "a -> kafka:{tenant}.x", `line 1, column 12: the topic's name begins with data, so a row could name any topic; put literal text before it, as "kafka:events.{tenant}", or say any_name=true`},
		{"no literal prefix but any_name=false", "a -> kafka:{tenant} any_name=false", `line 1, column 12: the topic's name begins with data, so a row could name any topic; put literal text before it, as "kafka:events.{tenant}", or say any_name=true`},
		{"unknown field in a key", `a -> kafka:x key="a {idd}"`, `line 1, column 22: unknown field "idd"; did you mean "id"?`},

		// Options.
		{"unknown option", "a -> kafka:x fromat=raw", `line 1, column 14: unknown option "fromat"; did you mean "format"?`},
		{"no option", "a -> kafka:x kafka:y", `line 1, column 14: "kafka:y" is no option; an option is "name=value", and destinations are separated by ","`},
		{"repeated option", "a -> kafka:x key=a key=b", `line 1, column 20: option "key" is repeated; keep one`},
		{"empty name", "a -> kafka:x name=", `line 1, column 14: "name=" is empty; give the rule a label for its metrics`},
		{"any_name maybe", "a -> kafka:x any_name=yes", `line 1, column 23: any_name is "yes"; write "true" or "false"`},
		{"format of later", "a -> kafka:x format=debezium", `line 1, column 21: format "debezium" is not in this version; write "raw" or "envelope"`},
		{"no format", "a -> kafka:x format=envelop", `line 1, column 21: unknown format "envelop"; did you mean "envelope"?`},
		{"dedup", "a -> kafka:x dedup={position}", `line 1, column 14: option "dedup" is not in this version; remove it`},
		{"max_bytes", "a -> kafka:x max_bytes=", `line 1, column 14: option "max_bytes" is not in this version; remove it`},
		{"oversize", "a -> kafka:x oversize=https://h/x", `line 1, column 14: option "oversize" is not in this version; remove it`},
		{"dead_letter", "a -> kafka:x dead_letter=table", `line 1, column 14: option "dead_letter" is not in this version; remove it`},
		{"on_poison", "a -> kafka:x on_poison=dead_letter", `line 1, column 14: option "on_poison" is not in this version; remove it, or write "on_poison=halt"`},
		{"null_payload", "a -> kafka:x null_payload=tombstone", `line 1, column 14: option "null_payload" is not in this version; remove it, or write "null_payload=halt"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rules, err := router.Parse(tt.rules)
			if err == nil {
				t.Fatalf("accepted: %d rules", len(rules))
			}
			want := strings.ReplaceAll(tt.want, "¶", allFields)
			if err.Error() != want {
				t.Errorf("got\n%s\nwant\n%s", err, want)
			}
		})
	}
}

const allFields = "id, type, key, payload, aggregate_type, aggregate_id, sequence, schema_version, tenant, correlation_id, trace, headers, created_at, order, table, schema, position, header:NAME"

// What only several rules together can have wrong.
func TestParseFaultsBetweenRules(t *testing.T) {
	tests := []struct{ name, rules, want string }{
		{"behind a star", "* -> kafka:x\na -> kafka:y\nb -> kafka:z", "line 2, column 1: this rule is never reached: the one at line 1 (\"*\") takes all its events; move it up, or remove it\n" +
			`line 3, column 1: this rule is never reached: the one at line 1 ("*") takes all its events; move it up, or remove it`},
		{"behind a star among alternatives", "a|** -> kafka:x; b -> kafka:y", `line 1, column 18: this rule is never reached: the one at line 1 ("a|**") takes all its events; move it up, or remove it`},
		{"same pattern", "a -> kafka:x\na -> kafka:y", `line 2, column 1: this rule is never reached: the one at line 1 ("a") takes all its events; move it up, or remove it`},
		{"an option before the arrow", "a -> kafka:x\nb name=y -> kafka:y", `line 2, column 3: "name" is an option; options stand behind the destinations`},
		{"same alternatives", "a|b -> kafka:x\nb|a|a -> kafka:y name=y", `line 2, column 1: this rule is never reached: the one at line 1 ("a|b") takes all its events; move it up, or remove it`},
		{"same pattern with a condition more", "a -> kafka:x\na tenant=t -> kafka:y", `line 2, column 1: this rule is never reached: the one at line 1 ("a") takes all its events; move it up, or remove it`},
		{"same conditions", "a tenant=t|u id!=x -> kafka:x\na id!=x tenant=u|t -> kafka:y name=y", `line 2, column 1: this rule is never reached: the one at line 1 ("a") takes all its events; move it up, or remove it`},
		{"two labels", "a -> kafka:x name=n\nb -> kafka:y name=n", `line 2, column 14: the label "n" is also that of the rule at line 1; give one of them another "name="`},
		{"a label like a pattern", "a -> kafka:x name=b\nb -> kafka:y", `line 2, column 1: the label "b" is also that of the rule at line 1; give one of them another "name="`},
		{"quotes make other patterns, not other labels", `"a|b" -> kafka:x` + "\na|b -> kafka:y", `line 2, column 1: the label "a|b" is also that of the rule at line 1; give one of them another "name="`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := router.Parse(tt.rules)
			if err == nil || err.Error() != tt.want {
				t.Errorf("got\n%v\nwant\n%s", err, tt.want)
			}
		})
	}
}

func TestParseReportsEverythingInOrder(t *testing.T) {
	_, err := router.New(lines(
		"a tennant=x bogus -> sqs:q, kafka:a/b, kafka:{idd} format=debezium nme=x",
		`"open`,
		"* -> kafka:all ; -> kafka:x",
		"b -> kafka:${X} key={",
	))
	var got []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		before, _, _ := strings.Cut(line, ": ")
		got = append(got, strings.NewReplacer("line ", "", " column ", "").Replace(before))
	}
	want := []string{"1,3", "1,13", "1,22", "1,35", "1,47", "1,59", "1,68", "2,1", "2,6", "3,18", "4,12", "4,21"}
	if !slices.Equal(got, want) {
		t.Errorf("faults at %q, want %q\n%v", got, want, err)
	}
	var one *router.SyntaxError
	if !errors.As(err, &one) || one.Line != 1 || one.Col != 3 || one.Hint == "" {
		t.Errorf("the first as a *SyntaxError: %+v", one)
	}
}

func TestParseAccepts(t *testing.T) {
	type rule struct {
		name, pattern string
		line          int
	}
	tests := []struct {
		name, rules string
		want        []rule
	}{
		{"separators", "a -> kafka:x; b -> kafka:y ;\n\n;c -> kafka:z", []rule{{"a", "a", 1}, {"b", "b", 1}, {"c", "c", 3}}},
		{"Windows line ends and a byte order mark", "\uFEFFa -> kafka:x\r\nb -> kafka:y\r\n", []rule{{"a", "a", 1}, {"b", "b", 2}}},
		{"comments", "# first\na -> kafka:x # last\n#b -> kafka:y\n", []rule{{"a", "a", 2}}},
		{"a number sign inside a word", "a#b -> kafka:x", []rule{{"a#b", "a#b", 1}}},
		{"continuation", "a ->\n\n  # why\n  kafka:x,\r\n\tkafka:y name=n\nb -> drop", []rule{{"n", "a", 1}, {"b", "b", 6}}},
		{"quotes", `"a b;c,d#e|f -> \"g\\" -> kafka:x`, []rule{{`a b;c,d#e|f -> "g\`, `a b;c,d#e|f -> "g\`, 1}}},
		{"quotes in mid word", `a" "b -> kafka:x name="x y"z`, []rule{{"x yz", "a b", 1}}},
		{"quoted destination", `a -> "kafka:x", "kafka:t.{tenant|lower}"`, []rule{{"a", "a", 1}}},
		{"quoted equals sign", `"a=b" -> kafka:x`, []rule{{"a=b", "a=b", 1}}},
		{"options that say what this version does", "a -> kafka:x format=raw on_poison=halt null_payload=halt any_name=false", []rule{{"a", "a", 1}}},
		{"any_name behind the destination", "a -> kafka:{tenant} any_name=true", []rule{{"a", "a", 1}}},
		{
			"labels of one pattern", lines("a tenant=x -> kafka:x", "a tenant!=\"y z\" id=* -> kafka:y", "a -> kafka:z"),
			[]rule{{"a tenant=x", "a", 1}, {"a tenant!=y z id=*", "a", 2}, {"a", "a", 3}},
		},
		{"a condition alone is no longer label", "a tenant=x -> kafka:x", []rule{{"a", "a", 1}}},
		{"a specific rule behind a wide one", "a.* -> kafka:x; a.b -> kafka:y", []rule{{"a.*", "a.*", 1}, {"a.b", "a.b", 1}}},
		{"a wide condition first", "* tenant=* -> kafka:x; a -> kafka:y", []rule{{"*", "*", 1}, {"a", "a", 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rules, err := router.Parse(tt.rules)
			if err != nil {
				t.Fatal(err)
			}
			var got []rule
			for _, r := range rules {
				got = append(got, rule{r.Name, r.Pattern, r.Line})
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// A password in a URL or a long word must not get into an error whole.
func TestParseErrorsKeepSecretsAndLengths(t *testing.T) {
	_, err := router.Parse("a -> https://u:hunter2@h/x, htps://u:hunter2@h oversize=https://u:hunter2@h dead_letter=http://u:hunter2@h " + strings.Repeat("n", 9000) + "\na https://u:hunter2@h -> stdout https://u:hunter2@h")
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the password is in %v", err)
	}
	if n := len(err.Error()); n > 1500 {
		t.Errorf("%d bytes of error", n)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"* -> kafka:outbox.events", "a|b* tenant!=x table=a.b -> kafka:t.{tenant|lower|hash}, stdout name=n key={id}/{{}} any_name=true",
		`"a \" b" header:"x y"=1 -> drop # c`, "a ->\n kafka:x,\n kafka:y; b -> drop", "${X}", "a -> kafka:{", "\xff\u00a0\x00", "->->,,;;==", "a -> kafka:x format=raw",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rules, err := router.Parse(text)
		if err == nil {
			checkRules(t, text, rules)
			return
		}
		var one *router.SyntaxError
		if !errors.As(err, &one) {
			t.Fatalf("%T of %q", err, text)
		}
		last := 1 + strings.Count(text, "\n")
		for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
			errors.As(e, &one)
			if one.Line < 1 || one.Line > last || one.Col < 1 || one.Col > len(text)+1 || one.Msg == "" || one.Hint == "" {
				t.Fatalf("%q: bad fault %+v", text, one)
			}
			if len(one.Error()) > 1200 || strings.ContainsAny(one.Error(), "\n\r\x00") {
				t.Fatalf("%q: unfit for a log line: %q", text, one.Error())
			}
		}
	})
}

// checkRules holds for all rules that were accepted.
func checkRules(t *testing.T, text string, rules []*router.Rule) {
	t.Helper()
	labels := map[string]bool{}
	for i, r := range rules {
		if r.Name == "" || r.Pattern == "" || labels[r.Name] {
			t.Fatalf("%q: rule %d has name %q, pattern %q", text, i, r.Name, r.Pattern)
		}
		if i > 0 && r.Line < rules[i-1].Line {
			t.Fatalf("%q: lines go backwards", text)
		}
		labels[r.Name] = true
	}
	r, err := router.New(text)
	if err != nil {
		t.Fatalf("%q: New says %v", text, err)
	}
	var d router.Decision
	buf, err := r.Route(event(t, row{"type": "a", "tenant": "t", "headers": `{"x":"1"}`}), &d, nil)
	if err == nil && (d.Rule == nil || len(buf) < len(d.Key) && len(buf) > 0) {
		t.Fatalf("%q: decision %+v", text, d)
	}
}

// Generated configurations have many rules; each is compared with all before.
func TestParseTakesManyRules(t *testing.T) {
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "type-%d.*|other-%d tenant!=x -> kafka:topic-%d\n", i, i, i)
	}
	start := time.Now()
	rules, err := router.Parse(b.String())
	if err != nil || len(rules) != 2000 {
		t.Fatalf("%d rules, %v", len(rules), err)
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("it took %v", d)
	}
}
