package e2e

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// freeze is SIGSTOP; thaw ends it. A process that is stopped does not hear SIGTERM.
func (c *connector) freeze() {
	c.tb.Helper()
	c.send(syscall.SIGSTOP)
	c.tb.Cleanup(c.thaw)
}

func (c *connector) thaw() { c.send(syscall.SIGCONT) }

func (c *connector) send(sig syscall.Signal) {
	c.tb.Helper()
	if err := c.cmd.Process.Signal(sig); err != nil && !c.ended() {
		c.tb.Fatal(err)
	}
}

// TestZombie: an instance is paused with a full window and more in its socket;
// its successor takes over and goes on with newer events of the same key. When
// the first wakes up it may still send what its Kafka client had, which is no
// more than the window, and nothing else. It confirms nothing, and waits its turn.
func TestZombie(t *testing.T) {
	t.Parallel()
	const window = 100
	r := newRig(t, nil, 1)
	f := r.newFreezer()
	w := r.watch()
	own := r.settings.with(settings{"WAL_SENDER_TIMEOUT": "2s", "MAX_IN_FLIGHT_EVENTS": "100"})
	zombie := startReady(t, own)
	r.insert(1, 10, "a")
	r.settle()
	f.freeze()
	r.insert(11, 20, "a")
	eventuallyHolding(t, f)
	for i := range 10 {
		r.insert(21+i*100, 120+i*100, "a")
	}
	eventually(t, patience, "the window is full", func(context.Context) (bool, any) {
		s := zombie.status()
		return s.Stream.Events >= window, s.Stream
	})
	zombie.freeze()
	before := r.buried() // the server has ended the session
	f.release()          // what was on its way is stored
	if before.ends = r.ends(topic); r.stored(topic) > 10+window {
		t.Errorf("%d records, the window is %d", r.stored(topic), window)
	}
	successor := startReady(t, own)
	r.insert(1021, 1030, "a")
	r.settle()
	stored, slot := r.stored(topic), r.slotNow()

	zombie.thaw()
	zombie.state("standby")
	elapse(t, time.Second, func() {
		if s := r.slotNow(); s.pid != slot.pid || s.confirmed < slot.confirmed {
			t.Fatalf("the slot went from %v to %v", slot, s)
		}
	})
	late := r.stored(topic) - stored
	t.Logf("%d records came late", late)
	if late > window {
		t.Errorf("%d records came from the one that was paused, its window is %d", late, window)
	}
	r.insert(1031, 1040, "a")
	r.settle()
	r.verify(w, allowed{deaths: []death{before}})
	successor.kill()
	zombie.state("streaming")
	r.insert(1041, 1050, "a")
	r.settle()
	r.verify(nil, allowed{deaths: []death{before}})
	for line := range strings.Lines(r.db.Server.LogText()) {
		if strings.Contains(line, r.slot) && strings.Contains(line, "is active for PID") {
			t.Errorf("the server's log: %s", line)
		}
	}
}

// TestZombieUnderLoad: whatever the moment of the pause, nothing that was read
// and not sent goes out after the successor has taken over.
func TestZombieUnderLoad(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 3)
	w := r.watch()
	own := r.settings.with(settings{"WAL_SENDER_TIMEOUT": "2s"})
	active, standby := startReady(t, own), start(t, own)
	standby.state("standby")
	writer := r.startLoad(3*time.Millisecond, 3, "a", "b", "c")
	writer.more(100)
	before := r.taken()
	active.freeze()
	paused := r.end()
	standby.state("streaming") // the other one's walsender is gone
	writer.more(100)
	r.settle()
	ends := r.ends(topic)
	active.thaw()
	active.state("standby")
	writer.more(50)
	r.settle()
	r.lateOnly(paused, ends)
	writer.stop()
	r.settle()
	r.verify(w, allowed{deaths: []death{before}})
}

// lateOnly demands that what was sent again, behind the ends, is from before the
// pause.
func (r *rig) lateOnly(paused decoder.LSN, ends []int64) {
	r.tb.Helper()
	seen := map[string]bool{}
	for _, rec := range r.records(topic) {
		if seen[rec.id] && rec.offset >= ends[rec.partition] && rec.commit > paused {
			r.tb.Fatalf("%s, committed at %v, was sent by an instance that was paused at %v", rec.id, rec.commit, paused)
		}
		seen[rec.id] = true
	}
}

// TestShortPause: a pause of more than half of wal_sender_timeout, which the
// server has put up with. The process asks, and goes on in the same session.
func TestShortPause(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	w := r.watch()
	c := startReady(t, r.settings.with(settings{"WAL_SENDER_TIMEOUT": "8s"}))
	r.insert(1, 10, "a")
	r.settle()
	pid := r.slotNow().pid
	c.freeze()
	r.insert(11, 20, "a")
	elapse(t, 4500*time.Millisecond, func() {})
	c.thaw()
	r.insert(21, 30, "a")
	r.settle()
	if s := r.slotNow(); s.pid != pid {
		t.Errorf("the session is another one: %d, then %d", pid, s.pid)
	}
	if c.log.find("the process was paused; asking the server whether the slot is still ours") == nil {
		t.Errorf("it did not ask:\n%s", c.log.end(10))
	}
	if n := count(r.verify(w, allowed{})); n != 0 {
		t.Errorf("%d repeats", n)
	}
}
