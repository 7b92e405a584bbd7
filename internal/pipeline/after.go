package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl"
)

// after decides what follows the end of a session, or of an attempt at one, and
// waits accordingly.
func (g *generation) after(ctx context.Context, err error, retry *backoff) {
	p := g.p
	var hold *HoldError
	var busy *BusyError
	switch {
	case errors.Is(err, errNewHistory), errors.Is(err, errResume), errors.Is(err, errLedger):
		g.fail(err)
		<-ctx.Done()
	case errors.As(err, &busy) && p.cfg.NoStandby:
		g.hold(ctx, err, &HoldError{Reason: busy.Error(), Remedy: "stop the other instance, or set OUTBOX_CDC_STANDBY=true to wait for the slot"})
	case errors.As(err, &busy):
		p.condition(Condition{State: StateStandby, Reason: busy.Error()})
		retry.reset()
		p.wait(ctx, p.cfg.StandbyPoll)
	case errors.As(err, &hold):
		g.hold(ctx, err, hold)
	case errors.Is(err, errServerShutdown):
		p.condition(Condition{State: StateConnecting, Reason: err.Error()})
		p.wait(ctx, max(shutdownPause, retry.next()))
	default:
		if errors.Is(err, pgrepl.ErrSilent) {
			p.silences++
		}
		p.condition(Condition{State: StateConnecting, Reason: err.Error()})
		p.wait(ctx, retry.next())
	}
}

// hold waits at what an operator must mend, or says so and ends.
func (g *generation) hold(ctx context.Context, err error, hold *HoldError) {
	p := g.p
	c := Condition{State: StateHeld, Reason: hold.Reason, Remedy: hold.Remedy}
	if _, ok := errors.AsType[*undecodableError](err); ok {
		c.State = StateHalted
	}
	if p.history != nil && !isGap(err) {
		// A slot that is gone, or a server that has not got it, leaves this as
		// all that is known of where we were.
		c.Reason += fmt.Sprintf("; confirmed so far: %s on timeline %d of system %s", p.ledger.Confirmed(), p.history.Timeline, p.history.SystemID)
	}
	p.condition(c)
	if p.cfg.ExitOnHold {
		g.fail(&HoldError{Reason: c.Reason, Remedy: c.Remedy, Err: err})
		<-ctx.Done()
		return
	}
	p.wait(ctx, p.cfg.HoldRetry)
}

// patienceMax bounds the liveness limit.
const patienceMax = 10 * time.Minute

// patience is how long a server may be silent. It doubles with each session
// that ended so without progress: decoding a neighbour's huge transaction may
// take its time, and must not become a loop of reconnects.
func (p *Pipeline) patience(senderTimeout time.Duration) time.Duration {
	limit := senderTimeout
	if limit <= 0 {
		limit = livenessOff
	}
	for range p.silences {
		if limit *= 2; limit >= patienceMax {
			return max(patienceMax, senderTimeout)
		}
	}
	return limit
}
