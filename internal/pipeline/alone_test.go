package pipeline

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

func refusal(kind sink.Kind) *sink.Error {
	return &sink.Error{Kind: kind, Scope: sink.ScopeBatch, Sink: "kafka", Destination: "orders", Reason: "rejected", Err: errors.New("no")}
}

// refusedTogether is a rig whose first sink has stored e0 and refused e1 to e3
// together. What follows waits at the second one, whose session has all rows.
func refusedTogether(t *testing.T, change func(*Config)) (*rig, *fakeSink) {
	t.Helper()
	r := start(t, change)
	old := <-r.sinks
	r.holds.Store(true)
	serve := func(src *fakeSource) {
		src.transaction(1000, row(0), row(1), row(2), row(3))
		src.transaction(2000, row(4), row(5))
	}
	old.set(func(s *fakeSink) { s.hold = true })
	serve(r.session())
	settle(0)
	old.ack(0)
	old.ack(3) // e4 was stored before
	for range 3 {
		old.failOldest(refusal(sink.Poison))
	}
	old.ackAll()
	out := <-r.sinks
	serve(r.session())
	settle(0)
	return r, out
}

// wantSent holds what the sink has in its hands, in order.
func wantSent(t *testing.T, s *fakeSink, want ...string) {
	t.Helper()
	settle(time.Second)
	s.mu.Lock()
	defer s.mu.Unlock()
	var got []string
	for _, r := range s.held {
		got = append(got, idOf(r))
	}
	if len(got) != len(want) {
		t.Fatalf("at the sink: %v, want %v", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("at the sink: %v, want %v", got, want)
		}
	}
}

// narrow refuses what was refused until one is left, and returns the sink that
// has it.
func narrow(r *rig, out *fakeSink) *fakeSink {
	out.ack(0) // no suspect
	settle(0)
	for out.holding() > 1 {
		for out.holding() > 0 {
			out.failOldest(refusal(sink.Poison))
		}
		out = <-r.sinks
		settle(0)
	}
	return out
}

// What was refused together goes out with nothing else, the rest as ever.
func TestSuspectsGoAsAGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, out := refusedTogether(t, nil)
		r.wantState(StateCareful)
		if !r.p.Status().Ready {
			t.Error("not ready while careful")
		}
		wantSent(t, out, "e0")
		out.ack(0)
		wantSent(t, out, "e1", "e2", "e3")
		out.ack(2)
		out.ack(0)
		wantSent(t, out, "e2")
		r.wantFlush(100)
		out.ack(0)
		wantSent(t, out, "e4", "e5")
		r.wantState(StateStreaming)
		out.ackAll()
		settle(time.Second)
		r.wantFlush(endOf(2000))
		r.end()
	})
}

// The one that fails alone is the poison. It is tried again in its place, with a
// new sink, without repeating anything, and the others wait.
func TestPoisonIsTriedInItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, out := refusedTogether(t, nil)
		out.ack(0)
		wantSent(t, out, "e1", "e2", "e3")
		out.ack(0)
		out.failOldest(refusal(sink.Retriable)) // only because the other is refused
		wantSent(t, out, "e3")
		out.failOldest(refusal(sink.Poison))
		out = <-r.sinks
		var since time.Time
		for range 3 {
			wantSent(t, out, "e2")
			out.failOldest(refusal(sink.Poison))
			settle(time.Second)
			r.wantState(StateHalted)
			h := r.p.Status().Halted
			if h == nil || h.EventID != "e2" || h.Position != "00000000/000003E8:0000000003" || h.Route != "order" || h.Reason != "rejected" {
				t.Fatalf("halted %+v", h)
			}
			if since.IsZero() {
				since = h.Since
			}
			if h.Since != since {
				t.Errorf("halted since %v, first since %v", h.Since, since)
			}
			failed := out
			if out = <-r.sinks; !failed.closed {
				t.Error("the sink that has failed is open")
			}
		}
		wantSent(t, out, "e2")
		out.ack(0)
		wantSent(t, out, "e3")
		r.wantState(StateCareful)
		out.ack(0)
		wantSent(t, out, "e4", "e5")
		if n := len(r.server.started); n != 2 {
			t.Errorf("%d sessions, want two", n)
		}
		out.ackAll()
		r.end()
		r.wantFlush(endOf(2000))
	})
}

