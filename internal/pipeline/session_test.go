package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"

	"github.com/jackc/pgx/v5/pgconn"
)

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

// What an attempt that came no further saw of a server must not be left behind:
// the next server's slot would be moved there.
func TestPositionOfAServerThatNeverStreamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := true
		r := start(t, func(c *Config) {
			connect := c.Connect
			c.Connect = func(ctx context.Context) (Session, error) {
				s, err := connect(ctx)
				f, ok := s.(*fakeSession)
				if !ok {
					return s, err
				}
				if first {
					first = false
					f.info.SlotConfirmed = 9000
					return failingStart{f}, nil
				}
				f.info.Timeline, f.info.SlotConfirmed = 2, 500
				return f, nil
			}
		})
		r.session()
		settle(time.Second)
		r.wantFlush(500)
		r.end()
	})
}

type failingStart struct{ *fakeSession }

func (failingStart) Start(context.Context, decoder.LSN) (Source, error) {
	return nil, errors.New("the server is going down")
}

// An old primary is refused also after the history has been given up, and when
// the new primary was only seen.
func TestOldPrimaryAfterAFailover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil)
		src := r.session()
		src.transaction(1000, row(1))
		settle(time.Second)
		old := r.server.info
		old.SlotConfirmed = endOf(1000)
		connects := 0
		r.server.change(func(s *fakeServer) {
			s.onConnect = func(i *SessionInfo) error {
				connects++
				if connects == 1 {
					i.Timeline = 2
				} else {
					*i = old
				}
				return nil
			}
		})
		src.cut(io.EOF)
		settle(time.Minute)
		r.wantState(StateHeld)
		if n := len(r.server.started); n != 1 {
			t.Errorf("%d sessions", n)
		}
		r.end()
	})
}

// A server that takes the connection and then says nothing is given up.
func TestFrozenServerIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		r := start(t, func(c *Config) {
			connect := c.Connect
			c.Connect = func(ctx context.Context) (Session, error) {
				if attempts++; attempts == 1 {
					<-ctx.Done()
					return nil, context.Cause(ctx)
				}
				return connect(ctx)
			}
		})
		began := time.Now()
		r.session()
		if took := time.Since(began); took < connectBeat || took > connectBeat+time.Second {
			t.Errorf("given up after %v", took)
		}
		r.end()
	})
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
		r.server.change(func(s *fakeServer) { s.mute = true })
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
