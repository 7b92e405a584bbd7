package e2e

import (
	"context"
	"strconv"
	"testing"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// TestGapAcceptedTwice: the setting is left in place, and the process dies before
// it could confirm anything beyond the gap, because its broker is frozen. The next
// one meets the same gap, and leaves out nothing that came after it. (From 18 on
// nothing is in flight any more when a gap is left behind.)
func TestGapAcceptedTwice(t *testing.T) {
	t.Parallel()
	for _, major := range []int{14, 17} {
		t.Run(strconv.Itoa(major), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, pool.Server(t, major), 1)
			f := r.newFreezer()
			c := startReady(t, r.remembers())
			r.insert(1, 3, "a")
			r.remembered(r.end())
			r.settle()
			f.freeze()
			r.insert(4, 6, "a")
			eventuallyHolding(t, f)
			r.db.Exec(t, "DROP PUBLICATION ob_pub")
			r.insert(7, 9, "lost")
			c.held("ob_pub")
			r.db.Exec(t, "CREATE PUBLICATION ob_pub FOR TABLE app.outbox")
			from := c.gap()
			c.kill()
			before := r.buried()
			// Nothing that was on its way is known to be stored.
			before.ends = make([]int64, partitions)

			accepts := r.settings.with(settings{"ACCEPT_GAP": from.String()})
			c = start(t, accepts)
			ends := goesBeyond(t, c)
			for i := range 3 {
				r.insert(10+i*10, 19+i*10, "a")
			}
			c.kill()
			r.inactive()
			f.release()
			c = start(t, accepts)
			if again := goesBeyond(t, c); again != ends {
				t.Errorf("the gap was said to end at %v, then at %v", ends, again)
			}
			c.state("streaming")
			r.insert(40, 49, "a")
			r.settle()
			r.db.Exec(t, "DELETE FROM app.outbox WHERE partition_key = 'lost'") // delivered by an operator
			r.verify(nil, allowed{deaths: []death{before}})
		})
	}
}

// goesBeyond waits until an accepted gap is left behind, and returns its end.
func goesBeyond(t *testing.T, c *connector) (to decoder.LSN) {
	t.Helper()
	eventually(t, patience, "the gap is accepted", func(context.Context) (bool, any) {
		var err error
		to, err = decoder.ParseLSN(text(c.log.find(beyondGap), "to"))
		return err == nil, c.log.end(3)
	})
	return to
}
