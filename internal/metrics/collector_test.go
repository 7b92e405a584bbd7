package metrics

import (
	"runtime"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/outbox-cdc/outbox-cdc/internal/catalog"
	"github.com/outbox-cdc/outbox-cdc/internal/monitor"
	"github.com/outbox-cdc/outbox-cdc/internal/pipeline"
)

func TestValues(t *testing.T) {
	all := serve(t)
	tests := []struct{ name, labels, want string }{
		{"build_info", `{goversion="` + runtime.Version() + `",revision="abc",slot="cdc",source="shop",version="1.2.3"}`, "1"},
		{"state", `{slot="cdc",source="shop",state="streaming"}`, "1"},
		{"state", `{slot="cdc",source="shop",state="halted"}`, "0"},
		{"events_total", `{result="skipped",route="order.*",sink="",slot="cdc",source="shop"}`, "12"},
		{"events_total", `{result="skipped",route="",sink="",slot="cdc",source="shop"}`, "13"},
		{"route_halted", `{route="order.*",slot="cdc",source="shop"}`, "1"},
		{"route_halted", `{route="",slot="cdc",source="shop"}`, "0"},
		{"ready", `{slot="cdc",source="shop"}`, "1"},
		{"rows_total", `{kind="event",slot="cdc",source="shop",table="public.outbox"}`, "7"},
		{"rows_total", `{kind="ignored_op",slot="cdc",source="shop",table=""}`, "4"},
		{"rows_total", `{kind="other_table",slot="cdc",source="shop",table=""}`, "5"},
		{"transactions_total", `{slot="cdc",source="shop"}`, "6"},
		{"sessions_total", `{outcome="lost",slot="cdc",source="shop"}`, "1"},
		{"events_total", `{result="delivered",route="order.*",sink="kafka",slot="cdc",source="shop"}`, "8"},
		{"events_total", `{result="delivered",route="order.*",sink="stdout",slot="cdc",source="shop"}`, "9"},
		{"events_total", `{result="dropped",route="order.*",sink="",slot="cdc",source="shop"}`, "10"},
		{"event_bytes_total", `{route="order.*",slot="cdc",source="shop"}`, "11"},
		{"in_flight_events", `{slot="cdc",source="shop"}`, "3"},
		{"in_flight_bytes", `{slot="cdc",source="shop"}`, "4096"},
		{"slot_confirmed_lag_bytes", `{slot="cdc",source="shop"}`, "1000"},
		{"slot_retained_wal_bytes", `{slot="cdc",source="shop"}`, "3000"},
		{"slot_wal_limit_bytes", `{slot="cdc",source="shop"}`, "13000"},
		{"slot_safe_wal_bytes", `{slot="cdc",source="shop"}`, "9000"},
		{"slot_wal_growth_bytes_per_second", `{slot="cdc",source="shop"}`, "100"},
		{"slot_wal_time_left_seconds", `{slot="cdc",source="shop"}`, "100"},
		{"slot_active", `{slot="cdc",source="shop"}`, "1"},
		{"slot_wal_status", `{slot="cdc",source="shop",wal_status="extended"}`, "1"},
		{"slot_wal_status", `{slot="cdc",source="shop",wal_status="gone"}`, "0"},
		{"monitor_last_success_timestamp_seconds", `{slot="cdc",source="shop"}`, "1.7e+09"},
		{"backpressure_seconds_total", `{slot="cdc",source="shop"}`, "1.5"},
	}
	for _, test := range tests {
		f := all["outbox_cdc_"+test.name]
		if f == nil {
			t.Errorf("%s is not served", test.name)
			continue
		}
		if got := f.samples[test.labels]; got != test.want {
			t.Errorf("%s%s = %q, want %q; served are %v", test.name, test.labels, got, test.want, f.samples)
		}
	}
}

// view is what the monitor has seen.
func view() *monitor.View {
	slot := &catalog.Slot{Active: true, WALStatus: "extended", ConfirmedFlush: 3000, Restart: 1000}
	r := &monitor.Reading{At: time.Unix(1_700_000_000, 0), Slot: slot, Insert: 4000, SafeWAL: 9000}
	return &monitor.View{Reading: r, WALLimit: 13_000, Growth: 100, GrowthKnown: true}
}

// What is not known is absent: a 0 would look like good news.
func TestUnknownIsAbsent(t *testing.T) {
	for _, v := range []*monitor.View{nil, {Reading: &monitor.Reading{SafeWAL: -1}}} {
		c := newSlotCollector(func() *monitor.View { return v }, Labels{})
		want := 0
		if v != nil {
			want = len(monitor.WALStatuses()) + 4 // last success, active, lag, retained
		}
		ch := make(chan prometheus.Metric, 100)
		c.Collect(ch)
		if len(ch) != want {
			t.Errorf("%d metrics, want %d", len(ch), want)
		}
	}
}

func TestExactlyOneStateIsSet(t *testing.T) {
	set := 0
	states := serve(t)["outbox_cdc_state"].samples
	for _, value := range states {
		if value == "1" {
			set++
		}
	}
	if len(states) != len(pipeline.States()) || set != 1 {
		t.Errorf("%d states, %d of them set", len(states), set)
	}
}

func TestRuntimeIsThere(t *testing.T) {
	if serve(t)["go_goroutines"] == nil {
		t.Error("no go_goroutines")
	}
}

func TestRegisterTwiceFails(t *testing.T) {
	registry := prometheus.NewRegistry()
	for i := range 2 {
		err := Register(registry, picture{}, view, Labels{Source: "a", Slot: "b"}, Build{})
		if (err == nil) != (i == 0) {
			t.Errorf("registration %d: %v", i+1, err)
		}
	}
}
