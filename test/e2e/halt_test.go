package e2e

import (
	"testing"
	"time"
)

// TestUnroutable: an event that no rule takes halts the stream, is named, and
// is not passed over; a correction and a restart end it.
func TestUnroutable(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	w := r.watch()
	s := r.settings.with(settings{"ROUTES": "E -> kafka:" + topic})
	c := startReady(t, s)
	r.insert(1, 10, "a")
	r.settle()
	r.db.Exec(t, `INSERT INTO app.outbox VALUES ('secret-free-id', 'unknown.type', 'b', '{"canary": "payload-canary"}')`)
	end := r.end()
	r.insert(11, 20, "a")
	c.state("halted")
	h := c.halted(t, "secret-free-id", "no_route")
	pid := r.slotNow().pid
	elapse(t, 2*time.Second, func() {
		if now := r.slotNow(); now.confirmed >= end || now.pid != pid || pid == 0 {
			t.Fatalf("the slot stands at %v with pid %d, the halted event ends at %v", now.confirmed, now.pid, end)
		}
	})
	if n := r.stored(topic); n != 10 {
		t.Errorf("%d records, want the 10 before the halt", n)
	}
	if n := c.metric("outbox_cdc_state", `state="halted"`); n != 1 {
		t.Errorf("outbox_cdc_state is %v", n)
	}
	c.stop()

	startReady(t, r.settings)
	r.settle()
	if repeats := r.verify(w, allowed{}); len(repeats) > 0 {
		t.Error("repeats")
	}
	if rec := byID(t, r.records(topic))["secret-free-id"]; rec.headers["position"] != h {
		t.Errorf("the event has position %q, halted was %q", rec.headers["position"], h)
	}
}

// halted checks the one event that /status names, and returns its position.
func (c *connector) halted(t *testing.T, id, reason string) string {
	t.Helper()
	s := c.status()
	if len(s.Halted) != 1 || s.Halted[0].EventID != id || s.Halted[0].Reason != reason || s.Remedy == "" {
		t.Fatalf("/status says %+v, want event %q halted by %q", s, id, reason)
	}
	return s.Halted[0].Position
}

// TestNoID: an event without an id is refused under any rule.
func TestNoID(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	c := startReady(t, r.settings.with(settings{"ROUTES": "* -> drop", "KAFKA_BROKERS": ""}))
	r.db.Exec(t, `INSERT INTO app.outbox VALUES ('', 'E', 'k', '{}')`)
	c.state("halted")
	c.halted(t, "", "null_id")
}

// TestTooLargeForTheTopic: the broker's limit is known and named; what came
// before the event is stored. Raised, it is noticed without a restart.
func TestTooLargeForTheTopic(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	c := startReady(t, r.settings)
	r.insert(1, 10, "a")
	r.db.Exec(t, `INSERT INTO app.outbox SELECT 'big', 'E', 'a', jsonb_build_object('p', string_agg(md5(g::text), '')) FROM generate_series(1, 60000) g`)
	r.insert(11, 11, "a")
	c.state("halted")
	c.halted(t, "big", "too_large")
	if n := r.stored(topic); n != 10 {
		t.Errorf("%d records, want the 10 before", n)
	}
	// The stop does not wait for what only an operator can mend.
	if took := c.stop(); took > 5*time.Second {
		t.Errorf("the stop took %v", took)
	}
	c = start(t, r.settings)
	c.state("halted")
	r.alter(topic, "max.message.bytes", "4000000")
	c.state("streaming")
	r.settle()
	if all := byID(t, r.records(topic)); len(all) != 12 || len(all["big"].value) < 1_900_000 {
		t.Errorf("%d records, %d bytes in the large one", len(all), len(all["big"].value))
	}
}

// TestTooLargeToRead: a row above MAX_EVENT_BYTES is not held in memory.
func TestTooLargeToRead(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	c := startReady(t, r.settings.with(settings{"MAX_EVENT_BYTES": "1MiB"}))
	r.insert(1, 10, "a")
	r.db.Exec(t, `INSERT INTO app.outbox SELECT 'huge', 'E', 'a', to_jsonb(repeat('x', 60000000))`)
	c.state("halted")
	c.halted(t, "-", "row_too_large")
	if peak := c.peakRSS(); !raceEnabled && peak > 60<<20 {
		t.Errorf("%d MB of memory for a row that is not read", peak>>20)
	}
	if n := r.stored(topic); n != 10 {
		t.Errorf("%d records, want the 10 before", n)
	}
}
