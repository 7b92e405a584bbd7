package pipeline

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

func TestPoisonHaltsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil)
		out := <-r.sinks
		src := r.session()
		src.transaction(1000, row(1))
		src.transaction(2000, row(2), insert(outboxOID, "bad", "no.such.rule", "k"), row(3))
		src.transaction(3000, row(4))
		settle(time.Hour)
		wantIDs(t, out, "e1", "e2")
		r.wantFlush(endOf(1000))
		r.wantState(StateHalted)
		st := r.p.Status()
		if st.Ready || !st.Alive || st.Halted == nil || st.Halted.EventID != "bad" || st.Halted.Position != "00000000/000007D0:0000000002" {
			t.Errorf("status %+v, halted %+v", st, st.Halted)
		}
		if len(r.server.started) != 1 {
			t.Errorf("%d sessions, want the first to live on", len(r.server.started))
		}
		r.end()
		r.wantFlush(endOf(1000))
	})
}

// A record that its sink does not take is offered again, and nothing passes it.
func TestRefusedRecordIsOfferedAgain(t *testing.T) {
	for _, kind := range []sink.Kind{sink.Poison, sink.Config} {
		t.Run(kind.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, nil)
				out := <-r.sinks
				out.set(func(s *fakeSink) {
					s.refuse = func(rec *sink.Record) error {
						if idOf(rec) != "e2" {
							return nil
						}
						return &sink.Error{Kind: kind, Scope: sink.ScopeRecord, Sink: "kafka", Destination: "orders", Reason: "too_large", Err: errors.New("no")}
					}
				})
				src := r.session()
				src.transaction(1000, row(1), row(2), row(3))
				settle(10 * time.Minute)
				wantIDs(t, out, "e1")
				r.wantFlush(100)
				r.wantState(map[sink.Kind]State{sink.Poison: StateHalted, sink.Config: StateHeld}[kind])
				if st := r.p.Status(); st.Ready || (st.Halted != nil) != (kind == sink.Poison) {
					t.Errorf("status %+v", st)
				}
				out.set(func(s *fakeSink) { s.refuse = nil })
				settle(31 * time.Second)
				wantIDs(t, out, "e1", "e2", "e3")
				r.wantState(StateStreaming)
				settle(time.Second)
				r.wantFlush(endOf(1000))
				r.end()
			})
		})
	}
}

// A failed result makes new sinks, which start again at the confirmed position.
func TestFailedSinkRewinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil)
		old := <-r.sinks
		src := r.session()
		src.transaction(1000, row(1))
		settle(time.Second)
		old.set(func(s *fakeSink) { s.hold = true })
		src.transaction(2000, row(2))
		src.transaction(3000, row(3))
		settle(0)
		old.failOldest(&sink.Error{Kind: sink.Config, Scope: sink.ScopeBatch, Sink: "kafka", Destination: "orders", Err: errors.New("access denied")})
		settle(0)
		old.ackAll() // settles while the generation closes
		settle(time.Second)
		r.wantState(StateHeld)
		fresh := <-r.sinks
		src = r.session()
		src.transaction(2000, row(2))
		src.transaction(3000, row(3))
		settle(time.Second)
		wantIDs(t, fresh, "e2", "e3")
		r.wantFlush(endOf(3000))
		r.wantState(StateStreaming)
		if got := r.server.started[1]; got != endOf(1000) {
			t.Errorf("started again at %v, want %v", got, endOf(1000))
		}
		r.end()
	})
}

// With PostgreSQL 18 a missing publication is a warning; nothing that comes
// after it may be confirmed.
func TestSkippedPublicationHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil)
		<-r.sinks
		src := r.session()
		src.transaction(1000, row(1))
		src.frames <- pgrepl.Frame{Kind: pgrepl.FrameNotice, Notice: &pgconn.Notice{SeverityUnlocalized: "NOTICE", Code: "00000"}}
		src.frames <- pgrepl.Frame{Kind: pgrepl.FrameNotice, Notice: &pgconn.Notice{SeverityUnlocalized: "WARNING", Code: "55000", Message: "skipped loading publication"}}
		src.keepalive(9000, true)
		settle(time.Second)
		r.wantState(StateHeld)
		r.end()
		if got := r.p.ledger.Confirmed(); got != endOf(1000) {
			t.Errorf("confirmed %v, want %v", got, endOf(1000))
		}
	})
}

func TestOversizedRowHalts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil)
		out := <-r.sinks
		src := r.session()
		src.send(begin(1000), relation(outboxOID, "outbox"), relation(otherOID, "other"), row(1))
		for _, oid := range []uint32{otherOID, outboxOID} {
			src.frames <- pgrepl.Frame{Kind: pgrepl.FrameTooLarge, Data: insert(oid, "big", "order", "k"), Size: 99_000_000}
		}
		src.send(row(2), commit(1000))
		settle(time.Minute)
		wantIDs(t, out, "e1")
		r.wantState(StateHalted)
		if h := r.p.Status().Halted; h == nil || h.Position != "00000000/000003E8:0000000002" || h.Reason != "row_too_large" ||
			!strings.HasPrefix(h.Error, "a row of table public.outbox is 99000000 bytes long") {
			t.Errorf("halted %+v", h)
		}
		r.wantFlush(100)
		r.end()
	})
}

func TestUndecodableBytesHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil)
		src := r.session()
		src.send(begin(1000), []byte{'I', 0, 0})
		settle(time.Second)
		r.wantState(StateHeld)
		r.end()
	})
}
