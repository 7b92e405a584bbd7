package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// queueSpans bounds the hand-over. The ledger's window bounds what is in it.
const queueSpans = 256

// settleTimeout bounds the wait for what is in flight when sinks are given up.
const settleTimeout = 10 * time.Second

// generation is the life of one set of sinks. When one of them fails, all that
// it has in flight is settled, and the next generation starts again at the
// confirmed position.
type generation struct {
	p      *Pipeline
	sinks  []sink.Sink // by kind; the sender's, which may replace them
	queue  chan span
	resume resume
	rest   span // of the last session; see reader.carry

	// careful: there are suspects, so that what is in flight is counted.
	careful bool
	flight  *flight

	mu      sync.Mutex
	refused []decoder.Position // of records that a sink refused; guarded by mu until run has returned

	once   sync.Once
	failed chan struct{}
	err    error // valid once failed is closed
}

// openSinks makes a sink of each kind.
func (g *generation) openSinks() error {
	opened, err := g.p.cfg.OpenSinks(g.result)
	if err != nil {
		return fmt.Errorf("open the sinks: %w", err)
	}
	sinks := make([]sink.Sink, 0, len(g.p.kinds))
	for _, kind := range g.p.kinds {
		if opened[kind] == nil {
			return fmt.Errorf("%w: %s", errNoSink, kind)
		}
		sinks = append(sinks, opened[kind])
	}
	g.sinks = sinks
	return nil
}

// fail ends the generation; the first failure counts.
func (g *generation) fail(err error) {
	g.once.Do(func() {
		g.err = err
		close(g.failed)
	})
}

// result is the Results of every sink.
func (g *generation) result(rec *sink.Record, err error) {
	it, ok := rec.Owner.(*item)
	if !ok {
		g.fail(fmt.Errorf("a sink returned a record that is not ours: %w", errLedger))
		return
	}
	if err != nil && g.careful && g.flight.land(it, err) {
		return // the sender judges it
	}
	if err != nil {
		g.refuse(it, err)
		g.fail(err)
		return
	}
	g.p.counters.delivered.Add(1)
	c := &g.p.counters.routes[it.route]
	c.delivered[it.out].Add(1)
	c.bytes.Add(int64(len(rec.Value)))
	token, chunk := it.token, it.chunk
	g.p.ledger.Ack(token)
	chunk.release(g.p.ledger, g.p.pool)
	if g.careful {
		g.flight.land(nil, nil)
	}
}

// refuse notes a record that its sink has refused, or failed with for a reason
// that is not known.
func (g *generation) refuse(it *item, err error) {
	if !refuses(err) {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refused = append(g.refused, it.pos)
}

// run works until ctx ends or the generation fails, and returns why: the
// failure, or nil for a stop. All goroutines have ended when it returns.
func (g *generation) run(ctx context.Context) error {
	// Three moments, one after the other: intake stops, sending stops (at once
	// on a failure, after the grace period on a stop), the session is closed.
	intake, stopIntake := context.WithCancelCause(ctx)
	sending, stopSending := context.WithCancel(context.WithoutCancel(ctx))
	defer stopSending()
	defer stopIntake(errStopping)
	sent, settled, closed := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() { defer close(sent); g.send(sending, ctx.Done()) }()
	go func() { defer close(closed); g.sessions(intake, settled) }()

	grace := g.p.cfg.ShutdownGrace
	select {
	case <-ctx.Done():
		g.p.drain()
		stopIntake(errStopping)
	case <-g.failed:
		grace = min(grace, settleTimeout)
		stopIntake(errSinkFailed)
		stopSending()
	}
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	stop := context.AfterFunc(limit, stopSending)
	defer stop()
	<-sent
	err := g.close(limit)
	close(settled)
	<-closed
	select {
	case <-g.failed:
		return g.err
	default:
		return err
	}
}

// close closes all sinks side by side; each gives every record its result.
func (g *generation) close(ctx context.Context) error {
	errs := make(chan error, len(g.sinks))
	for i, s := range g.sinks {
		go func() {
			if err := s.Close(ctx); err != nil {
				errs <- fmt.Errorf("close the %s sink: %w", g.p.kinds[i], err)
				return
			}
			errs <- nil
		}()
	}
	all := make([]error, 0, len(g.sinks))
	for range g.sinks {
		all = append(all, <-errs)
	}
	return errors.Join(all...)
}
