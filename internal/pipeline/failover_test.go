package pipeline

import (
	"bytes"
	"io"
	"log/slog"
	"strings"
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
					// A restarted process knows the stored one alone, and must
					// find the gap that was accepted.
					if st := r.p.Status(); want == StateHeld && !strings.Contains(st.Reason, "gap from LSN "+c.Confirmed.String()+":") {
						t.Errorf("held: %s", st.Reason)
					}
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

// Events that the new primary never had are told of wherever its slot stands.
func TestGhostEvents(t *testing.T) {
	for name, test := range map[string]struct {
		ends, slot lsn
		want       string // the range
	}{
		"nothing is lost":        {ends: endOf(1000), slot: 500},
		"slot that was synced":   {ends: 700, slot: 500, want: "from=0/2BC to=0/3E9"},
		"slot of the new server": {ends: 700, slot: 9000, want: "from=0/2BC to=0/3E9"},
		"history is not known":   {slot: 500},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				r := start(t, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
				src := r.session()
				src.transaction(1000, row(1))
				settle(time.Second)
				r.server.change(func(s *fakeServer) {
					s.info.Timeline, s.info.SlotConfirmed = 2, test.slot
					if test.ends != 0 {
						s.info.History = pgrepl.History{1: test.ends}
					}
				})
				src.cut(io.EOF)
				r.session()
				settle(time.Second)
				r.end()
				if n := strings.Count(log.String(), "alert=GhostEvents"); n > 1 || (n == 1) != (test.want != "") || !strings.Contains(log.String(), test.want) {
					t.Errorf("want %q in the log once:\n%s", test.want, log.String())
				}
			})
		})
	}
}
