package pgstore

import (
	"strconv"
	"testing"
	"time"

	"github.com/outbox-cdc/outbox-cdc/pkg/offset"
)

func TestSaveAndLoadOnAllMajors(t *testing.T) {
	for _, major := range []int{14, 17, 18} {
		t.Run(strconv.Itoa(major), func(t *testing.T) {
			db := pool.Server(t, major).NewDB(t)
			s, cp := newStore(t, db), here(t, db)
			if got, err := s.Load(t.Context(), cp.Slot); got != nil || err != nil {
				t.Fatalf("before the first save: %v, %v", got, err)
			}
			save(t, s, cp, 0, true)
			got := load(t, s, cp.Slot)
			if age := time.Since(got.UpdatedAt); age > time.Minute || age < -time.Minute {
				t.Errorf("updated at %v", got.UpdatedAt)
			}
			got.UpdatedAt, cp.Phase = time.Time{}, offset.PhaseStream
			if got != cp {
				t.Errorf("got %+v, want %+v", got, cp)
			}
		})
	}
}
