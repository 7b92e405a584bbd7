package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestFrozenBroker: a broker that does not answer for much longer than
// wal_sender_timeout costs neither the session nor an event. The connector does
// not read on without bound either.
func TestFrozenBroker(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	f := r.newFreezer()
	w := r.watch()
	c := startReady(t, r.settings.with(settings{
		"WAL_SENDER_TIMEOUT": "3s", "MAX_IN_FLIGHT_BYTES": "1MiB", "MAX_IN_FLIGHT_EVENTS": "1000",
	}))
	r.insert(1, 100, "a", "b")
	r.settle()
	pid := r.slotNow().pid

	f.freeze()
	end := r.insert(101, 101, "a")
	eventuallyHolding(t, f)
	for i := range 10 {
		r.insert(1+i*1000, (i+1)*1000, "c", "d")
	}
	r.noise(3000)
	elapse(t, 9*time.Second, func() {
		if s := r.slotNow(); s.confirmed >= end || s.pid != pid {
			t.Fatalf("the slot stands at %v with pid %d; nothing above %v is stored, and the pid was %d", s.confirmed, s.pid, end, pid)
		}
	})
	if n := c.status().Stream.Events; n > 1000 {
		t.Errorf("%d events are in flight, the limit is 1000", n)
	}
	if n := c.metric("outbox_cdc_backpressure_seconds_total"); n < 5 {
		t.Errorf("%v seconds of waiting for room, want more than 5", n)
	}
	if peak := c.peakRSS(); !raceEnabled && peak > 100<<20 {
		t.Errorf("%d MB of memory", peak>>20)
	}
	f.release()
	r.settle()
	if s := r.slotNow(); s.pid != pid {
		t.Errorf("the session's pid went from %d to %d", pid, s.pid)
	}
	for line := range strings.Lines(r.db.Server.LogText()) {
		if strings.Contains(line, fmt.Sprintf("[%d]", pid)) && strings.Contains(line, "replication timeout") {
			t.Errorf("the server's log: %s", line)
		}
	}
	r.verify(w, allowed{})
}

// TestLeadersMove: partitions change their brokers under load. That is between
// the producer and the cluster; the session goes on, and nothing is repeated.
func TestLeadersMove(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 3)
	w := r.watch()
	c := startReady(t, r.settings)
	writer := r.startLoad(5*time.Millisecond, 2, "a", "b", "c", "d")
	pid := r.slotNow().pid
	for range 3 {
		writer.more(20)
		r.cluster.ShufflePartitionLeaders()
	}
	writer.more(20)
	writer.stop()
	r.settle()
	if s := r.slotNow(); s.pid != pid {
		t.Errorf("moving leaders cost the session: pid %d, then %d\n%s", pid, s.pid, c.log.end(10))
	}
	r.verify(w, allowed{})
}
