package pipeline

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset"
)

// A slot that was made again is streamed only once it is on record that its gap
// was accepted: else the setting, left in place, would accept the next one too.
func TestAcceptedGapIsOnRecordFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &fakeStore{
			kept:   &offset.Checkpoint{Slot: "s", SystemID: "1", Timeline: 1, Database: "db", Confirmed: 10, Ceiling: 20},
			refuse: true,
		}
		r := start(t, func(c *Config) { withStore(store)(c); c.AcceptGap = 10 })
		settle(time.Minute)
		r.wantState(StateConnecting)
		if n := len(r.server.started); n != 0 {
			t.Fatalf("%d sessions without a record", n)
		}
		store.set(func(s *fakeStore) { s.refuse = false })
		src := r.session()
		if c, _ := store.get(); c.Confirmed != 100 || c.Ceiling < 100 {
			t.Errorf("streaming with the checkpoint %+v", c)
		}
		// Somebody makes the slot again: this is another gap.
		r.server.change(func(s *fakeServer) { s.info.SlotConfirmed = 1 << 30 })
		src.cut(io.EOF)
		settle(time.Minute)
		r.wantState(StateHeld)
		r.end()
	})
}

// What is in flight keeps the end of an accepted gap from being confirmed. If the
// process dies then, its successor meets the gap again, and leaves out no more.
func TestAcceptedGapEndsWhereItEnded(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*SessionInfo)
		from   lsn
	}{
		"a restart":                {func(*SessionInfo) {}, 5000},
		"a failover above the end": {func(s *SessionInfo) { s.Timeline, s.History = 2, pgrepl.History{1: 6000} }, 5000},
		"a failover in the gap":    {func(s *SessionInfo) { s.Timeline, s.History = 2, pgrepl.History{1: 4000} }, 9000},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := new(fakeStore)
				accepts := func(c *Config) { withStore(store)(c); c.AcceptGap = endOf(1000) }
				r := start(t, accepts)
				r.gapBehind(1000, 5000)
				died, _ := store.get()
				r.end()
				store.set(func(s *fakeStore) { s.kept = &died })
				if died.Confirmed != 100 || died.Gap != (offset.Range{From: endOf(1000), To: 5000}) {
					t.Fatalf("the checkpoint is %+v", died)
				}
				again := start(t, accepts)
				again.server.change(func(s *fakeServer) { s.info.Insert = 9000; test.change(&s.info) })
				again.cutAtGap(1000)
				if got := again.server.started[1]; got != test.from {
					t.Errorf("went on at %v, want %v", got, test.from)
				}
				again.end()
			})
		})
	}
}

// An acceptance that can't be stored is tried again, and nothing is left out.
func TestAcceptedGapThatIsNotStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(fakeStore)
		r := start(t, func(c *Config) { withStore(store)(c); c.AcceptGap = endOf(1000) })
		r.server.change(func(s *fakeServer) { s.info.Insert = 5000 })
		src := r.session()
		src.transaction(1000, row(1))
		settle(time.Second)
		store.set(func(s *fakeStore) { s.broken = errors.New("no") })
		src.cut(errNoPublication)
		settle(time.Minute)
		r.wantState(StateConnecting)
		store.set(func(s *fakeStore) { s.broken = nil })
		r.session()
		settle(time.Second)
		r.wantFlush(5000)
		r.end()
	})
}
