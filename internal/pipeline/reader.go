package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/router"
)

// tickFrames is after how many buffered frames the clock is looked at.
const tickFrames = 256

// reader reads one stream. It is the only one that touches the source.
type reader struct {
	p     *Pipeline
	gen   *generation
	src   Source
	dec   *decoder.Decoder
	cad   cadence
	info  SessionInfo
	at    decoder.LSN   // where the stream was to begin; 0: where the slot stands
	reach decoder.LSN   // the server's WAL is known to come so far
	live  time.Duration // longest silence of a server that is alive

	chunk    *chunk
	from     int // first item of chunk that was not handed over
	event    decoder.Event
	decision router.Decision
	table    *decoder.Table // of the last row
	rows     *atomic.Int64  // and its counter
	// unblocked is when the reader last waited for room: it did not read
	// then, so silence before it is no sign of a dead server.
	unblocked time.Time
	stopping  shutdownWatch
	verified  time.Time // when the server last said that the slot is ours
}

// run reads until the context ends, which makes it return the context's cause,
// or until the stream fails.
func (r *reader) run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, r.src.Interrupt)
	defer stop()
	defer r.leave()
	err := r.read(ctx)
	var hold *HoldError
	if errors.As(err, &hold) && ctx.Err() == nil {
		if lost := r.settle(ctx, hold); lost != nil {
			return lost
		}
	}
	return err
}

// settle keeps the session until everything that came before a hold is stored
// and confirmed.
func (r *reader) settle(ctx context.Context, hold *HoldError) error {
	if err := r.flush(ctx); err != nil {
		return err
	}
	r.p.condition(Condition{State: StateHeld, Reason: hold.Reason, Remedy: hold.Remedy})
	return r.keepAlive(ctx, func(due <-chan time.Time) bool {
		if n, _ := r.p.ledger.InFlight(); n == 0 {
			return true
		}
		select {
		case <-r.p.ledger.Freed():
		case <-due:
		case <-ctx.Done():
		}
		return false
	})
}

// read reads frames.
func (r *reader) read(ctx context.Context) error {
	if err := r.carry(ctx); err != nil {
		return err
	}
	var deadline time.Time
	for n := 0; ; n++ {
		if n%tickFrames == 0 || !r.src.Buffered() {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := r.pauseWork(ctx); err != nil {
				return err
			}
			deadline = r.wake()
		}
		f, err := r.src.Next(deadline)
		if err != nil {
			return err
		}
		if err := r.frame(ctx, &f); err != nil {
			return err
		}
	}
}

// pauseWork is done whenever nothing is buffered: what was read goes on, and
// the status if it is due.
func (r *reader) pauseWork(ctx context.Context) error {
	if err := r.flush(ctx); err != nil {
		return err
	}
	return r.turn(ctx, time.Now())
}

// turn is done whenever the reader comes by: it sees to it that the session is
// still ours, lets the sender know, and sends a status if one is due.
func (r *reader) turn(ctx context.Context, now time.Time) error {
	fence := r.p.fence
	if fence.stale(now) || fence.late(r.heard(), now) {
		if err := r.verify(ctx, fence.stale(now)); err != nil {
			return err
		}
		now = time.Now()
		r.verified = now
	}
	fence.renew(now)
	if r.stopping.certain(now, r.p.ledger.Confirmed()) && !r.p.ledger.Idle() {
		return r.letGo()
	}
	return r.status(now)
}

// verifyTimeout bounds one question over an ordinary connection. Statuses wait
// for it.
const verifyTimeout = 2 * time.Second

// heard is when it was last known that the session lives.
func (r *reader) heard() time.Time {
	if heard := r.src.Received(); heard.After(r.verified) {
		return heard
	}
	return r.verified
}

// verify asks whether the slot is still ours: after a pause of the whole
// process, when what the socket holds proves nothing, because it may be from
// before; and while the reader can't read, when a dead connection looks like a
// healthy one.
func (r *reader) verify(ctx context.Context, paused bool) error {
	if r.p.cfg.OwnsSlot == nil {
		return nil
	}
	if paused {
		r.p.cfg.Log.Warn("the process was paused; asking the server whether the slot is still ours")
	}
	ctx, cancel := context.WithTimeout(ctx, verifyTimeout)
	defer cancel()
	ours, err := r.p.cfg.OwnsSlot(ctx, r.info.PID)
	if err != nil {
		return fmt.Errorf("ask who has the slot: %w", err)
	}
	if !ours {
		return errNewHistory
	}
	return nil
}

// wake is until when the reader may wait for the server.
func (r *reader) wake() time.Time {
	flush, l := r.p.flushable(), r.p.ledger
	wake := r.cad.wake(time.Now(), flush, !l.Idle() || l.Confirmed() > flush)
	r.p.beat.expect(wake)
	return wake
}

