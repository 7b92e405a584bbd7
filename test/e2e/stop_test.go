package e2e

import (
	"fmt"
	"syscall"
	"testing"
	"time"
)

// TestGracefulRestart stops the connector in mid-stream and starts it again,
// over and over. The last status of each process confirms all that it had stored:
// repeated is at most the one transaction that each stop came into the middle
// of. The periodic statuses are so rare that nothing else can have done it.
func TestGracefulRestart(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	w := r.watch()
	s := r.settings.with(settings{"STATUS_INTERVAL": "10m", "WAL_SENDER_TIMEOUT": "10m"})
	writer := r.startLoad(2*time.Millisecond, 3, "a", "b", "c")
	var deaths []death
	for range 3 {
		c := startReady(t, s)
		writer.more(50)
		if took := c.stop(); took > 2*time.Second {
			t.Errorf("the stop took %v", took)
		}
		deaths = append(deaths, r.buried())
	}
	writer.stop()
	last := r.end()
	c := startReady(t, s)
	r.awaitDelivered(c)
	before := r.slotNow().confirmed
	took := c.stop()
	after := r.inactive()
	t.Logf("the stop took %v and moved the slot from %v to %v, past %v", took, before, after, last)
	if after < last || before >= last {
		t.Errorf("the slot went from %v to %v, want the end of the last transaction, %v", before, after, last)
	}
	if repeats := r.verify(w, allowed{deaths: deaths}); len(repeats) > len(deaths) {
		t.Errorf("events of %d transactions were repeated after %d stops", len(repeats), len(deaths))
	}

	// A new process has nothing to send.
	stored := r.stored(topic)
	c = startReady(t, s)
	r.insert(1, 1, "z")
	r.awaitStored(topic, stored+1)
	c.stop()
	if r.stored(topic) != stored+1 {
		t.Errorf("%d records after a restart with nothing to send, want %d", r.stored(topic), stored+1)
	}
}

// TestStopWhileTheBrokerIsFrozen: the grace period bounds the stop; what could
// not be stored is not confirmed, and comes after the next start.
func TestStopWhileTheBrokerIsFrozen(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	w := r.watch()
	f := r.newFreezer()
	c := startReady(t, r.settings.with(settings{"SHUTDOWN_GRACE": "1s"}))
	r.insert(1, 10, "a")
	r.settle()
	f.freeze()
	stood := r.slotNow().confirmed
	committed := r.insert(11, 20, "a")
	eventuallyHolding(t, f)
	if took := c.stop(); took > 5*time.Second {
		t.Errorf("the stop took %v with a grace of 1s", took)
	}
	if c.log.find("stopped before everything in flight was stored; it is not confirmed and will be sent again") == nil {
		t.Error("no warning in the log")
	}
	d := r.buried()
	if d.stood >= committed {
		t.Errorf("the slot went from %v to %v; the transaction that was not stored ends at %v", stood, d.stood, committed)
	}
	f.release()
	startReady(t, r.settings)
	r.settle()
	r.verify(w, allowed{deaths: []death{d}})
}

// TestSecondSignal: who does not want to wait for the grace period says so.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	f := r.newFreezer()
	c := startReady(t, r.settings.with(settings{"SHUTDOWN_GRACE": "5m"}))
	f.freeze()
	r.insert(1, 1, "a")
	eventuallyHolding(t, f)
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	c.state("draining")
	if took := c.signal(syscall.SIGTERM); took > time.Second {
		t.Errorf("the second signal took %v", took)
	}
	if c.code == 0 {
		t.Error("exit code 0 although nothing was settled")
	}
	if text := c.cmd.ProcessState.String(); text != fmt.Sprint("signal: ", syscall.SIGTERM) {
		t.Errorf("the process ended with %q", text)
	}
}
