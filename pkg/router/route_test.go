package router_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/outbox-cdc/outbox-cdc/pkg/router"
)

func TestRoute(t *testing.T) {
	sum := sha256.Sum256([]byte("ACME"))
	hash := hex.EncodeToString(sum[:])[:32]
	tests := []struct {
		name, rules string
		event       row
		want        string // targets
		key         string
	}{
		{"literal", "a -> kafka:x", row{"type": "a", "key": "k"}, "kafka:x", "[k]"},
		{"first match wins", lines("order.* -> kafka:all", "order.shipped -> kafka:shipped"), row{"type": "order.shipped"}, "kafka:all", "-"},
		{"second rule", lines("a -> kafka:x", "b -> kafka:y"), row{"type": "b"}, "kafka:y", "-"},
		{"case counts", lines("Order -> kafka:x", "* -> kafka:y"), row{"type": "order"}, "kafka:y", "-"},
		{"alternatives", "a.*|*Failure -> kafka:x", row{"type": "LoginFailure"}, "kafka:x", "-"},
		{"stdout", "* -> stdout", row{"type": "a"}, "stdout", "-"},
		{"drop", "* -> drop", row{"type": "a", "key": "k"}, "", "[k]"},
		{"fan-out", "* -> kafka:b, stdout, kafka:a", row{"type": "a"}, "kafka:b, stdout, kafka:a", "-"},
		{"fan-out to one name twice", "* -> kafka:t.{tenant}, kafka:t.{tenant|lower}", row{"type": "a", "tenant": "x"}, "kafka:t.x", "-"},
		{"fan-out to two names", "* -> kafka:t.{tenant}, kafka:t.{tenant|lower}", row{"type": "a", "tenant": "X"}, "kafka:t.X, kafka:t.x", "-"},

		{"condition holds", lines("* tenant=acme -> kafka:x", "* -> kafka:y"), row{"type": "a", "tenant": "acme"}, "kafka:x", "-"},
		{"condition fails", lines("* tenant=acme -> kafka:x", "* -> kafka:y"), row{"type": "a", "tenant": "acme2"}, "kafka:y", "-"},
		{"condition on NULL is on nothing", lines("* tenant= -> kafka:x", "* -> kafka:y"), row{"type": "a"}, "kafka:x", "-"},
		{"any star takes NULL", "* tenant=* -> kafka:x", row{"type": "a"}, "kafka:x", "-"},
		{"not equal", lines("* tenant!=internal -> kafka:x", "* -> kafka:y"), row{"type": "a", "tenant": "internal"}, "kafka:y", "-"},
		{"not equal to NULL", lines("* tenant!=internal -> kafka:x", "* -> kafka:y"), row{"type": "a"}, "kafka:x", "-"},
		{"not equal to any of several", lines("* tenant!=a|b* -> kafka:x", "* -> kafka:y"), row{"type": "a", "tenant": "bc"}, "kafka:y", "-"},
		{"all conditions", lines("* tenant=a sequence=1? -> kafka:x", "* -> kafka:y"), row{"type": "a", "tenant": "a", "sequence": "12"}, "kafka:x", "-"},
		{"one of all conditions fails", lines("* tenant=a sequence=1? -> kafka:x", "* -> kafka:y"), row{"type": "a", "tenant": "a", "sequence": "1"}, "kafka:y", "-"},
		{"bare table", lines("* table=outbox -> kafka:x", "* -> kafka:y"), row{"type": "a", "table": "auth.outbox"}, "kafka:x", "-"},
		{"table with schema", lines("* table=auth.outbox -> kafka:x", "* -> kafka:y"), row{"type": "a", "table": "auth.outbox"}, "kafka:x", "-"},
		{"another schema", lines("* table=auth.outbox -> kafka:x", "* -> kafka:y"), row{"type": "a", "table": "pay.outbox"}, "kafka:y", "-"},
		{"not this table", lines("* table!=outbox -> kafka:x", "* -> kafka:y"), row{"type": "a", "table": "pay.outbox"}, "kafka:y", "-"},
		{"schema", lines("* schema=pay|auth -> kafka:x", "* -> kafka:y"), row{"type": "a", "table": "pay.outbox"}, "kafka:x", "-"},
		{"type as a condition", lines("a* type!=ab -> kafka:x", "* -> kafka:y"), row{"type": "ab"}, "kafka:y", "-"},
		{"position", lines("* position=00000016/*:0000000007 -> kafka:x", "* -> kafka:y"), row{"type": "a"}, "kafka:x", "-"},
		{"header", lines("* header:region=eu -> kafka:x", "* -> kafka:y"), row{"type": "a", "headers": `{"region":"eu"}`}, "kafka:x", "-"},
		{"last of a repeated header", lines("* header:r=eu -> kafka:x", "* -> kafka:y"), row{"type": "a", "headers": `{"r":"us","r":"eu"}`}, "kafka:x", "-"},
		{"header null", "* header:r= -> kafka:x", row{"type": "a", "headers": `{"r":"us","r":null}`}, "kafka:x", "-"},
		{"header number", "* header:n=1.0 -> kafka:x", row{"type": "a", "headers": `{"n":1.0}`}, "kafka:x", "-"},
		{"no headers at all", "* header:r!=eu -> kafka:x", row{"type": "a"}, "kafka:x", "-"},
		{"quoted header name", `* header:"a=b c"=1 -> kafka:x`, row{"type": "a", "headers": `{"a=b c":"1"}`}, "kafka:x", "-"},

		{"field in a topic", "* -> kafka:t.{aggregate_type}", row{"type": "a", "aggregate_type": "Order"}, "kafka:t.Order", "-"},
		{"every kind of field", "* -> kafka:t.{schema}.{table}.{type}.{header:r}.{position|hash|upper}", row{"type": "a", "headers": `{"r":"eu"}`}, "kafka:t.public.outbox.a.eu." + upperHash("00000016/B374D848:0000000007"), "-"},
		{"lower", "* -> kafka:t.{tenant|lower}", row{"type": "a", "tenant": "ACME"}, "kafka:t.acme", "-"},
		{"hash", "* -> kafka:t.{tenant|hash}", row{"type": "a", "tenant": "ACME"}, "kafka:t." + hash, "-"},
		{"filters in a row", "* -> kafka:t.{tenant|upper|hash|upper}", row{"type": "a", "tenant": "acme"}, "kafka:t." + strings.ToUpper(hash), "-"},
		{"any_name", "* -> kafka:{aggregate_type} any_name=true", row{"type": "a", "aggregate_type": "orders"}, "kafka:orders", "-"},
		{"any_name with a longest name", "* -> kafka:{aggregate_type} any_name=true", row{"type": "a", "aggregate_type": strings.Repeat("n", 249)}, "kafka:" + strings.Repeat("n", 249), "-"},
		{"longest name", "* -> kafka:p.{aggregate_type}", row{"type": "a", "aggregate_type": strings.Repeat("n", 247)}, "kafka:p." + strings.Repeat("n", 247), "-"},
		{"hash of a very long field", "* -> kafka:t.{payload|hash}", row{"type": "a", "payload": strings.Repeat("n", 5000)}, "kafka:t." + strings.ToLower(upperHash(strings.Repeat("n", 5000))), "-"},
		{"double underscore inside is no prefix", "* -> kafka:_{tenant}", row{"type": "a", "tenant": "x__y"}, "kafka:_x__y", "-"},

		{"key column NULL", "* -> kafka:x", row{"type": "a"}, "kafka:x", "-"},
		{"key column empty", "* -> kafka:x", row{"type": "a", "key": ""}, "kafka:x", "[]"},
		{"key from a field", "* -> kafka:x key={aggregate_id}", row{"type": "a", "key": "k", "aggregate_id": "7"}, "kafka:x", "[7]"},
		{"key from a NULL field", "* -> kafka:x key={aggregate_id}", row{"type": "a", "key": "k"}, "kafka:x", "-"},
		{"key from an empty field", "* -> kafka:x key={aggregate_id}", row{"type": "a", "key": "k", "aggregate_id": ""}, "kafka:x", "-"},
		{"key from a filtered NULL field", "* -> kafka:x key={aggregate_id|hash}", row{"type": "a", "key": "k"}, "kafka:x", "-"},
		{"key with text", `* -> kafka:x key="{tenant|lower} / {aggregate_id}"`, row{"type": "a", "tenant": "ACME", "aggregate_id": "7"}, "kafka:x", "[acme / 7]"},
		{"key with an absent part", "* -> kafka:x key={tenant}/{aggregate_id}", row{"type": "a", "aggregate_id": "7"}, "kafka:x", "[/7]"},
		{"key of literal text and braces", "* -> kafka:x key={{all}}", row{"type": "a"}, "kafka:x", "[{all}]"},
		{"no key by an empty template", "* -> kafka:x key=", row{"type": "a", "key": "k"}, "kafka:x", "-"},
		{"key of a header", "* -> kafka:x key={header:k}", row{"type": "a", "headers": `{"k":"\u0037"}`}, "kafka:x", "[7]"},
		{"key in other scripts", "* -> kafka:x key={tenant|upper}", row{"type": "a", "tenant": "straße-ω"}, "kafka:x", "[STRAßE-Ω]"},
		{"key that is no UTF-8", "* -> kafka:x key={key|lower}", row{"type": "a", "key": "\xff\x00A"}, "kafka:x", "[\xff\x00a]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := compile(t, tt.rules)
			ev := event(t, tt.event)
			// The second time around everything comes from the caches.
			for _, round := range []string{"first", "second"} {
				if targets, key := route(t, r, ev); targets != tt.want || key != tt.key {
					t.Errorf("%s time: got %q key %q, want %q key %q", round, targets, key, tt.want, tt.key)
				}
			}
		})
	}
}

func upperHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return strings.ToUpper(hex.EncodeToString(sum[:]))[:32]
}

func TestRouteAppendsToTheBuffer(t *testing.T) {
	r := compile(t, "* -> kafka:x key={tenant}/{id}")
	var d router.Decision
	buf, err := r.Route(event(t, row{"type": "a", "tenant": "t"}), &d, []byte("before"))
	if err != nil || string(buf) != "beforet/e-1" || string(d.Key) != "t/e-1" {
		t.Fatalf("buf %q, key %q, %v", buf, d.Key, err)
	}
	if cap(d.Key) != len(d.Key) {
		t.Error("appending to the key would touch the buffer")
	}
}

// The router keeps nothing of an event: its arena is used again at once.
func TestRouteKeepsNothingOfTheEvent(t *testing.T) {
	r := compile(t, "* -> kafka:t.{type}")
	table := event(t, row{"type": "aa"})
	typ := table.Field(2)
	if targets, _ := route(t, r, table); targets != "kafka:t.aa" {
		t.Fatal(targets)
	}
	copy(typ, "bb")
	if targets, _ := route(t, r, table); targets != "kafka:t.bb" {
		t.Errorf("after the bytes changed: %s", targets)
	}
	copy(typ, "aa")
	if targets, _ := route(t, r, table); targets != "kafka:t.aa" {
		t.Errorf("after they changed back: %s", targets)
	}
}

func TestRouteOverwritesTheDecision(t *testing.T) {
	r := compile(t, lines("a -> kafka:x, stdout", "b -> drop name=gone", "c tenant=x -> kafka:y"))
	var d router.Decision
	steps := []struct {
		typ, rule, targets string
		fails              bool
	}{
		{typ: "a", rule: "a", targets: "kafka:x, stdout"},
		{typ: "b", rule: "gone"},
		{typ: "c", fails: true},
		{typ: "a", rule: "a", targets: "kafka:x, stdout"},
	}
	for _, s := range steps {
		_, err := r.Route(event(t, row{"type": s.typ, "key": "k"}), &d, nil)
		name := ""
		if d.Rule != nil {
			name = d.Rule.Name
		}
		if (err != nil) != s.fails || name != s.rule || show(d.Targets) != s.targets {
			t.Errorf("type %s: rule %q, targets %q, %v; want rule %q, targets %q", s.typ, name, show(d.Targets), err, s.rule, s.targets)
		}
	}
}
