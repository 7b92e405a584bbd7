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

// TestStandbyIsFit: an instance that could not stream is no standby, whoever has
// the slot; and one that was told not to wait is held until the slot is free.
func TestStandbyIsFit(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	active := startReady(t, r.settings)
	r.insert(1, 10, "a")
	r.settle()
	unfit := start(t, r.settings.with(settings{"PUBLICATION": "other_pub"}))
	noTopic := start(t, r.settings.with(settings{"ROUTES": "* -> kafka:missing"}))
	alone := start(t, r.settings.with(settings{"STANDBY": "false"}))
	unfit.held("publication.exists other_pub", "does not exist")
	noTopic.held("missing")
	alone.held(r.slot, "in use", "OUTBOX_CDC_STANDBY")
	r.db.Exec(t, "CREATE PUBLICATION other_pub FOR TABLE app.outbox")
	unfit.state("standby")
	r.createTopic("missing", 1)
	noTopic.state("standby")
	unfit.stop()
	noTopic.stop()
	active.stop()
	alone.state("streaming")
	r.insert(11, 20, "a")
	r.settle()
	if n := count(r.verify(nil, allowed{})); n != 0 {
		t.Errorf("%d repeats", n)
	}
}
