package pipeline

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset"
)

// A server that shuts down asks again after each answer. With the sink stuck it
// is told, after five seconds, that all is written and nothing is confirmed.
func TestServerMayStopWithAStuckSink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil)
		out := <-r.sinks
		src := r.session()
		src.transaction(1000, row(1)) // an earlier flush
		settle(time.Second)
		r.wantFlush(endOf(1000))
		out.set(func(s *fakeSink) { s.hold = true })
		src.transaction(2000, row(2))
		settle(0)
		r.server.change(func(s *fakeServer) { s.asksAgain = 3000 })
		src.keepalive(3000, true)
		began := time.Now()
		r.session() // the next one
		if took := time.Since(began); took < shutdownAfter+shutdownPause || took > 30*time.Second {
			t.Errorf("the next session came after %v", took)
		}
		settle(0)
		var last pgrepl.Status // of the old session
		r.server.change(func(s *fakeServer) { last = s.statuses[len(s.statuses)-2] })
		if last.Flush != 0 || last.Write != 3000 {
			t.Errorf("the last status was %+v", last)
		}
		r.wantFlush(endOf(1000))
		out.ackAll()
		settle(time.Second)
		r.wantFlush(3000)
		r.end()
	})
}

// A server that asks once, or whose sink goes on, is not shutting down.
func TestServerThatAsksIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil)
		out := <-r.sinks
		out.set(func(s *fakeSink) { s.hold = true })
		src := r.session()
		src.transaction(1000, row(1))
		for range 50 { // the sink is stuck, and the server asks now and then
			src.keepalive(1500, true)
			settle(3 * time.Second)
		}
		for i := range 50 { // the server asks all the time, and the sink goes on
			src.keepalive(1500, true)
			settle(replyPace)
			src.transaction(2000+lsn(100*i), row(2))
			settle(0)
			out.ack(0)
		}
		if n := len(r.server.started); n != 1 {
			t.Errorf("%d sessions", n)
		}
		r.end()
	})
}

func TestBlockedReaderLetsAStoppingServerGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stopping atomic.Bool
		r := start(t, func(c *Config) {
			c.Limits = offset.Limits{Records: 1, Bytes: 4 << 20}
			c.ServerStopping = func(context.Context) bool { return stopping.Load() }
		})
		out := <-r.sinks
		out.set(func(s *fakeSink) { s.hold = true })
		src := r.session()
		src.transaction(1000, row(1), row(2))
		settle(time.Minute)
		if n := len(r.server.started); n != 1 {
			t.Fatalf("%d sessions", n)
		}
		stopping.Store(true)
		settle(6 * time.Second)
		r.wantFlush(0)
		r.wantState(StateConnecting)
		stopping.Store(false)
		src = r.session()
		src.transaction(1000, row(1), row(2))
		out.set(func(s *fakeSink) { s.hold = false })
		out.ackAll()
		settle(time.Second)
		wantIDs(t, out, "e1", "e2")
		r.wantFlush(endOf(1000))
		r.end()
	})
}

// A stream that is halted must not hold the server up either.
func TestHaltedReaderLetsAStoppingServerGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stopping atomic.Bool
		r := start(t, func(c *Config) { c.ServerStopping = func(context.Context) bool { return stopping.Load() } })
		src := r.session()
		src.transaction(1000, insert(outboxOID, "bad", "no.such.rule", "k"))
		settle(time.Minute)
		r.wantState(StateHalted)
		stopping.Store(true)
		settle(11 * time.Second)
		r.wantFlush(0)
		stopping.Store(false)
		src = r.session()
		src.transaction(1000, insert(outboxOID, "bad", "no.such.rule", "k"))
		settle(time.Second)
		r.wantState(StateHalted)
		r.wantFlush(100)
		r.end()
	})
}
