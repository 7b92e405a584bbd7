package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// finishTimeout bounds the last exchange with the server.
const finishTimeout = 2 * time.Second

// sessions streams, reconnects and holds until the context ends, and then
// closes the queue.
func (g *generation) sessions(ctx context.Context, settled <-chan struct{}) {
	retry := backoff{limit: g.p.cfg.BackoffMax}
	for ctx.Err() == nil {
		before := g.p.ledger.Confirmed()
		r, err := g.open(ctx)
		if err == nil {
			err = r.run(ctx)
			g.resume.lost()
			g.p.counters.sessions[outcomeOf(err)].Add(1)
		}
		if ctx.Err() != nil {
			close(g.queue)
			if r != nil {
				r.finish(settled)
			}
			return
		}
		if r != nil {
			r.src.Close()
		}
		if g.p.ledger.Confirmed() > before {
			retry.reset()
		}
		g.after(ctx, err, &retry)
	}
	close(g.queue)
}

// open connects, and starts the stream where this generation left off.
func (g *generation) open(ctx context.Context) (*reader, error) {
	p := g.p
	p.beat.expect(time.Now().Add(connectBeat))
	s, err := p.cfg.Connect(ctx)
	if err != nil {
		return nil, err
	}
	info := s.Info()
	if err := p.sameHistory(info); err != nil {
		s.Close(ctx)
		return nil, err
	}
	p.ledger.Raise(info.SlotConfirmed)
	at := decoder.LSN(0)
	if p.history != nil {
		at = max(g.resume.end, p.ledger.Confirmed())
	}
	src, err := s.Start(ctx, at)
	if err != nil {
		return nil, err
	}
	p.started(info, at)
	r := &reader{
		p: p, gen: g, src: src, dec: p.nextDecoder(),
		cad:  newCadence(p.cfg.StatusInterval, info.SenderTimeout),
		live: livenessOff,
	}
	if info.SenderTimeout > 0 {
		r.live = info.SenderTimeout
	}
	// The first status carries what the server has on record, so that none
	// of this session can be below it.
	if err := src.SendStatus(r.cad.take(time.Now(), p.ledger.Confirmed())); err != nil {
		src.Close()
		return nil, err
	}
	return r, nil
}

// finish keeps the session alive until everything in flight has its result, and
// sends the last status.
func (r *reader) finish(settled <-chan struct{}) {
	err := r.drain(settled)
	if err == nil {
		now := time.Now()
		err = r.src.Finish(r.cad.take(now, r.p.ledger.Confirmed()), now.Add(finishTimeout))
	} else {
		<-settled
		r.src.Close()
	}
	if err != nil {
		r.p.cfg.Log.Warn("the last status may not have reached the server; what it confirmed will be sent again", "error", err)
	}
}

// after decides what follows the end of a session, and waits accordingly.
func (g *generation) after(ctx context.Context, err error, retry *backoff) {
	p := g.p
	var hold *HoldError
	var busy *BusyError
	switch {
	case errors.Is(err, errNewHistory), errors.Is(err, errResume), errors.Is(err, errLedger):
		g.fail(err)
		<-ctx.Done()
	case errors.As(err, &busy):
		p.condition(Condition{State: StateStandby, Reason: busy.Error()})
		retry.reset()
		p.wait(ctx, p.cfg.StandbyPoll)
	case errors.As(err, &hold):
		if p.cfg.ExitOnHold {
			g.fail(hold)
			<-ctx.Done()
			return
		}
		p.condition(Condition{State: StateHeld, Reason: hold.Reason, Remedy: hold.Remedy})
		p.wait(ctx, p.cfg.HoldRetry)
	default:
		pause := retry.next()
		p.condition(Condition{State: StateConnecting, Reason: err.Error()})
		p.wait(ctx, pause)
	}
}

// sameHistory compares the server with the one that was streamed before.
func (p *Pipeline) sameHistory(now SessionInfo) error {
	was := p.history
	switch {
	case was == nil:
		return nil
	case was.SystemID != now.SystemID:
		return &HoldError{
			Reason: fmt.Sprintf("this is another database system (%s) than the one that was streamed (%s)", now.SystemID, was.SystemID),
			Remedy: "point OUTBOX_CDC_DATABASE_URL at the right server, or restart to accept this one",
		}
	case now.Timeline < was.Timeline:
		return &HoldError{
			Reason: fmt.Sprintf("the server is on timeline %d, below %d that was streamed: it is an old primary", now.Timeline, was.Timeline),
			Remedy: "connect to the present primary",
		}
	case now.Timeline > was.Timeline, now.SlotConfirmed > p.ledger.Confirmed():
		return errNewHistory
	}
	return nil
}
