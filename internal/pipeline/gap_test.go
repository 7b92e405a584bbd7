package pipeline

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

var errNoPublication = &pgconn.PgError{Code: "42704", Message: `publication "p" does not exist`}

// The hold over a gap outlives the return of the publication, names the
// position, and ends only with that very position.
func TestGapIsHeldUntilItIsAccepted(t *testing.T) {
	for name, accept := range map[string]lsn{"not accepted": 0, "another gap": 999, "accepted": endOf(1000)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, func(c *Config) { c.AcceptGap = accept })
				r.server.change(func(s *fakeServer) { s.info.Insert = 5000 })
				out := <-r.sinks
				src := r.session()
				src.transaction(1000, row(1))
				settle(time.Second)
				src.cut(errNoPublication)
				if accept == endOf(1000) {
					src = r.session()
					settle(0)
					r.wantFlush(5000)
					if got := r.server.started[1]; got != 5000 {
						t.Errorf("went on at %v", got)
					}
					src.transaction(6000, row(9))
					settle(time.Second)
					wantIDs(t, out, "e1", "e9")
					r.wantState(StateStreaming)
					r.end()
					return
				}
				settle(time.Hour)
				r.wantState(StateHeld)
				if st := r.p.Status(); !strings.Contains(st.Reason, "gap from LSN 0/3F0") || !strings.Contains(st.Remedy, "OUTBOX_CDC_ACCEPT_GAP=0/3F0") {
					t.Errorf("status %+v", st)
				}
				if n := len(r.server.started); n != 1 {
					t.Errorf("%d sessions", n)
				}
				r.end()
			})
		})
	}
}

// A process that was restarted comes to a gap from what the slot has on record,
// which may lie below the position that the first one had named.
func TestGapIsTheSameAfterARestart(t *testing.T) {
	for accept, want := range map[lsn]bool{99: false, 100: true, 101: true, 500: true, 5000: true, 5001: false} {
		t.Run(accept.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, func(c *Config) { c.AcceptGap = accept })
				r.server.change(func(s *fakeServer) { s.info.Insert = 5000 })
				if accept != 100 { // that one it knows at once
					r.session().cut(errNoPublication)
				}
				settle(time.Hour)
				if !want {
					r.wantState(StateHeld)
					r.end()
					return
				}
				r.wantState(StateStreaming)
				r.wantFlush(5000)
				// It counts once.
				r.session().cut(errNoPublication)
				settle(time.Hour)
				r.wantState(StateHeld)
				r.end()
			})
		})
	}
}

// gapBehind cuts the stream at a gap, behind a transaction at a position that is
// still in flight, and connects again to a server whose log ends at insert.
func (r *rig) gapBehind(at, insert decoder.LSN) *fakeSink {
	r.t.Helper()
	r.server.change(func(s *fakeServer) { s.info.Insert = insert })
	out := <-r.sinks
	out.set(func(s *fakeSink) { s.hold = true })
	r.cutAtGap(at)
	return out
}

// cutAtGap cuts the stream at a gap, behind a transaction, and connects again.
func (r *rig) cutAtGap(at decoder.LSN) {
	r.t.Helper()
	src := r.session()
	src.transaction(at, row(1))
	settle(time.Second)
	src.cut(errNoPublication)
	r.session()
	settle(time.Second)
}

// What is in flight when a gap is accepted is still confirmed in its turn.
func TestAcceptedGapQueuesBehindWhatIsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, func(c *Config) { c.AcceptGap = endOf(1000) })
		out := r.gapBehind(1000, 5000)
		r.wantFlush(100)
		out.ackAll()
		settle(time.Second)
		r.wantFlush(5000)
		r.end()
	})
}

func TestServerThatCanNotDecodeIsHalted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil)
		for range serverFaultLimit {
			r.session().cut(&pgconn.PgError{Code: "XX000", Message: "broken", Detail: "secret"})
		}
		settle(time.Second)
		r.wantState(StateHalted)
		if st := r.p.Status(); !strings.Contains(st.Reason, "can't decode what follows 0/64") || strings.Contains(st.Reason, "secret") {
			t.Errorf("reason %q", st.Reason)
		}
		src := r.session() // it is tried again
		src.transaction(1000, row(1))
		settle(time.Second)
		r.wantState(StateStreaming)
		r.end()
	})
}

func TestServerErrorsThatPassAreRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil)
		for _, code := range []string{"57P01", "57P02", "57P03", "53300", "08006", "57014", "25P04"} {
			r.session().cut(&pgconn.PgError{Code: code})
			settle(0)
			r.wantState(StateConnecting)
		}
		r.session()
		r.end()
	})
}

func TestPatienceDoublesWithoutProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil)
		r.server.change(func(s *fakeServer) { s.mute = true })
		src := r.session()
		var waits []time.Duration
		for range 8 {
			began := time.Now()
			src = r.session()
			waits = append(waits, time.Since(began))
		}
		for i, want := 0, 15*time.Second; i < len(waits); i++ {
			if waits[i] < want || waits[i] > want+30*time.Second {
				t.Errorf("%d-th silence lasted %v, want about %v", i, waits[i], want)
			}
			want = min(2*want, patienceMax)
		}
		src.transaction(1000, row(1)) // progress
		settle(time.Second)
		src.cut(io.EOF)
		r.session()
		began := time.Now()
		r.session()
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("after progress a silence lasted %v", took)
		}
		r.end()
	})
}

// A promotion behind which nothing of ours lies changes nothing: the ledger is
// kept, and nothing is sent again.
func TestFailoverBelowTheSwitchPointKeepsTheLedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil)
		out := <-r.sinks
		out.set(func(s *fakeSink) { s.hold = true })
		src := r.session()
		src.transaction(1000, row(1))
		settle(0)
		r.server.change(func(s *fakeServer) {
			s.info.Timeline, s.info.History = 2, pgrepl.History{1: endOf(1000)}
		})
		src.cut(io.EOF)
		src = r.session()
		settle(0)
		out.set(func(s *fakeSink) { s.hold = false })
		out.ackAll()
		src.transaction(2000, row(2))
		settle(time.Second)
		wantIDs(t, out, "e1", "e2")
		r.wantFlush(endOf(2000))
		if got := r.server.started[1]; got != endOf(1000) {
			t.Errorf("went on at %v", got)
		}
		r.end()
	})
}
