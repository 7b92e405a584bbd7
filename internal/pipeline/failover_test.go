package pipeline

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset"
)

// The new primary's copy of the checkpoint is older than its slot. The process
// that has confirmed both knows that the slot is its own, and what it confirmed
// up to the switch point is not sent again.
func TestFailoverWithAnOlderCheckpoint(t *testing.T) {
	for _, test := range []struct {
		name            string
		copied          offset.Checkpoint
		slot, needs, at lsn // the slot that was synchronised, and where the stream begins; 0: not at all
	}{
		{
			name: "slot beyond the checkpoint", copied: offset.Checkpoint{Timeline: 1, Confirmed: endOf(1000)},
			slot: endOf(2000), needs: 1500, at: 4000,
		},
		{
			name: "slot behind the checkpoint", copied: offset.Checkpoint{Timeline: 1, Confirmed: endOf(1000)},
			slot: 500, needs: 400, at: 4000,
		},
		{
			name: "slot made on the new timeline", copied: offset.Checkpoint{Timeline: 1, Confirmed: endOf(1000)},
			slot: 4100, needs: 4050,
		},
		{
			name: "checkpoint of the new timeline", copied: offset.Checkpoint{Timeline: 2, Confirmed: 4200},
			slot: 4100, needs: 4050, at: 4200,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := new(fakeStore)
				r := start(t, withStore(store))
				<-r.sinks
				src := r.session()
				src.transaction(1000, row(1))
				src.transaction(2000, row(2))
				src.keepalive(5000, false)
				settle(time.Minute)
				r.wantFlush(5000)
				c := test.copied
				c.Slot, c.SystemID, c.Database, c.Ceiling, c.Restart = "s", "1", "db", c.Confirmed+ceilingStep, 100
				store.set(func(s *fakeStore) { s.kept = &c })
				r.server.change(func(s *fakeServer) {
					s.info.Timeline, s.info.History = 2, pgrepl.History{1: 4000}
					s.info.SlotConfirmed, s.info.SlotRestart = test.slot, test.needs
				})
				src.cut(io.EOF)
				settle(time.Minute)
				want := StateStreaming
				if test.at == 0 {
					want = StateHeld
				}
				if r.wantState(want); want == StateHeld || t.Failed() {
					r.end()
					return
				}
				fresh := <-r.sinks
				src = r.session()
				if got := r.server.started[1]; got != test.at {
					t.Errorf("started at %v, want %v", got, test.at)
				}
				src.transaction(4800, row(3)) // where the old timeline went on, too
				settle(time.Minute)
				wantIDs(t, fresh, "e3")
				r.wantFlush(endOf(4800))
				r.end()
			})
		})
	}
}