// status sends one if it is due.
func (r *reader) status(now time.Time) error {
	confirmed := r.p.flushable()
	if now.Before(r.cad.due(confirmed)) {
		return nil
	}
	return r.src.SendStatus(r.cad.take(now, confirmed))
}

// frame handles what the server sent.
func (r *reader) frame(ctx context.Context, f *pgrepl.Frame) error {
	switch f.Kind {
	case pgrepl.FrameData:
		r.cad.saw(f.WALEnd)
		return r.data(ctx, f.Data)
	case pgrepl.FrameKeepalive:
		return r.keepalive(ctx, f)
	case pgrepl.FrameTooLarge:
		return r.oversized(ctx, f)
	case pgrepl.FrameNotice:
		return r.notice(f)
	case pgrepl.FrameNone:
		heard := r.src.Received()
		if r.unblocked.After(heard) {
			heard = r.unblocked
		}
		if time.Since(heard) > r.live {
			return fmt.Errorf("%w of %v", pgrepl.ErrSilent, r.live)
		}
	}
	return nil
}

// keepalive moves an idle slot. Between Begin and Commit the ledger drops it,
// and so does a transaction that was cut off and is still to come again.
func (r *reader) keepalive(ctx context.Context, f *pgrepl.Frame) error {
	if err := r.within(ctx, f.WALEnd); err != nil {
		return err
	}
	r.cad.saw(f.WALEnd)
	if f.ReplyRequested {
		r.cad.asked = true
		r.stopping.asked(time.Now(), f.WALEnd, r.p.ledger.Confirmed())
	}
	r.p.ledger.Keepalive(f.WALEnd)
	return nil
}

// data decodes one message. Only an INSERT needs room in the arena.
func (r *reader) data(ctx context.Context, msg []byte) error {
	var arena []byte
	if decoder.Kind(msg[0]) == decoder.KindInsert {
		if err := r.makeRoom(ctx, len(msg)+r.p.formatRoom(len(msg))); err != nil {
			return err
		}
		arena = r.chunk.arena
	}
	arena, out, err := r.dec.Decode(msg, arena, &r.event)
	if err != nil {
		return undecodable(err)
	}
	c := &r.p.counters
	switch out {
	case decoder.OutcomeEvent:
		r.chunk.arena = arena
		r.countRow()
		return r.admit(ctx)
	case decoder.OutcomeBegin:
		return r.begin()
	case decoder.OutcomeCommit:
		return r.commit(ctx)
	case decoder.OutcomeOtherTable:
		c.otherTable.Add(1)
	case decoder.OutcomeIgnoredOp:
		c.ignoredOps.Add(1)
	case decoder.OutcomeRelation, decoder.OutcomeIgnored:
	}
	return nil
}

// countRow counts a row of a configured table.
func (r *reader) countRow() {
	if r.table != r.event.Table {
		r.table = r.event.Table
		name, _ := r.p.cfg.Tables.Match(r.table.Name.Schema, r.table.Name.Name)
		r.rows = r.p.counters.tables[name]
	}
	r.rows.Add(1)
}

func (r *reader) begin() error {
	final := r.dec.Tx().FinalLSN
	if final < r.at {
		return &HoldError{
			Reason: fmt.Sprintf("the server sent the transaction at %s, before %s where the stream was to begin", final, r.at),
			Remedy: "see that this is the server that was streamed from before, and no copy of it; nothing is skipped",
		}
	}
	again, ok := r.gen.resume.begin(final)
	if !ok {
		return errResume
	}
	if !again && !r.p.ledger.Open() {
		return errLedger
	}
	return nil
}

func (r *reader) commit(ctx context.Context) error {
	_, end, _ := r.dec.LastCommit()
	if err := r.within(ctx, end); err != nil {
		return err
	}
	if !r.p.ledger.Seal(end) {
		return errLedger
	}
	r.gen.resume.commit(end)
	r.cad.saw(end)
	r.p.counters.transactions.Add(1)
	return nil
}

// notice passes the server's warnings on. One of them is not a warning: with
// PostgreSQL 18 it is all that is said when the publication is missing, the
// rows are skipped, and everything after it would confirm them.
func (r *reader) notice(f *pgrepl.Frame) error {
	n := f.Notice
	if n.SeverityUnlocalized == "WARNING" && n.Code == "55000" {
		return r.p.gap(r.gen.frontier(), "the server can't load the publication: "+n.Message, nil)
	}
	r.p.cfg.Log.Warn("notice from the server", "code", n.Code, "message", n.Message)
	return nil
}

// undecodable makes a decoder's error an operator's.
func undecodable(err error) error {
	return &HoldError{Reason: err.Error(), Remedy: "nothing is skipped; look at the table's definition and the release notes", Err: err}
}
