package format_test

import (
	"strings"
	"testing"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/format"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

func fullRow() row {
	return row{
		decoder.RoleID: "6c1f9a52-5b0e-4f0e-9c7c-0d5d0f5f3a11", decoder.RoleType: "order.created", decoder.RoleKey: "order-17",
		decoder.RoleAggregateType: "Order", decoder.RoleAggregateID: "17", decoder.RoleTenant: "acme",
		decoder.RoleCreatedAt: "2026-03-01 12:00:00.123456+00", decoder.RolePayload: strings.Repeat("x", 450),
	}
}

func TestRawDoesNotAllocate(t *testing.T) {
	raw, ev := format.NewRaw(format.Options{Source: "cdc"}), event(fullRow())
	rec, buf := sink.Record{Headers: make([]sink.Header, 0, 16)}, make([]byte, 0, decoder.PositionLen)
	n := testing.AllocsPerRun(100, func() {
		if _, err := raw.Append(&rec, ev, buf); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations an event", n)
	}
}

func BenchmarkRaw(b *testing.B) {
	with := fullRow()
	with[decoder.RoleHeaders] = `{"region": "eu", "attempt": 1}`
	for name, r := range map[string]row{"plain": fullRow(), "headers": with} {
		b.Run(name, func(b *testing.B) {
			raw, ev := format.NewRaw(format.Options{Source: "cdc"}), event(r)
			var rec sink.Record
			buf := make([]byte, 0, decoder.PositionLen)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := raw.Append(&rec, ev, buf); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Whatever the headers column holds: no panic, and no header that claims to be
// one of ours.
func FuzzRawHeaders(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":"1","a":null}`, `{"event-id":"x"}`, `{"\u0063e_id":1}`, `[`, `{"a":"\ud83d\ude00"}`} {
		f.Add(seed)
	}
	raw := format.NewRaw(format.Options{Source: "cdc"})
	f.Fuzz(func(t *testing.T, column string) {
		r := row{decoder.RoleID: "e", decoder.RoleType: "t", decoder.RolePayload: "p", decoder.RoleHeaders: column}
		var rec sink.Record
		if _, err := raw.Append(&rec, event(r), nil); err != nil {
			if sink.KindOf(err) != sink.Poison {
				t.Fatal(err)
			}
			return
		}
		if len(rec.Headers) < 4 || string(rec.Headers[0].Value) != "e" {
			t.Fatalf("%q: headers %q", column, show(rec.Headers))
		}
		for _, h := range rec.Headers[4:] {
			if format.Reserved(h.Name) || h.Value == nil {
				t.Fatalf("%q: header %q", column, h.Name)
			}
		}
	})
}
