package pipeline

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

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

func TestExitOnHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, func(c *Config) { c.ExitOnHold = true })
		src := r.session()
		r.server.change(func(s *fakeServer) { s.refuse = &HoldError{Reason: "slot is gone"} })
		src.cut(io.EOF)
		var hold *HoldError
		if err := <-r.ended; !errors.As(err, &hold) || !strings.HasPrefix(hold.Reason, "slot is gone; confirmed so far: 0/64 on timeline 1") {
			t.Errorf("Run: %v", err)
		}
	})
}
