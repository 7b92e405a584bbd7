package pipeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset"
)

// gapError is the cause of a hold over rows that the stream does not have.
type gapError struct {
	from  decoder.LSN
	cause error
}

func (e *gapError) Error() string { return fmt.Sprintf("gap from LSN %s", e.from) }

func (e *gapError) Unwrap() error { return e.cause }

// gap is the hold for rows that were written while the publication did not
// cover them. It does not end when the publication is whole again: the rows in
// between are still missing, and only an operator can say that this is known.
func (p *Pipeline) gap(from decoder.LSN, what string, cause error) error {
	p.missing = &HoldError{
		Reason: fmt.Sprintf("gap from LSN %s: %s; rows written while the publication was missing are not in the stream", from, what),
		Remedy: fmt.Sprintf("see that the publication is whole (outbox-cdc check), deliver these rows from the table, and go on with OUTBOX_CDC_ACCEPT_GAP=%s", from),
		Err:    &gapError{from, cause},
	}
	return p.missing
}

// acceptedGap is the position at which to go on beyond a gap that the operator
// has accepted; 0 when there is none, or when another one was accepted.
func (g *generation) acceptedGap(ctx context.Context, info SessionInfo, frontier decoder.LSN) (decoder.LSN, error) {
	p := g.p
	accepted := p.cfg.AcceptGap
	if accepted == 0 || p.gapAccepted || !g.means(accepted, frontier, info) {
		return 0, nil
	}
	to := info.Insert
	if p.keeper != nil {
		var err error
		if to, err = p.keeper.acceptUpTo(ctx, info, to); err != nil {
			return 0, err
		}
	}
	p.beyond(offset.Range{From: frontier, To: to})
	return to, nil
}

// means tells whether the accepted position is the beginning of the gap that the
// frontier stands at. The process that named it may have come a little further
// than the slot had on record when it ended: a keepalive had raised its
// frontier. So once the same gap is hit again, every position counts behind
// which nothing was received in between.
func (g *generation) means(accepted, frontier decoder.LSN, info SessionInfo) bool {
	if accepted == frontier {
		return true
	}
	return isGap(g.p.missing) && accepted >= max(g.resume.floor, g.resume.end) && accepted <= info.Insert
}

// isGap tells whether the hold is about a gap.
func isGap(err error) bool {
	var g *gapError
	return errors.As(err, &g)
}
