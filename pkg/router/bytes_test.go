package router_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/router"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// decision is a decision or the reason why there is none, in short.
func decision(tb failer, r *router.Router, of row) string {
	tb.Helper()
	var d router.Decision
	_, err := r.Route(event(tb, of), &d, nil)
	if refused, ok := errors.AsType[*sink.Error](err); ok {
		return refused.Reason
	}
	return d.Rule.Name + " " + show(d.Targets) + " " + showKey(d.Key)
}

// Whatever bytes a row holds: no panic, no topic that a broker refuses or keeps
// for itself, and the same decision each time.
func FuzzRoute(f *testing.F) {
	f.Add("order.created", "acme", "k", `{"h":"x"}`)
	f.Add("__consumer_offsets", "..", "\xff", `[`)
	f.Add("a\r\nb", strings.Repeat("n", 300), "", `{"h":null}`)
	r, err := router.New(lines(
		"a* -> kafka:{type} any_name=true key={key|lower}/{header:h}",
		"b* header:h!=x -> kafka:_{tenant}, kafka:t.{tenant|upper}.{type|hash}",
		"*? tenant=*x*|y -> kafka:t.{header:h|lower} key={tenant|upper|hash}",
		"* -> kafka:.{tenant}, stdout",
	))
	if err != nil {
		f.Fatal(err)
	}
	legal := regexp.MustCompile(`^[a-zA-Z0-9._-]{1,249}$`)
	f.Fuzz(func(t *testing.T, eventType, tenant, key, headers string) {
		of := row{"type": eventType, "tenant": tenant, "key": key, "headers": headers}
		var d router.Decision
		buf, err := r.Route(event(t, of), &d, nil)
		if again := decision(t, r, of); (err == nil) != strings.Contains(again, " ") {
			t.Fatalf("%v, then %s", err, again)
		}
		if err != nil {
			if sink.KindOf(err) != sink.Poison || len(d.Targets) > 0 || strings.ContainsAny(err.Error(), "\r\n\x00") {
				t.Fatalf("%q with %v", err, d.Targets)
			}
			return
		}
		if eventType == "" || len(d.Targets) == 0 || len(buf) != len(d.Key) && len(buf) > 0 {
			t.Fatalf("decision %+v, buffer %q", d, buf)
		}
		for _, to := range d.Targets {
			n := to.Destination
			if to.Sink == router.SinkKafka && (!legal.MatchString(n) || n == "." || n == ".." || strings.HasPrefix(n, "__")) {
				t.Fatalf("topic %q", n)
			}
		}
	})
}

// Every role can be asked for and rendered by its name.
func TestEveryFieldHasItsName(t *testing.T) {
	for _, role := range decoder.Roles() {
		name := role.String()
		t.Run(name, func(t *testing.T) {
			r := compile(t, lines("* "+name+"=value -> kafka:t.{"+name+"} key=<{"+name+"}> name=r", "* -> drop"))
			of := row{"type": "t", name: "value"}
			if got, want := decision(t, r, of), "r kafka:t.value [<value>]"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			if name == "id" || name == "type" {
				return // never NULL
			}
			of[name] = "-"
			if got := decision(t, r, of); !strings.HasPrefix(got, "*  ") {
				t.Errorf("NULL: %s", got)
			}
		})
	}
}
