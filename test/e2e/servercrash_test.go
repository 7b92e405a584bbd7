package e2e

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// TestServerCrashRewindsTheSlot: the host dies, and with it the server and the
// connector, before the server had written to disk how far the slot was confirmed.
// What the checkpoint covers is not sent again; without one, all that the slot
// has forgotten is.
func TestServerCrashRewindsTheSlot(t *testing.T) {
	t.Parallel()
	server := pgtest.Run(t, pgtest.Options{})
	stores := []string{"table", "slot"}
	rigs, connectors := map[string]*rig{}, map[string]*connector{}
	for _, store := range stores {
		r := newRig(t, server, 1)
		r.settings = r.settings.with(settings{"OFFSET_STORE": store, "OFFSET_INTERVAL": "1s"})
		rigs[store], connectors[store] = r, startReady(t, r.settings)
		r.insert(1, 50, "a", "b")
		r.settle()
	}
	covered, next := map[string]decoder.LSN{}, 51
	for _, store := range stores {
		r := rigs[store]
		// Now and then the server writes it down all the same.
		for saved := (time.Time{}); !saved.Equal(r.slotSaved()); next += 50 {
			saved = r.slotSaved()
			covered[store] = r.insert(next, next+49, "a", "b")
			if store == "table" {
				r.remembered(covered[store])
			}
		}
		r.insert(next, next+9, "a", "b")
		next += 10
		r.settle()
	}
	if err := server.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range connectors {
		c.kill()
	}
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, store := range stores {
		r := rigs[store]
		before := r.taken()
		if before.stood >= covered[store] {
			t.Fatalf("%s: the slot stands at %v after the crash, it was not put back below %v", store, before.stood, covered[store])
		}
		if store == "table" {
			var err error
			if before.stood, _, err = r.checkpoint(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		c := startReady(t, r.settings)
		r.insert(next, next+9, "a", "b")
		r.settle()
		// 50 rows of each key were covered, 10 were not.
		if n := count(r.verify(nil, allowed{deaths: []death{before}})); store == "table" && n > 20 || store == "slot" && n < 100 {
			t.Errorf("%s: %d repeats", store, n)
		}
		c.stop()
	}
}

// slotSaved is when the server wrote the slot to disk the last time.
func (r *rig) slotSaved() time.Time {
	r.tb.Helper()
	info, err := os.Stat(filepath.Join(r.db.Server.DataDir(), "pg_replslot", r.slot, "state"))
	if err != nil {
		r.tb.Fatal(err)
	}
	return info.ModTime()
}

// count is the number of records that are repeats.
func count(repeats map[decoder.LSN]int) (n int) {
	for _, records := range repeats {
		n += records
	}
	return n
}
