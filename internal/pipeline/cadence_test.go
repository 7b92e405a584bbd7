package pipeline

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestCadence(t *testing.T) {
	t0 := time.Unix(1000, 0)
	fresh := func(change func(*cadence)) cadence {
		c := newCadence(250*time.Millisecond, 15*time.Second)
		c.saw(100)
		c.take(t0, 100)
		if change != nil {
			change(&c)
		}
		return c
	}
	for _, test := range []struct {
		name      string
		change    func(*cadence)
		confirmed lsn
		want      time.Duration
	}{
		{"nothing new", nil, 100, 5 * time.Second},
		{"progress", nil, 200, 250 * time.Millisecond},
		{"a lower position is no progress", nil, 50, 5 * time.Second},
		{"asked, and nothing new to say", func(c *cadence) { c.asked = true }, 100, replyPace},
		{"asked, with a new write position", func(c *cadence) { c.asked = true; c.saw(300) }, 100, 0},
		{"asked, with progress", func(c *cadence) { c.asked = true }, 200, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := fresh(test.change)
			if got := c.due(test.confirmed).Sub(t0); got != test.want {
				t.Errorf("due after %v, want %v", got, test.want)
			}
		})
	}
}

func TestCadenceWakesForWhatIsInFlight(t *testing.T) {
	t0 := time.Unix(1000, 0)
	c := newCadence(250*time.Millisecond, 15*time.Second)
	c.take(t0, 100)
	now := t0.Add(time.Second)
	if got := c.wake(now, 100, false).Sub(t0); got != 5*time.Second {
		t.Errorf("idle: wakes after %v", got)
	}
	if got := c.wake(now, 100, true).Sub(now); got != 250*time.Millisecond {
		t.Errorf("in flight: wakes after %v", got)
	}
}

func TestCadenceWithoutServerTimeout(t *testing.T) {
	c := newCadence(time.Hour, 0)
	t0 := time.Unix(1000, 0)
	c.take(t0, 1)
	if got := c.due(2).Sub(t0); got != periodOff {
		t.Errorf("due after %v, want %v: the interval never exceeds the period", got, periodOff)
	}
}

// Whatever happens, flush never goes back and never exceeds write.
func TestStatusesNeverGoBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCadence(250*time.Millisecond, 15*time.Second)
		now := time.Unix(1000, 0)
		var flush lsn
		for range rapid.IntRange(1, 50).Draw(t, "statuses") {
			c.saw(lsn(rapid.Uint64Range(0, 1000).Draw(t, "seen")))
			step := time.Duration(rapid.IntRange(0, 10_000).Draw(t, "ms")) * time.Millisecond
			periodic := step >= c.period
			now = now.Add(step)
			confirmed := lsn(rapid.Uint64Range(0, 1000).Draw(t, "confirmed"))
			st := c.take(now, confirmed)
			if st.Flush < flush || st.Flush < confirmed || st.Flush > st.Write {
				t.Fatalf("status %+v after flush %v with %v confirmed", st, flush, confirmed)
			}
			if flush != 0 && st.Reply != periodic {
				t.Fatalf("reply %v after %v", st.Reply, step)
			}
			flush = st.Flush
		}
	})
}

func TestBackoffGrowsToItsLimit(t *testing.T) {
	b := backoff{limit: 10 * time.Second}
	for range 5 {
		want := backoffMin
		for range 12 {
			if got := b.next(); got < want/2 || got > want {
				t.Fatalf("pause %v, want %v to %v", got, want/2, want)
			}
			want = min(2*want, b.limit)
		}
		b.reset()
	}
}
