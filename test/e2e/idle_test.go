package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
)

// follows waits until the slot is less than 64 KiB behind the server.
func (r *rig) follows(limit time.Duration, why string) time.Duration {
	r.tb.Helper()
	return eventually(r.tb, limit, "the slot follows "+why, func(ctx context.Context) (bool, any) {
		end, err := now(ctx, r.db)
		if err != nil {
			return false, err
		}
		behind := int64(end) - int64(r.slotNow().confirmed)
		return behind < 64<<10, behind
	})
}

// TestIdleSlotMoves: when only the neighbours write, in tables that are not
// published or in another database, the slot follows without an event. After
// that, a fast shutdown of the server has nothing to wait for, and the connector
// comes back with it.
func TestIdleSlotMoves(t *testing.T) {
	t.Parallel()
	server := pgtest.Run(t, pgtest.Options{})
	r := newRig(t, server, 1)
	w := r.watch()
	c := startReady(t, r.settings)
	r.insert(1, 1, "a")
	r.awaitStored(topic, 1)
	for range 3 {
		r.noise(2000)
		r.follows(5*time.Second, "its neighbour table")
	}
	other := server.NewDB(t)
	other.Exec(t, "CREATE TABLE noise AS SELECT g, repeat('y', 1000) FROM generate_series(1, 2000) g")
	r.follows(10*time.Second, "the other database")
	// Nothing but the end of a segment.
	r.db.Exec(t, "SELECT pg_switch_wal()")
	r.follows(10*time.Second, "the switch of the WAL segment")
	if n := r.stored(topic); n != 1 {
		t.Errorf("%d records, want 1", n)
	}

	r.noise(2000)
	begin := time.Now()
	if err := server.Stop(t.Context(), pgtest.Fast); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took > 3*time.Second {
		t.Errorf("the server's fast shutdown took %v", took)
	}
	eventually(t, patience, "the connector notices", func(context.Context) (bool, any) {
		state := c.status().State
		return state == "connecting", state
	})
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.state("streaming")
	r.insert(2, 2, "a")
	r.settle()
	// Before 17 a shutdown does not save how far an idle slot had moved.
	r.verify(w, allowed{crash: server.Major() < 17})
}

// TestAllEventsDropped: a rule that drops everything must not stop the slot.
func TestAllEventsDropped(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	c := startReady(t, r.settings.with(settings{"ROUTES": "* -> drop", "KAFKA_BROKERS": ""}))
	r.insert(1, 5000, "a")
	r.settle()
	if n := c.metric("outbox_cdc_events_total", `result="dropped"`); n != 5000 {
		t.Errorf("%v events were dropped, want 5000", n)
	}
}

// TestRetentionJob: updates and deletes of outbox rows are nothing to deliver,
// and nothing that holds the slot.
func TestRetentionJob(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	startReady(t, r.settings)
	r.insert(1, 1000, "a")
	r.settle()
	r.db.Exec(t, `UPDATE app.outbox SET payload = '{}'; DELETE FROM app.outbox`)
	r.settle()
	if n := r.stored(topic); n != 1000 {
		t.Errorf("%d records, want 1000", n)
	}
}
