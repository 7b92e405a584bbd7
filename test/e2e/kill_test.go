package e2e

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestKill kills the connector in mid-drain, at random points, with a backlog
// and a writer that goes on. Nothing is lost, the first copies of each key are
// in order, and repeated is only what the slot had not confirmed.
func TestKill(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	r := newRig(t, nil, 3)
	w := r.watch()
	for i := range 10 {
		r.insert(1+i*200, (i+1)*200, "p", "q", "r", "s", "t")
	}
	writer := r.startLoad(5*time.Millisecond, 3, "a", "b", "c")
	var deaths []death
	for range 6 {
		before := r.stored(topic)
		c := startReady(t, r.settings)
		r.awaitStored(topic, before+1+random.Int64N(2000))
		pause := time.NewTimer(time.Duration(random.Int64N(int64(300 * time.Millisecond))))
		<-pause.C
		c.kill()
		deaths = append(deaths, r.buried())
	}
	writer.stop()
	startReady(t, r.settings)
	r.settle()
	repeats := r.verify(w, allowed{deaths: deaths})
	n := 0
	for _, events := range repeats {
		n += events
	}
	t.Logf("%d of %d records were repeats, of %d transactions", n, r.stored(topic), len(repeats))
}
