package pipeline

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/outbox-cdc/outbox-cdc/pkg/offset"
)

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
