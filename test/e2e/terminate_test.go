package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// TestSessionTerminated ends the walsender three times under load. The process
// keeps its ledger: nothing is lost, and nothing is sent twice.
func TestSessionTerminated(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	w := r.watch()
	c := startReady(t, r.settings)
	writer := r.startLoad(2*time.Millisecond, 3, "a", "b", "c")
	for range 3 {
		writer.more(100)
		pid := r.slotNow().pid
		r.db.Exec(t, fmt.Sprintf("SELECT pg_terminate_backend(%d)", pid))
		took := eventually(t, 5*time.Second, "the session is back", func(context.Context) (bool, any) {
			s := r.slotNow()
			return s.pid != 0 && s.pid != pid, s.pid
		})
		t.Logf("streaming again after %v", took)
		writer.more(20)
	}
	writer.stop()
	r.settle()
	if repeats := r.verify(w, allowed{}); len(repeats) != 0 {
		t.Errorf("repeats: %v", repeats)
	}
	if n := c.metric("outbox_cdc_sessions_total"); n != 3 {
		t.Errorf("%v sessions have ended, want 3", n)
	}
}

// TestSessionTerminatedInALargeTransaction cuts the stream in the middle of a
// transaction. What was handed out of it is not sent again.
func TestSessionTerminatedInALargeTransaction(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	w := r.watch()
	startReady(t, r.settings)
	r.insert(1, 10, "a")
	r.settle()
	// The window is far smaller than the transaction.
	f := r.newFreezer()
	pid := r.slotNow().pid
	r.insert(1, 15000, "b", "c", "d", "e")
	r.awaitStored(topic, 1000)
	f.freeze()
	eventuallyHolding(t, f)
	r.db.Exec(t, fmt.Sprintf("SELECT pg_terminate_backend(%d)", pid))
	// A reader that waits for room learns of it at half of wal_sender_timeout.
	eventually(t, 30*time.Second, "the session is back", func(context.Context) (bool, any) {
		s := r.slotNow()
		return s.pid != 0 && s.pid != pid, s.pid
	})
	if n := r.stored(topic); n >= 60000 {
		t.Fatalf("%d records: the stream was not cut in the transaction", n)
	}
	f.release()
	r.settle()
	r.verify(w, allowed{})
}

// TestSessionTerminatedAllTheTime: somebody ends the walsender as soon as there
// is one. That is trouble, but no outage: nothing is lost or repeated, and the
// connector stays ready within its grace.
func TestSessionTerminatedAllTheTime(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	w := r.watch()
	c := startReady(t, r.settings)
	writer := r.startLoad(2*time.Millisecond, 3, "a", "b", "c")
	conn := r.db.Conn(t)
	ended, connecting := 0, false
	elapse(t, 2500*time.Millisecond, func() {
		tag, err := conn.Exec(t.Context(), `SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots
			WHERE slot_name = $1 AND active_pid IS NOT NULL`, r.slot)
		if err != nil {
			t.Fatal(err)
		}
		ended += int(tag.RowsAffected())
		switch s := c.status(); {
		case !s.Ready:
			t.Fatalf("not ready: %+v", s)
		case s.State == "connecting":
			connecting = connecting || s.Reason != ""
		case s.State != "streaming":
			t.Fatalf("status %+v", s)
		}
	})
	if ended < 3 || !connecting {
		t.Errorf("%d sessions were ended; seen connecting: %v", ended, connecting)
	}
	c.state("streaming")
	writer.more(20)
	writer.stop()
	r.settle()
	if n := count(r.verify(w, allowed{})); n != 0 {
		t.Errorf("%d repeats", n)
	}
}
