package e2e

import (
	"context"
	"fmt"
	"testing"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// TestHostCrash: server and connector die together, between two checkpoints and
// after the slot's restart_lsn has moved beyond the last one. The server has
// forgotten its statistics, and the connector may not read the table: what is
// written down beside the events still tells the slot from one that was made
// again, and nobody has to be asked.
func TestHostCrash(t *testing.T) {
	t.Parallel()
	r := newRig(t, pgtest.Run(t, pgtest.Options{}), 1)
	s := r.settings.with(settings{"OFFSET_INTERVAL": "10m"})
	c := startReady(t, s)
	r.remembered(1)
	first, _, err := r.checkpoint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	restart := func(ctx context.Context, from string) (decoder.LSN, error) {
		text, err := query[string](ctx, r.db, "SELECT restart_lsn::text FROM "+from, r.slot)
		if err != nil {
			return 0, err
		}
		return decoder.ParseLSN(text)
	}
	next := 1
	eventually(t, patience, "the slot's restart_lsn is above the first checkpoint, and on record", func(ctx context.Context) (bool, any) {
		r.db.Exec(t, "CHECKPOINT") // logs what the server needs to move it
		r.insert(next, next+9, "a", "b")
		next += 10
		r.settle()
		now, err := restart(ctx, "pg_replication_slots WHERE slot_name = $1")
		kept, err2 := restart(ctx, "outbox_cdc.checkpoint WHERE slot = $1")
		return err == nil && err2 == nil && now > first && kept > first, fmt.Sprint(now, kept, err, err2)
	})
	if err := r.db.Server.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.kill()
	if err := r.db.Server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := r.taken()
	startReady(t, s)
	r.insert(next, next+9, "a", "b")
	r.settle()
	// Not with a watcher: a server that crashes may put the slot back.
	r.verify(nil, allowed{deaths: []death{before}})
}
