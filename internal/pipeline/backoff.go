package pipeline

import (
	"math/rand/v2"
	"time"
)

// backoffMin is the first pause before a reconnect.
const backoffMin = 100 * time.Millisecond

// backoff yields growing pauses with jitter, from half to the whole of the
// step, so that many instances do not come back at the same moment.
type backoff struct {
	limit time.Duration
	step  time.Duration
}

func (b *backoff) next() time.Duration {
	if b.step = min(2*b.step, b.limit); b.step == 0 {
		b.step = min(backoffMin, b.limit)
	}
	half := b.step / 2
	return half + rand.N(half+1) //nolint:gosec // G404: jitter needs no secrecy
}

func (b *backoff) reset() { b.step = 0 }
