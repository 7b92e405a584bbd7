package monitor

import "time"

const (
	// growthWindow is the time over which growth is taken, growthStep the
	// least time between two samples: together they bound their number.
	growthWindow = 10 * time.Minute
	growthStep   = 10 * time.Second
)

// sample is how much WAL was retained at a time.
type sample struct {
	at       time.Time
	retained int64
}

// growth tells how quickly retained WAL grows, from samples of the last ten
// minutes and one before. It is for one goroutine.
type growth struct{ samples []sample }

// add takes a sample; those that come too quickly are left out.
func (g *growth) add(at time.Time, retained int64) {
	n := len(g.samples)
	if n > 0 && at.Sub(g.samples[n-1].at) < growthStep {
		return
	}
	g.samples = append(g.samples, sample{at, retained})
	// One sample beyond the window stays, so that the window is covered whole.
	for len(g.samples) > 2 && at.Sub(g.samples[1].at) >= growthWindow {
		g.samples = append(g.samples[:0], g.samples[1:]...)
	}
}

// rate is in bytes a second; it is negative while retained WAL shrinks. Not
// known, and 0, until ten minutes are covered.
func (g *growth) rate() (rate float64, known bool) {
	if len(g.samples) < 2 {
		return 0, false
	}
	first, last := g.samples[0], g.samples[len(g.samples)-1]
	d := last.at.Sub(first.at)
	if d < growthWindow {
		return 0, false
	}
	return float64(last.retained-first.retained) / d.Seconds(), true
}
