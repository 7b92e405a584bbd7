package pipeline

import (
	"errors"
	"time"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// unknownLimit is how often a sink may fail at the same confirmed position, for
// a reason that we do not know, before the connector says that it has stopped.
const unknownLimit = 3

// asHold is err for an operator.
func asHold(err error) *HoldError {
	if hold, ok := errors.AsType[*HoldError](err); ok {
		return hold
	}
	return &HoldError{Reason: err.Error(), Err: err}
}

// judge says what a failed generation means.
func (p *Pipeline) judge(err error, retry *backoff) (Condition, time.Duration) {
	c := Condition{State: StateConnecting, Reason: err.Error()}
	if errors.Is(err, errNewHistory) || errors.Is(err, errResume) {
		return c, 0
	}
	var hold *HoldError
	kind := sink.KindOf(err)
	switch {
	case kind == sink.Retriable:
		return c, retry.next()
	case kind == sink.Config, errors.As(err, &hold):
		c.State = StateHeld
	case kind == sink.Poison && len(p.refused) > 0:
		p.suspect()
		return c, 0
	case p.unknown() < unknownLimit:
		return c, retry.next()
	default:
		c.State = StateHalted
	}
	c.Remedy = "it is tried again by itself; nothing is skipped"
	return c, p.cfg.HoldRetry
}

// suspect makes what the last generation's sinks refused go out by itself.
func (p *Pipeline) suspect() {
	p.suspects.add(p.refused, int(p.cfg.Limits.Records))
	p.cfg.Log.Warn("a destination refused records together, which says nothing of each; they are sent again in ever smaller groups", "records", len(p.refused))
}

// unknown counts a failure that says nothing, at the confirmed position. From
// the second on the records that failed go out by themselves: if it is one of them, it
// will be found.
func (p *Pipeline) unknown() int {
	if at := p.ledger.Confirmed(); p.unknownAt != at {
		p.unknownAt, p.unknowns = at, 0
	}
	p.unknowns++
	if p.unknowns > 1 && len(p.refused) > 0 {
		p.suspect()
	}
	return p.unknowns
}
