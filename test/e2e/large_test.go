package e2e

import (
	"fmt"
	"testing"
	"time"
)

// TestLargeTransaction delivers one transaction of 400,000 rows. Memory stays
// bounded although nothing of it can be confirmed before its end, and the slot
// moves once. It is measured with the binary that is shipped; with the race
// detector the rows are fewer because the cluster and the consumer, which run in
// the test's process, would take minutes.
func TestLargeTransaction(t *testing.T) {
	const keys = 50
	rows := 400_000
	if raceEnabled {
		rows = 100_000
	}
	r := newRig(t, nil, 1)
	w := r.watch()
	c := launch(t, binaries.plain, r.settings)
	c.listens()
	c.state("streaming")
	r.insert(1, 1, "warm-up")
	r.settle()

	names := make([]string, keys)
	for i := range names {
		names[i] = fmt.Sprint("k", i)
	}
	begin := time.Now()
	end := r.insert(1, rows/keys, names...)
	written := time.Since(begin)
	// While the transaction was being written the slot moved beside it. From
	// its first row to its last there is nothing to confirm, but one status of
	// before may still be due.
	r.awaitStored(topic, int64(rows/10))
	moved := w.moves()
	r.awaitStored(topic, int64(rows*9/10))
	if n := w.moves() - moved; n > 1 {
		t.Errorf("the slot moved %d times within the transaction, to %v", n, r.slotNow().confirmed)
	}
	r.awaitStored(topic, int64(rows+1))
	delivered := time.Since(begin)
	r.settle()
	if s := r.slotNow(); s.confirmed < end {
		t.Errorf("the slot stands at %v, the transaction ends at %v", s.confirmed, end)
	}
	peak := c.peakRSS()
	t.Logf("%d rows: committed after %v, delivered after %v, VmHWM %.1f MB",
		rows, written.Round(time.Millisecond), delivered.Round(time.Millisecond), float64(peak)/1e6)
	if peak > 150<<20 {
		t.Errorf("peak memory %d MB", peak>>20)
	}
	r.verify(w, allowed{})
}
