package app

import (
	"testing"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/catalog"
	"github.com/outbox-cdc/outbox-cdc/internal/httpapi"
	"github.com/outbox-cdc/outbox-cdc/internal/monitor"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// TestSlotStatus: the stream knows the confirmed position first, the monitor
// all the rest.
func TestSlotStatus(t *testing.T) {
	at := time.Unix(1000, 0)
	view := func(slot *catalog.Slot) *monitor.View {
		return &monitor.View{Reading: &monitor.Reading{At: at, Slot: slot, Insert: 1000}}
	}
	seen := &catalog.Slot{ConfirmedFlush: 300, Restart: 100, WALStatus: "reserved"}
	for _, tc := range []struct {
		title     string
		confirmed decoder.LSN
		view      *monitor.View
		want      httpapi.Slot
	}{
		{"nothing yet", 0, nil, httpapi.Slot{Name: "s"}},
		{"the stream alone", 400, nil, httpapi.Slot{Name: "s", ConfirmedLSN: 400}},
		{"the stream is ahead", 400, view(seen), httpapi.Slot{Name: "s", ConfirmedLSN: 400, RestartLSN: 100, LagBytes: 600, RetainedBytes: 900, WALStatus: "reserved", ReadAt: &at}},
		{"a standby has no stream", 0, view(seen), httpapi.Slot{Name: "s", ConfirmedLSN: 300, RestartLSN: 100, LagBytes: 700, RetainedBytes: 900, WALStatus: "reserved", ReadAt: &at}},
		{"ahead of the last look", 2000, view(seen), httpapi.Slot{Name: "s", ConfirmedLSN: 2000, RestartLSN: 100, RetainedBytes: 900, WALStatus: "reserved", ReadAt: &at}},
		{"gone", 0, view(nil), httpapi.Slot{Name: "s", WALStatus: "gone", ReadAt: &at}},
	} {
		if got := slotStatus("s", tc.confirmed, tc.view); got.ReadAt != nil && *got.ReadAt != at || !same(got, tc.want) {
			t.Errorf("%s: %+v, want %+v", tc.title, got, tc.want)
		}
	}
}

func same(a, b httpapi.Slot) bool {
	equal := (a.ReadAt == nil) == (b.ReadAt == nil)
	a.ReadAt, b.ReadAt = nil, nil
	return equal && a == b
}
