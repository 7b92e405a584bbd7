package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset/pgstore"
)

// checkpoint reads the slot's.
func (r *rig) checkpoint(ctx context.Context) (confirmed, ceiling decoder.LSN, err error) {
	text, err := query[string](ctx, r.db, "SELECT confirmed_lsn || ' ' || ceiling_lsn FROM outbox_cdc.checkpoint WHERE slot = $1", r.slot)
	if err != nil {
		return 0, 0, err
	}
	first, second, _ := strings.Cut(text, " ")
	var errs [2]error
	confirmed, errs[0] = decoder.ParseLSN(first)
	ceiling, errs[1] = decoder.ParseLSN(second)
	return confirmed, ceiling, errors.Join(errs[:]...)
}

// remembered waits for a checkpoint that covers the position.
func (r *rig) remembered(at decoder.LSN) {
	r.tb.Helper()
	eventually(r.tb, patience, fmt.Sprintf("a checkpoint above %v", at), func(ctx context.Context) (bool, any) {
		confirmed, _, err := r.checkpoint(ctx)
		return err == nil && confirmed >= at, errors.Join(err, fmt.Errorf("checkpoint %v", confirmed))
	})
}

// TestCheckpointThatDoesNotFit: a checkpoint that is not of this server, or that
// we do not understand, is held, and nothing is sent or confirmed until somebody
// has mended it.
func TestCheckpointThatDoesNotFit(t *testing.T) {
	t.Parallel()
	const foreign = "delete the slot's row in the table that OUTBOX_CDC_OFFSET_TABLE names"
	for name, test := range map[string]struct {
		set  string
		says []string
	}{
		"server restored to an earlier state": {
			"confirmed_lsn = confirmed_lsn + 1e10::numeric, ceiling_lsn = ceiling_lsn + 1e11::numeric",
			[]string{"the server's WAL ends at", "restored to an earlier state", foreign},
		},
		"another system":     {"system_id = '7000000000000000001'", []string{"is of system 7000000000000000001", foreign}},
		"an absurd timeline": {"timeline = timeline + 4294967296", []string{"on timeline 1, below 2147483647 of the checkpoint", "old primary"}},
		"an unknown phase":   {"phase = 'catch-up'", []string{"catch-up", "a phase that this version does not know", "the version of outbox-cdc that wrote it"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil, 1)
			c := startReady(t, r.settings)
			r.insert(1, 20, "a", "b")
			r.settle()
			c.stop()
			r.db.Exec(t, "CREATE TABLE kept AS SELECT * FROM outbox_cdc.checkpoint; UPDATE outbox_cdc.checkpoint SET "+test.set)
			stood := r.slotNow()
			c = start(t, r.settings)
			r.insert(21, 40, "a", "b")
			c.held(test.says...)
			if now := r.slotNow(); now != stood || r.stored(topic) != 40 {
				t.Errorf("held, the slot went from %v to %v, with %d records", stood, now, r.stored(topic))
			}
			r.db.Exec(t, "DELETE FROM outbox_cdc.checkpoint; INSERT INTO outbox_cdc.checkpoint SELECT * FROM kept")
			c.state("streaming")
			r.settle()
			if n := count(r.verify(nil, allowed{})); n != 0 {
				t.Errorf("%d repeats", n)
			}
		})
	}
}

// TestCheckpointDeleted: without its row the slot alone says where to go on, and
// a new row is written. Without its table the stream is held.
func TestCheckpointDeleted(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	r.settings["OFFSET_INTERVAL"] = "1s"
	c := startReady(t, r.settings)
	r.insert(1, 20, "a", "b")
	r.settle()
	c.stop()
	r.db.Exec(t, "DELETE FROM outbox_cdc.checkpoint")
	c = startReady(t, r.settings)
	r.remembered(r.insert(21, 40, "a", "b"))
	c.stop()
	r.db.Exec(t, "DROP TABLE outbox_cdc.checkpoint")
	c = start(t, r.settings)
	c.held("checkpoint.table", "the checkpoint table does not exist", "run outbox-cdc setup")
	r.setup(t)
	c.state("streaming")
	r.insert(41, 60, "a", "b")
	r.settle()
	if n := count(r.verify(nil, allowed{})); n != 0 {
		t.Errorf("%d repeats", n)
	}
}

// TestCheckpointLost: in mid-stream the table is dropped, or taken away from the
// role. Events go on, but no position is confirmed above the last ceiling that
// was stored, and it is said once. Given back, all goes on by itself.
func TestCheckpointLost(t *testing.T) {
	t.Parallel()
	table := decoder.TableName{Schema: "outbox_cdc", Name: "checkpoint"}
	for name, test := range map[string]struct{ take, give, says string }{
		"dropped": {"DROP TABLE outbox_cdc.checkpoint", pgstore.CreateTable(table) + pgstore.Grant(table, role), "run outbox-cdc setup"},
		"revoked": {"REVOKE ALL ON outbox_cdc.checkpoint FROM " + role, pgstore.Grant(table, role), "GRANT"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil, 1)
			w := r.watch()
			c := startReady(t, r.settings)
			r.insert(1, 20, "a", "b")
			r.settle()
			_, ceiling, err := r.checkpoint(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			r.db.Exec(t, test.take)
			// Most of this is in large records that cost next to nothing.
			for i := range 9 {
				r.db.Exec(t, "SELECT pg_logical_emit_message(false, 'filler', repeat('x', 16000000))")
				r.insert(21+i*10, 30+i*10, "a", "b")
			}
			r.awaitStored(topic, 220)
			if end := r.end(); end <= ceiling {
				t.Fatalf("the log ends at %v, below the ceiling %v: it proves nothing", end, ceiling)
			}
			r.awaitDelivered(c)
			eventually(t, patience, "the slot comes up to the ceiling", func(context.Context) (bool, any) {
				s := r.slotNow()
				return s.confirmed == ceiling, s
			})
			elapse(t, 1500*time.Millisecond, func() {
				if s := r.slotNow(); s.confirmed > ceiling {
					t.Fatalf("the slot stands at %v, the last ceiling that was stored is %v", s.confirmed, ceiling)
				}
			})
			const warning = "the checkpoint was not stored; nothing above its ceiling is confirmed until it is"
			if n := c.log.times(warning); n != 1 {
				t.Errorf("it was said %d times", n)
			}
			if line := c.log.find(warning); !strings.Contains(text(line, "error"), test.says) {
				t.Errorf("the log says %v, want %q", line, test.says)
			}
			r.db.Exec(t, test.give)
			r.settle()
			if n := count(r.verify(w, allowed{})); n != 0 {
				t.Errorf("%d repeats", n)
			}
		})
	}
}
