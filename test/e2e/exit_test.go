package e2e

import (
	"strings"
	"testing"
)

// TestExitOnFatal: with ON_FATAL=exit whatever would hold or halt ends the
// process with code 3, for a supervisor.
func TestExitOnFatal(t *testing.T) {
	t.Parallel()
	const noSlot = "there_is_no_such_slot"
	for name, test := range map[string]struct {
		settings settings
		event    string // inserted once it streams
		says     string
	}{
		"slot":        {settings{"SLOT": noSlot}, "", noSlot},
		"publication": {settings{"PUBLICATION": "missing_pub"}, "", "missing_pub"},
		"topic":       {settings{"ROUTES": "* -> kafka:missing-topic"}, "", "missing-topic"},
		"late topic":  {settings{"ROUTES": "* -> kafka:t.{type}"}, "x", "t.x"},
		"unroutable":  {settings{"ROUTES": "E -> kafka:" + topic}, "x", "no rule"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil, 1)
			s := r.settings.with(settings{"ON_FATAL": "exit"}).with(test.settings)
			var c *connector
			if test.event == "" {
				c = launch(t, binaries.tested, s)
			} else {
				c = startReady(t, s)
				r.db.Exec(t, "INSERT INTO app.outbox VALUES ('i', '"+test.event+"', 'k', '{}')")
			}
			if code := c.wait(); code != 3 {
				t.Errorf("exit code %d, want 3", code)
			}
			if last := c.log.end(1); !strings.Contains(last, test.says) {
				t.Errorf("the last line is %q, want %q in it", last, test.says)
			}
		})
	}
}

// TestBadConfiguration: exit code 2, and every fault named in one run.
func TestBadConfiguration(t *testing.T) {
	t.Parallel()
	c := launch(t, binaries.tested, settings{
		"ROUTES": "* -> carrier-pigeon:x", "MAX_IN_FLIGHT_BYTES": "16", "STATUS_INTERVAL": "soon",
		"SLOTT": "x", "ON_FATAL": "panic", "SQS_CONCURRENCY": "3", "LOG_LEVEL": "loud",
	})
	if code := c.wait(); code != 2 {
		t.Errorf("exit code %d, want 2", code)
	}
	text := c.log.String()
	for _, name := range []string{
		"ROUTES", "MAX_IN_FLIGHT_BYTES", "STATUS_INTERVAL", "SLOTT", "ON_FATAL", "SQS_CONCURRENCY", "LOG_LEVEL", "TABLES",
	} {
		if !strings.Contains(text, "OUTBOX_CDC_"+name) {
			t.Errorf("%s is not among the faults:\n%s", name, text)
		}
	}
}
