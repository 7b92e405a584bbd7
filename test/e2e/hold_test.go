package e2e

import (
	"context"
	"strings"
	"testing"
	"time"
)

// held waits for a hold whose reason and remedy have the words, in /status and
// in the log.
func (c *connector) held(words ...string) {
	c.tb.Helper()
	eventually(c.tb, patience, "held with "+strings.Join(words, ", "), func(context.Context) (bool, any) {
		s := c.status()
		text := s.Reason + " " + s.Remedy
		ok := s.State == "held" && !s.Ready && s.Reason != "" && s.Remedy != ""
		for _, word := range words {
			ok = ok && strings.Contains(text, word) && strings.Contains(c.log.String(), word)
		}
		return ok, s
	})
	c.state("held")
}

// TestMissingTopic: found at start and found by an event, it is held with its
// name, and goes on by itself once it is there.
func TestMissingTopic(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	w := r.watch()
	c := start(t, r.settings.with(settings{"ROUTES": "late -> kafka:at-start; by.* -> kafka:by-event.{type}; * -> kafka:" + topic}))
	c.held("at-start")
	r.createTopic("at-start", 1)
	c.state("streaming")
	pid := r.slotNow().pid

	r.insert(1, 10, "a")
	r.insert(11, 11, "a")
	r.db.Exec(t, `INSERT INTO app.outbox VALUES ('x', 'by.y', 'k', '{}')`)
	end := r.end()
	r.insert(12, 20, "a")
	c.held("by-event.by.y")
	r.awaitStored(topic, 11)
	elapse(t, time.Second, func() {
		if s := r.slotNow(); s.pid != pid || s.confirmed >= end {
			t.Fatalf("the slot stands at %v with pid %d; the event that is held ends at %v, and the pid was %d", s.confirmed, s.pid, end, pid)
		}
	})
	if n := r.stored(topic); n != 11 {
		t.Errorf("%d records, want the 11 before the one that is held", n)
	}
	r.createTopic("by-event.by.y", 1)
	c.state("streaming")
	r.settle()
	if n := r.stored("by-event.by.y"); n != 1 {
		t.Errorf("%d records in the topic that was missing", n)
	}
	r.db.Exec(t, `DELETE FROM app.outbox WHERE id = 'x'`) // it is not in the topic that is compared
	r.verify(w, allowed{})
}

// TestNothingIsSetUp: everything that is missing is named at once, and each
// thing is noticed when it comes.
func TestNothingIsSetUp(t *testing.T) {
	t.Parallel()
	r := bare(t, nil, 1)
	r.createTopic(topic, partitions)
	c := start(t, r.settings)
	c.held("ob_pub", "does not exist", r.slot, "app.outbox", "outbox-cdc setup")
	r.db.Exec(t, `CREATE SCHEMA app; CREATE TABLE app.outbox (id text PRIMARY KEY, event_type text, partition_key text, payload jsonb)`)
	r.db.Exec(t, "CREATE PUBLICATION ob_pub FOR TABLE app.outbox")
	eventually(t, patience, "the publication is seen", func(context.Context) (bool, any) {
		reason := c.status().Reason
		return !strings.Contains(reason, "publication does not exist") && strings.Contains(reason, r.slot), reason
	})
	r.createSlot()
	c.state("streaming")
	r.insert(1, 10, "a")
	r.settle()
	r.verify(nil, allowed{})
}

// TestPublicationDropped: the server cannot decode without it, and nothing is
// passed over.
func TestPublicationDropped(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	c := startReady(t, r.settings)
	r.insert(1, 10, "a")
	r.settle()
	r.db.Exec(t, "DROP PUBLICATION ob_pub")
	end := r.insert(11, 20, "a")
	c.held("ob_pub", "does not exist")
	if s := r.slotNow(); s.confirmed >= end {
		t.Errorf("the slot went to %v over rows that were not delivered, up to %v", s.confirmed, end)
	}
}
