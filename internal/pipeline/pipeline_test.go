package pipeline

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

type testWriter struct{ t *testing.T }

func (w testWriter) Write(b []byte) (int, error) {
	w.t.Log(strings.TrimSpace(string(b)))
	return len(b), nil
}

func testLog(t *testing.T) *slog.Logger { return slog.New(slog.NewTextHandler(testWriter{t}, nil)) }

func TestConfirmsOnlyWhatIsStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil)
		out := <-r.sinks
		out.set(func(s *fakeSink) { s.hold = true })
		src := r.session()
		src.transaction(1000, row(1), row(2))
		src.transaction(2000, row(3))
		src.keepalive(3000, true)
		settle(time.Second)
		r.wantFlush(100) // the slot's own position
		if out.holding() != 3 {
			t.Fatalf("%d records at the sink, want 3", out.holding())
		}
		out.ack(2)
		out.ack(0)
		settle(time.Second)
		r.wantFlush(100)
		out.ack(0)
		settle(time.Second)
		r.wantFlush(3000) // the keepalive stood behind both
		wantIDs(t, out, "e3", "e1", "e2")
		r.end()
		if !r.server.finished {
			t.Error("no last status")
		}
	})
}

func TestFirstStatusIsTheSlotsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil)
		r.session()
		settle(0)
		if st := r.server.lastStatus(); st.Flush != 100 || st.Write != 100 {
			t.Errorf("first status %+v", st)
		}
		r.end()
	})
}

func TestIdleSlotMovesWithKeepalives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil)
		src := r.session()
		for end := lsn(1000); end <= 5000; end += 1000 {
			src.keepalive(end, false)
			settle(300 * time.Millisecond)
			r.wantFlush(end)
		}
		r.end()
	})
}

// A blocked sink fills the window; statuses go on and the session lives.
func TestBlockedSinkKeepsTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, func(c *Config) { c.Limits = offset.Limits{Records: 10, Bytes: 4 << 20} })
		out := <-r.sinks
		out.set(func(s *fakeSink) { s.hold = true })
		src := r.session()
		for i := range 50 {
			src.transaction(lsn(1000+100*i), row(i))
		}
		settle(0)
		before := r.server.statusCount()
		settle(10 * time.Minute)
		if out.holding() != 10 {
			t.Errorf("%d records in flight, want 10", out.holding())
		}
		if n := r.server.statusCount() - before; n < 100 {
			t.Errorf("%d statuses in ten minutes", n)
		}
		if len(r.server.started) != 1 {
			t.Errorf("%d sessions", len(r.server.started))
		}
		r.wantFlush(100)
		r.wantState(StateStreaming)
		out.set(func(s *fakeSink) { s.hold = false })
		out.ackAll()
		settle(time.Second)
		r.wantFlush(endOf(1000 + 100*49))
		if n := len(out.ids()); n != 50 {
			t.Errorf("%d stored, want 50", n)
		}
		r.end()
	})
}

// A transaction many times larger than the window passes while only what is in
// flight takes room.
func TestLargeTransactionPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, func(c *Config) { c.Limits = offset.Limits{Records: 10, Bytes: 1 << 20} })
		out := <-r.sinks
		src := r.session()
		var rows [][]byte
		for i := range 5000 {
			rows = append(rows, row(i))
		}
		src.transaction(1000, rows...)
		settle(time.Second)
		r.wantFlush(endOf(1000))
		for i, id := range out.ids() {
			if id != fmt.Sprintf("e%d", i) {
				t.Fatalf("%d-th stored is %s", i, id)
			}
		}
		r.end()
	})
}

// The stream is lost in the middle of a transaction. The next session starts
// behind the last whole one, and nothing is delivered twice.
func TestReconnectKeepsTheLedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil)
		out := <-r.sinks
		src := r.session()
		src.transaction(1000, row(1))
		src.send(begin(2000), row(2), row(3))
		src.cut(io.ErrUnexpectedEOF)
		src = r.session()
		src.send(begin(2000), relation(outboxOID, "outbox"), row(2))
		src.cut(io.EOF)
		src = r.session()
		src.keepalive(1500, true)
		src.transaction(2000, row(2), row(3), row(4))
		src.transaction(3000, row(5))
		settle(time.Second)
		wantIDs(t, out, "e1", "e2", "e3", "e4", "e5")
		r.wantFlush(endOf(3000))
		if got := fmt.Sprint(r.server.started); got != fmt.Sprint([]lsn{0, endOf(1000), endOf(1000)}) {
			t.Errorf("started at %v", got)
		}
		r.end()
	})
}

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

func TestDroppedAndForeignRowsMoveTheSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil)
		src := r.session()
		src.send(begin(1000), relation(outboxOID, "outbox"), relation(otherOID, "other"),
			insert(outboxOID, "d", "debug", "k"), insert(otherOID, "x", "order", "k"), commit(1000))
		settle(time.Second)
		r.wantFlush(endOf(1000))
		n := r.p.Totals()
		if n.OtherTable != 1 || n.Tables[0].N != 1 || n.Routes[1].Dropped != 1 || n.Transactions != 1 {
			t.Errorf("totals %+v", n)
		}
		r.end()
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

func TestStopWaitsForWhatIsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil)
		out := <-r.sinks
		out.set(func(s *fakeSink) { s.hold = true })
		src := r.session()
		src.transaction(1000, row(1), row(2))
		settle(0)
		r.stop()
		settle(time.Second)
		r.wantState(StateDraining)
		src.transaction(2000, row(3)) // must not be taken any more
		out.ack(0)
		out.ack(0)
		if err := <-r.ended; err != nil {
			t.Errorf("Run: %v", err)
		}
		r.wantFlush(endOf(1000))
		wantIDs(t, out, "e1", "e2")
		if !r.server.finished || !out.closed {
			t.Error("session and sink must be closed")
		}
	})
}

func TestStopGivesUpAfterTheGracePeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil)
		out := <-r.sinks
		out.set(func(s *fakeSink) { s.hold = true })
		src := r.session()
		src.transaction(1000, row(1))
		settle(0)
		began := time.Now()
		r.end()
		if took := time.Since(began); took != 20*time.Second {
			t.Errorf("stopped after %v", took)
		}
		r.wantFlush(100)
		if !r.server.finished {
			t.Error("no last status")
		}
	})
}

func TestNewTimelineStartsAtTheSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil)
		<-r.sinks
		src := r.session()
		src.transaction(9000, row(1))
		settle(time.Second)
		r.wantFlush(endOf(9000))
		r.server.change(func(s *fakeServer) { s.info.Timeline, s.info.SlotConfirmed = 2, 500 })
		src.cut(io.EOF)
		fresh := <-r.sinks
		src = r.session()
		settle(0)
		r.wantFlush(500) // never a position of the old timeline
		src.transaction(600, row(2))
		settle(time.Second)
		wantIDs(t, fresh, "e2")
		r.wantFlush(endOf(600))
		if got := r.server.started[1]; got != 0 {
			t.Errorf("started at %v, want the slot's own position", got)
		}
		r.end()
	})
}

func TestAnotherSystemOrAnOldPrimaryIsHeld(t *testing.T) {
	for name, change := range map[string]func(*SessionInfo){
		"another system": func(i *SessionInfo) { i.SystemID = "2" },
		"old primary":    func(i *SessionInfo) { i.Timeline = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, nil)
				src := r.session()
				good := r.server.info
				r.server.change(func(s *fakeServer) { change(&s.info) })
				src.cut(io.EOF)
				settle(time.Minute)
				r.wantState(StateHeld)
				if n := len(r.server.started); n != 1 {
					t.Errorf("%d sessions", n)
				}
				r.server.change(func(s *fakeServer) { s.info = good })
				r.session()
				settle(0)
				r.wantState(StateStreaming)
				r.end()
			})
		})
	}
}

func TestHoldAndResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil)
		src := r.session()
		r.server.change(func(s *fakeServer) { s.refuse = &HoldError{Reason: "slot is gone", Remedy: "outbox-cdc setup"} })
		src.cut(&pgconn.PgError{Code: "57P01", Message: "terminating"})
		settle(time.Hour)
		r.wantState(StateHeld)
		if st := r.p.Status(); st.Ready || !st.Alive || st.Remedy != "outbox-cdc setup" {
			t.Errorf("status %+v", st)
		}
		r.server.change(func(s *fakeServer) { s.refuse = nil })
		r.session()
		settle(0)
		r.wantState(StateStreaming)
		r.end()
	})
}

func TestExitOnHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, func(c *Config) { c.ExitOnHold = true })
		src := r.session()
		r.server.change(func(s *fakeServer) { s.refuse = &HoldError{Reason: "slot is gone"} })
		src.cut(io.EOF)
		var hold *HoldError
		if err := <-r.ended; !errors.As(err, &hold) || hold.Reason != "slot is gone" {
			t.Errorf("Run: %v", err)
		}
	})
}

func TestBusySlotIsStandby(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil)
		r.server.change(func(s *fakeServer) { s.refuse = &BusyError{Slot: "s", PID: 9} })
		// The first attempt may have come before; a lost stream makes another.
		select {
		case src := <-r.server.arrived:
			src.cut(io.EOF)
		default:
		}
		settle(time.Minute)
		r.wantState(StateStandby)
		if !r.p.Status().Ready {
			t.Error("a standby is ready")
		}
		r.server.change(func(s *fakeServer) { s.refuse = nil })
		settle(1100 * time.Millisecond)
		r.wantState(StateStreaming)
		r.end()
	})
}

func TestSilentServerIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil)
		r.session()
		began := time.Now()
		r.session()
		if took := time.Since(began); took < 15*time.Second || took > 25*time.Second {
			t.Errorf("a silent server was left after %v", took)
		}
		r.end()
	})
}

func TestDatabaseDownIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil)
		src := r.session()
		r.server.change(func(s *fakeServer) { s.refuse = errors.New("connection refused") })
		src.cut(io.EOF)
		settle(30 * time.Second)
		r.wantState(StateConnecting)
		if !r.p.Status().Ready {
			t.Error("a short reconnect must not make it unready")
		}
		settle(60 * time.Second)
		if st := r.p.Status(); st.Ready || !st.Alive {
			t.Errorf("status %+v after more than a minute", st)
		}
		r.server.change(func(s *fakeServer) { s.refuse = nil })
		r.session()
		settle(0)
		r.wantState(StateStreaming)
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
		if h := r.p.Status().Halted; h == nil || h.Position != "00000000/000003E8:0000000002" || h.Reason != "row_too_large" {
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
