package pipeline

import (
	"context"
	"time"
)

// finishTimeout bounds the last exchange with the server.
const finishTimeout = 2 * time.Second

// sessions streams, reconnects and holds until the context ends, and then
// closes the queue.
func (g *generation) sessions(ctx context.Context, settled <-chan struct{}) {
	retry := backoff{limit: g.p.cfg.BackoffMax}
	for ctx.Err() == nil {
		before := g.frontier()
		r, err := g.open(ctx)
		if err == nil {
			err = g.judgeStream(r.run(ctx))
			if ctx.Err() == nil {
				g.p.fence.shut()
			}
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
		if g.frontier() > before {
			retry.reset()
			g.p.silences = 0
		}
		g.after(ctx, err, &retry)
	}
	close(g.queue)
}

// open connects, and starts the stream where this generation left off.
func (g *generation) open(ctx context.Context) (*reader, error) {
	p := g.p
	p.beat.expect(time.Now().Add(connectBeat))
	// A server that is frozen must not hold us for ever: another host may do.
	ctx, cancel := context.WithTimeout(ctx, connectBeat)
	defer cancel()
	s, err := p.cfg.Connect(ctx)
	if err != nil {
		return nil, err
	}
	info := s.Info()
	at, err := g.startAt(ctx, info)
	if err != nil {
		s.Close(ctx)
		return nil, err
	}
	src, err := s.Start(ctx, at)
	if err != nil {
		return nil, err
	}
	p.started(info, at)
	r := &reader{
		p: p, gen: g, src: src, info: info, at: at, reach: info.Insert, dec: p.nextDecoder(info),
		cad:  newCadence(p.cfg.StatusInterval, info.SenderTimeout),
		live: p.patience(info.SenderTimeout),
	}
	// The first status carries what the server has on record, so that none
	// of this session can be below it.
	if err := src.SendStatus(r.cad.take(time.Now(), p.flushable())); err != nil {
		src.Close()
		return nil, err
	}
	p.fence.open(info.SenderTimeout)
	return r, nil
}

// finish keeps the session alive until everything in flight has its result, and
// sends the last status.
func (r *reader) finish(settled <-chan struct{}) {
	err := r.drain(settled)
	if err == nil {
		now := time.Now()
		err = r.src.Finish(r.cad.take(now, r.p.flushable()), now.Add(finishTimeout))
	} else {
		<-settled
		r.src.Close()
	}
	if err != nil {
		r.p.cfg.Log.Warn("the last status may not have reached the server; what it confirmed will be sent again", "error", err)
	}
}
