package pgstore

import (
	"testing"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// TestSeal: the ceiling comes down to what was reported, never below what is
// confirmed, and not where somebody else has written since.
func TestSeal(t *testing.T) {
	db := pool.NewDB(t)
	s, cp := newStore(t, db), here(t, db)
	seal := func(s *Store, at, want decoder.LSN) {
		t.Helper()
		if err := s.Seal(t.Context(), cp.Slot, at); err != nil {
			t.Fatal(err)
		}
		if got := load(t, s, cp.Slot); got.Ceiling != want || got.Confirmed != cp.Confirmed {
			t.Errorf("sealed at %v: ceiling %v, want %v; confirmed %v", at, got.Ceiling, want, got.Confirmed)
		}
	}
	save(t, s, cp, 0, true)
	seal(s, cp.Confirmed-1, cp.Ceiling)
	seal(s, cp.Ceiling+1, cp.Ceiling)
	other := storeAt(t, db.URL())
	seal(other, cp.Confirmed, cp.Ceiling)
	save(t, other, cp, 0, true)
	seal(s, cp.Confirmed, cp.Ceiling)
	seal(other, cp.Confirmed+1, cp.Confirmed+1)
	seal(other, cp.Confirmed, cp.Confirmed)
	save(t, s, cp, 0, true)
	seal(s, cp.Confirmed, cp.Confirmed)
}