// A sink that is done may hold back what it has: it is not waited for.
func TestSinkHoldsBackTheRestOfAGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, out := refusedTogether(t, nil)
		out.ack(0)
		wantSent(t, out, "e1", "e2", "e3")
		out.failOldest(refusal(sink.Poison))
		began := time.Now()
		out = <-r.sinks
		if took := time.Since(began); took > settleTimeout {
			t.Errorf("the next sink came after %v", took)
		}
		wantSent(t, out, "e1", "e2")
		out.ackAll()
		wantSent(t, out, "e3")
		out.ackAll()
		r.stop()
		settle(0)
		out.ackAll()
		r.end()
	})
}

// A sink that is done before it has the whole group is one more refusal.
func TestSinkEndsInAGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, out := refusedTogether(t, nil)
		out.set(func(s *fakeSink) {
			s.refuse = func(rec *sink.Record) error {
				if idOf(rec) == "e2" {
					s.failure = refusal(sink.Poison)
				}
				return s.failure
			}
		})
		out.ack(0)
		wantSent(t, out, "e1")
		out.ack(0)
		out = <-r.sinks
		wantSent(t, out, "e2")
		out.ack(0)
		wantSent(t, out, "e3")
		if n := len(r.server.started); n != 2 {
			t.Errorf("%d sessions, want two", n)
		}
		r.stop()
		out.ackAll()
		r.end()
	})
}

// A suspect that fails for another reason is not the poison.
func TestSuspectFailsOtherwise(t *testing.T) {
	for kind, want := range map[sink.Kind]State{sink.Config: StateHeld, sink.Retriable: StateCareful} {
		synctest.Test(t, func(t *testing.T) {
			r, out := refusedTogether(t, nil)
			out.ack(0)
			wantSent(t, out, "e1", "e2", "e3")
			out.failOldest(refusal(kind))
			out.ackAll()
			settle(time.Second)
			if want == StateCareful {
				r.session()
				settle(0)
			}
			r.wantState(want)
			r.end()
		})
	}
}

// A stop does not wait for a poison, and ExitOnHold ends with it.
func TestPoisonEndsTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, out := refusedTogether(t, func(c *Config) { c.ExitOnHold = true })
		narrow(r, out).failOldest(refusal(sink.Poison))
		hold, ok := errors.AsType[*HoldError](<-r.ended)
		if !ok || hold.Remedy == "" {
			t.Errorf("ended with %+v", hold)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		r, out := refusedTogether(t, func(c *Config) { c.HoldRetry = time.Hour })
		narrow(r, out).failOldest(refusal(sink.Poison))
		settle(0)
		r.wantState(StateHalted)
		began := time.Now()
		r.end()
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("the stop took %v", took)
		}
		r.wantFlush(100)
	})
}

// A failure without a known reason is tried again; the third one at the same
// position says that the stream has stopped, and is tried more slowly.
func TestUnknownFailureHaltsAfterThree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil)
		for n := 1; n <= 5; n++ {
			out := <-r.sinks
			out.set(func(s *fakeSink) { s.refuse = func(*sink.Record) error { return refusal(sink.Fatal) } })
			began := time.Now()
			r.session().transaction(1000, row(1))
			settle(0)
			switch st := r.p.Status(); {
			case n < 3 && st.State != StateConnecting, n >= 3 && st.State != StateHalted:
				t.Errorf("failure %d: state %v", n, st.State)
			case n >= 3 && len(r.sinks) > 0:
				t.Errorf("failure %d: the next sink came after %v", n, time.Since(began))
			}
		}
		out := <-r.sinks
		r.session().transaction(1000, row(1))
		settle(time.Second)
		r.wantState(StateStreaming)
		r.wantFlush(endOf(1000))
		for range 2 { // elsewhere it is counted anew
			out.set(func(s *fakeSink) { s.refuse = func(*sink.Record) error { return refusal(sink.Fatal) } })
			r.server.session.transaction(2000, row(2))
			settle(0)
			r.wantState(StateConnecting)
			out = <-r.sinks
			r.session()
		}
		r.end()
	})
}

// Positions of an old history suspect nothing in a new one.
func TestSuspectsEndWithTheirHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, out := refusedTogether(t, nil)
		wantSent(t, out, "e0")
		r.holds.Store(false)
		r.server.change(func(s *fakeServer) { s.info.Timeline, s.info.SlotConfirmed = 2, 500 })
		r.server.session.cut(io.EOF)
		settle(time.Minute)
		r.session().transaction(1000, row(1), row(2))
		settle(time.Second)
		r.wantState(StateStreaming)
		r.wantFlush(endOf(1000))
		r.end()
	})
}
