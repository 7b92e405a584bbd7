package e2e

import (
	"strings"
	"testing"
	"time"
)

// TestStandby: of two instances the second waits, ready, without a word in the
// server's log, and takes over when the first is gone.
func TestStandby(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	w := r.watch()
	active := startReady(t, r.settings)
	writer := r.startLoad(3*time.Millisecond, 2, "a", "b")
	standby := start(t, r.settings)
	standby.state("standby")
	writer.more(200)
	if !strings.Contains(standby.status().Reason, r.slot) {
		t.Errorf("the standby says %q", standby.status().Reason)
	}
	var deaths []death
	for range 2 {
		begin := time.Now()
		active.kill()
		d := r.taken()
		deaths = append(deaths, d)
		standby.state("streaming")
		took := time.Since(begin)
		t.Logf("taken over %v after the kill", took)
		if took > 5*time.Second {
			t.Errorf("taking over took %v", took)
		}
		writer.more(50)
		active, standby = standby, start(t, r.settings)
		standby.state("standby")
	}
	// An orderly stop hands over too.
	active.stop()
	deaths = append(deaths, r.taken())
	standby.state("streaming")
	writer.more(50)
	writer.stop()
	r.settle()
	r.verify(w, allowed{deaths: deaths})
	for line := range strings.Lines(r.db.Server.LogText()) {
		if strings.Contains(line, r.slot) && strings.Contains(line, "is active for PID") {
			t.Errorf("the standby knocked at the slot: %s", line)
		}
	}
}
