package router_test

import (
	"testing"

	"github.com/outbox-cdc/outbox-cdc/pkg/router"
)

// hotRules are the shapes whose repeated events must cost no allocation; only
// reading a headers column may.
func hotRules() map[string]string {
	return map[string]string{
		"literal":   "order.* -> kafka:orders",
		"drop":      "* -> drop",
		"fan-out":   "* -> kafka:orders, kafka:t.{tenant|lower}, stdout",
		"template":  "* -> kafka:outbox.event.{aggregate_type}",
		"hash":      "* -> kafka:t.{tenant|hash}",
		"key":       "* -> kafka:orders key={tenant|upper}/{aggregate_id|hash}",
		"column":    "* -> kafka:orders key={aggregate_id}",
		"position":  "* -> kafka:orders key={position}",
		"condition": "* tenant=other -> drop name=o; * tenant!=internal position=0* -> kafka:payments.{tenant|lower} name=p",
		"header":    "* header:region=eu -> kafka:eu.{header:region}",
		"tables":    "* table=a.b -> drop name=o; * schema=public -> kafka:{schema}.{table} name=p any_name=true",
	}
}

func hotEvent() row {
	return row{
		"type": "order.created", "key": "order-17", "aggregate_type": "Order", "aggregate_id": "17", "tenant": "ACME",
		"headers": `{"region": "eu", "attempt": 1}`, "payload": `{"total": 1}`,
	}
}

func TestRouteDoesNotAllocate(t *testing.T) {
	for name, rules := range hotRules() {
		if name == "header" {
			continue // encoding/json keeps its scanners in a pool, which may be empty
		}
		t.Run(name, func(t *testing.T) {
			r, ev := compile(t, rules), event(t, hotEvent())
			d, buf := router.Decision{Targets: make([]router.Target, 0, 4)}, make([]byte, 0, 256)
			n := testing.AllocsPerRun(100, func() {
				if _, err := r.Route(ev, &d, buf); err != nil {
					t.Fatal(err)
				}
			})
			if n != 0 {
				t.Errorf("%v allocations an event", n)
			}
		})
	}
}

func BenchmarkRoute(b *testing.B) {
	for name, rules := range hotRules() {
		b.Run(name, func(b *testing.B) {
			r, ev := compile(b, rules), event(b, hotEvent())
			var d router.Decision
			buf := make([]byte, 0, 256)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Route(ev, &d, buf); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	const rules = "a.*|b.* tenant!=x -> kafka:t.{tenant|lower}, stdout name=n key={id}\n* -> kafka:outbox.event.{aggregate_type}"
	b.ReportAllocs()
	for b.Loop() {
		if _, err := router.New(rules); err != nil {
			b.Fatal(err)
		}
	}
}
