package pipeline

import (
	"context"
	"fmt"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// reachStep is by how many bytes of WAL the stream may run ahead of what the server
// said over an ordinary connection. Nothing in the stream itself says how far the
// log reaches, and a position beyond its end, once confirmed, makes the server skip
// all that is written up to there. To ask at each position would cost too much; a
// gigabyte takes even a busy server seconds to write.
const reachStep = 1 << 30

// within sees to it that the end of a transaction, or of an idle stretch, is not far
// beyond the server's log.
func (r *reader) within(ctx context.Context, end decoder.LSN) error {
	if r.p.cfg.WALEnd == nil || end <= r.reach+reachStep {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, verifyTimeout)
	defer cancel()
	reach, err := r.p.cfg.WALEnd(ctx, r.info.PID)
	if err != nil {
		return fmt.Errorf("ask the server how far its WAL reaches: %w", err)
	}
	if end > reach {
		return &HoldError{
			Reason: fmt.Sprintf("the stream names position %s, and the server's WAL ends at %s", end, reach),
			Remedy: "see that nothing between the connector and the server alters the stream, and look at the server's log; nothing is skipped",
		}
	}
	r.reach = reach
	return nil
}
