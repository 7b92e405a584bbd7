package pgrepl

import "time"

const (
	// coalesce is the pause before a read under load. The walsender writes
	// each message by itself, and a reader that is always there is woken for
	// each: both sides then spend more on waking one another than on rows.
	coalesce = 300 * time.Microsecond
	// quickWait is how long a read may wait at most to count as quick.
	quickWait = 500 * time.Microsecond
	// busyReads is how many quick reads in a row are load. A transaction of
	// one row alone makes three or four.
	busyReads = 16
)

// coalescer tells load from single transactions, which must not wait.
type coalescer struct{ quick int }

// read takes how long a read waited.
func (c *coalescer) read(waited time.Duration) {
	if waited > quickWait {
		c.quick = 0
		return
	}
	c.quick = min(c.quick+1, busyReads)
}

// busy tells whether the next read should come after a pause.
func (c *coalescer) busy() bool { return c.quick == busyReads }
