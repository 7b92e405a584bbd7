package router_test

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/router"
)

// failer is what the helpers need of a test; *rapid.T has it too.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// row is an event's columns by role name; "table" is "schema.name".
type row map[string]string

// event makes an event of the given columns; all others are NULL. An id and a
// table are there unless the row says otherwise: "-" stands for NULL.
func event(tb failer, r row) *decoder.Event {
	tb.Helper()
	all := row{"id": "e-1", "table": "public.outbox"}
	maps.Copy(all, r)
	schema, name, _ := strings.Cut(all["table"], ".")
	delete(all, "table")
	fields := map[decoder.Role][]byte{}
	for k, v := range all {
		role, ok := decoder.ParseRole(k)
		if !ok {
			tb.Fatalf("no role %q", k)
		}
		if v != "-" {
			fields[role] = []byte(v)
		}
	}
	ev := decoder.NewEvent(
		decoder.NewTable(decoder.TableName{Schema: schema, Name: name}, nil),
		decoder.Position{Commit: 0x16B374D848, Ordinal: 7},
		time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), fields)
	return &ev
}

// compile makes a router of rules that are meant to be good.
func compile(tb failer, rules string, o ...router.Option) *router.Router {
	tb.Helper()
	r, err := router.New(rules, o...)
	if err != nil {
		tb.Fatalf("rules %q: %v", rules, err)
	}
	return r
}

// route gives an event's targets as "sink:destination", joined, and its key;
// a nil key is "-".
func route(tb failer, r *router.Router, ev *decoder.Event) (targets, key string) {
	tb.Helper()
	var d router.Decision
	if _, err := r.Route(ev, &d, nil); err != nil {
		tb.Fatal(err)
	}
	return show(d.Targets), showKey(d.Key)
}

func show(targets []router.Target) string {
	var all []string
	for _, t := range targets {
		all = append(all, strings.TrimSuffix(t.Sink+":"+t.Destination, ":"))
	}
	return strings.Join(all, ", ")
}

func showKey(key []byte) string {
	if key == nil {
		return "-"
	}
	return "[" + string(key) + "]"
}

func lines(s ...string) string { return strings.Join(slices.Clone(s), "\n") }
