package pipeline

import (
	"sync/atomic"
	"time"
)

// beatSlack is how many times longer than announced a wait may take before the
// loop counts as stuck.
const beatSlack = 3

// beat is the reader's sign of life: until when it will come by again.
type beat struct{ at, until atomic.Int64 } // Unix nanoseconds

// expect is called before every wait.
func (b *beat) expect(until time.Time) {
	b.at.Store(time.Now().UnixNano())
	b.until.Store(until.UnixNano())
}

// minWait is the shortest wait that is measured: below it the scheduler decides.
const minWait = 10 * time.Second

// alive tells whether the last wait has not lasted far too long.
func (b *beat) alive(now time.Time) bool {
	at := time.Unix(0, b.at.Load())
	wait := max(time.Unix(0, b.until.Load()).Sub(at), minWait)
	return now.Sub(at) <= beatSlack*wait
}
