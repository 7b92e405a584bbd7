package statusview

import (
	"context"
	"fmt"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/httpapi"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// pageHeader is the length of a WAL page's header. At the end of a page the
// server's insert position is already behind the next page's header, where the
// confirmed position comes only with the next record; and no record is shorter.
const pageHeader = 24

// caughtUp finds out whether everything is delivered that was committed before
// the first look. It judges answers in the order in which they come.
type caughtUp struct {
	first  *time.Time  // when the connector had looked at the server, at the first answer
	target decoder.LSN // the server's position at a later look; 0 until there was one
}

// holds tells whether the answer proves it. The server's position counts only
// from a look that began after ours: the connector's last one may be older than
// what the caller has just written.
func (c *caughtUp) holds(s *httpapi.Status) bool {
	slot := s.Slot
	if slot.ReadAt == nil {
		return false
	}
	if c.first == nil {
		c.first = slot.ReadAt
		return false
	}
	if c.target == 0 && slot.ReadAt.After(*c.first) {
		c.target = slot.ConfirmedLSN + decoder.LSN(max(slot.LagBytes, 0))
	}
	return c.target > 0 && slot.ConfirmedLSN+pageHeader >= c.target
}

// WaitCaughtUp waits until everything is delivered that was committed before the
// call, asking again after every pause. It gives up with ctx, saying how things
// stand; a connector that does not answer may be starting, and is asked on.
func WaitCaughtUp(ctx context.Context, c *Client, pause time.Duration) error {
	var judge caughtUp
	tick := time.NewTicker(pause)
	defer tick.Stop()
	var last *httpapi.Status
	for {
		s, err := c.Status(ctx)
		if err == nil && judge.holds(s) {
			return nil
		}
		if ctx.Err() == nil {
			last = s
			select {
			case <-tick.C:
				continue
			case <-ctx.Done():
			}
		}
		if s = last; s == nil { // the last answer that was not cut off
			return err
		}
		return fmt.Errorf("not caught up: %s, %s of WAL are not confirmed, %d events in flight", s.State, bytes(s.Slot.LagBytes), s.Stream.InFlightEvents)
	}
}
