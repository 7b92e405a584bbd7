package pipeline

import (
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

const (
	// periodOff is the time between statuses where the server has no timeout.
	periodOff = 10 * time.Second
	// replyPace is the shortest time between two answers that say the same.
	// A server that shuts down asks again after each of them.
	replyPace = 500 * time.Millisecond
	// livenessOff is the liveness limit where the server has no timeout.
	livenessOff = 30 * time.Second
)

// cadence decides when a status is due. It is pure: the time comes from outside.
type cadence struct {
	interval time.Duration // shortest time between statuses for progress
	period   time.Duration // longest time without a status

	last  time.Time
	sent  pgrepl.Status
	write decoder.LSN // highest WAL end seen
	asked bool
}

func newCadence(interval, senderTimeout time.Duration) cadence {
	period := periodOff
	if senderTimeout > 0 {
		period = senderTimeout / 3
	}
	return cadence{interval: min(interval, period), period: period}
}

// saw takes a WAL end that the server named.
func (c *cadence) saw(end decoder.LSN) { c.write = max(c.write, end) }

// due is when the next status must go out, given the confirmed position.
func (c *cadence) due(confirmed decoder.LSN) time.Time {
	due := c.last.Add(c.period)
	if confirmed > c.sent.Flush {
		due = earlier(due, c.last.Add(c.interval))
	}
	if c.asked {
		answer := c.last
		if c.write == c.sent.Write && confirmed <= c.sent.Flush {
			answer = c.last.Add(replyPace)
		}
		due = earlier(due, answer)
	}
	return due
}

// wake is when to look again: when a status is due, or might be because
// something that is in flight was stored.
func (c *cadence) wake(now time.Time, confirmed decoder.LSN, inFlight bool) time.Time {
	due := c.due(confirmed)
	if inFlight {
		due = earlier(due, now.Add(c.interval))
	}
	return due
}

// take makes the status to send now. The periodic one asks for a reply, else an
// idle server would rightly be silent and look dead.
func (c *cadence) take(now time.Time, confirmed decoder.LSN) pgrepl.Status {
	flush := max(confirmed, c.sent.Flush)
	st := pgrepl.Status{
		Write: max(c.write, flush),
		Flush: flush,
		Reply: !now.Before(c.last.Add(c.period)),
	}
	c.last, c.sent, c.asked = now, st, false
	return st
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
