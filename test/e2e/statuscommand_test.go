package e2e

import (
	"strings"
	"testing"
	"time"
)

// TestStatusCommand: it tells how things stand, waits for what was committed
// before it began, and gives up in time while the broker is frozen.
func TestStatusCommand(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	f := r.newFreezer()
	c := startReady(t, r.settings.with(settings{"MONITOR_INTERVAL": "1s"}))
	ask := func(args ...string) (int, string) {
		t.Helper()
		return command(t, settings{}, append([]string{"status", "--url", c.url}, args...)...)
	}
	for i := range 5 {
		r.insert(i*500+1, (i+1)*500, "a", "b")
		if code, out := ask("--wait", "caught-up", "--timeout", "30s"); code != 0 || r.stored(topic) != int64(i+1)*1000 {
			t.Fatalf("exit %d, %d of %d stored: %s", code, r.stored(topic), (i+1)*1000, out)
		}
	}
	f.freeze()
	r.insert(2501, 2600, "a")
	if code, out := ask("--wait", "caught-up", "--timeout", "3s"); code != 1 || !strings.Contains(out, "not caught up: streaming") || !strings.Contains(out, "100 events in flight") {
		t.Errorf("exit %d: %s", code, out)
	}
	code, out := ask()
	for _, part := range []string{": streaming for ", ", ready\n", r.slot, "behind", "of WAL retained (reserved)", "100 events in flight", "5000 delivered since start"} {
		if !strings.Contains(out, part) {
			t.Errorf("exit %d, no %q in\n%s", code, part, out)
		}
	}
	lag := c.metric("outbox_cdc_slot_confirmed_lag_bytes")
	if retained := c.metric("outbox_cdc_slot_retained_wal_bytes"); lag <= 0 || retained < lag {
		t.Errorf("lag %v, retained %v", lag, retained)
	}
	f.release()
	if code, out := ask("--wait", "caught-up", "--timeout", "30s"); code != 0 || r.stored(topic) != 5100 {
		t.Errorf("exit %d, %d stored: %s", code, r.stored(topic), out)
	}
	if code, out := ask("--json"); code != 0 || !strings.Contains(out, `"wal_status":"reserved"`) && !strings.Contains(out, `"wal_status": "reserved"`) {
		t.Errorf("exit %d: %s", code, out)
	}
	c.stop()
	begin := time.Now()
	if code, out := ask(); code != 1 || !strings.Contains(out, "no connector answers") || time.Since(begin) > 10*time.Second {
		t.Errorf("exit %d: %s", code, out)
	}
}
