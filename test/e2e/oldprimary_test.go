package e2e

import (
	"strconv"
	"testing"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
)

// TestOldPrimaryComesBack: a planned switch costs nothing. Then the old primary
// comes back at its address, the first of the URL, and takes writes: nobody has
// told it. A process that has seen its successor refuses it, sends nothing of
// what it has, and goes on when it is gone.
func TestOldPrimaryComesBack(t *testing.T) {
	t.Parallel()
	for _, major := range failoverMajors {
		t.Run(strconv.Itoa(major), func(t *testing.T) {
			t.Parallel()
			f := newCouple(t, major, nil)
			c := startReady(t, f.settings)
			f.insert(1, 50, "a", "b")
			f.settle()
			f.sync(t)
			f.insert(51, 100, "a", "b")
			f.awaitDelivered(c)
			// An orderly shutdown sends everything to the standby first.
			at := f.failOver(t, pgtest.Fast)
			w := f.after.watch()
			c.state("streaming")
			f.after.insert(101, 150, "a", "b")
			f.after.settle()
			f.neverAbove(t, at)

			if err := f.pair.Primary.Start(patient(t)); err != nil {
				t.Fatal(err)
			}
			before := len(f.starts(t)) // the log goes on where it was
			f.insert(1, 50, "stray")
			f.after.insert(151, 200, "a", "b") // the session is on the new one
			f.after.settle()
			f.after.endSession(t)
			c.held("timeline 1, below 2", "old primary", "connect to the present primary")
			f.after.insert(201, 250, "a", "b")
			elapse(t, 3*time.Second, func() {
				if n := f.stored(topic); n != 400 {
					t.Fatalf("%d records while it is held, want 400", n)
				}
			})
			if n := len(f.starts(t)); n != before {
				t.Errorf("the old primary was asked to stream %d times", n-before)
			}
			if err := f.pair.Primary.Stop(patient(t), pgtest.Fast); err != nil {
				t.Fatal(err)
			}
			c.state("streaming")
			f.after.settle()
			if repeats := f.after.verify(w, allowed{}); len(repeats) > 0 {
				t.Errorf("repeats: %v", repeats)
			}
		})
	}
}
