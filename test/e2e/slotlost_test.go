package e2e

import (
	"context"
	"regexp"
	"strconv"
	"testing"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// lost is a connector whose slot is invalidated.
type lost struct {
	*rig
	own    settings
	c      *connector
	frozen *freezer // nil: the connector was stopped before
	stood  decoder.LSN
	last   decoder.LSN // at or above all that was streamed
}

// loses starts one, which has stored rows 1 to 10. If it is to live on, its
// sink is frozen then, with the rows 11 to 15 on their way.
func loses(t *testing.T, server *pgtest.Server, lives bool) *lost {
	t.Helper()
	l := &lost{rig: newRig(t, server, 1)}
	l.own = l.remembers()
	if lives {
		l.frozen = l.newFreezer()
	}
	l.c = startReady(t, l.own)
	l.insert(1, 10, "a")
	l.settle()
	if lives {
		l.frozen.freeze()
		l.insert(11, 15, "a")
		eventuallyHolding(t, l.frozen)
	} else {
		l.c.stop()
	}
	l.stood = l.slotNow().confirmed
	return l
}

// isLost writes rows that the slot will not have, and waits until the server has
// let go of it.
func (l *lost) isLost(t *testing.T) {
	t.Helper()
	l.last = l.end()
	l.insert(51, 60, "lost")
	eventually(t, patience, "the slot is lost", func(ctx context.Context) (bool, any) {
		l.db.Exec(t, "CHECKPOINT")
		status, err := query[string](ctx, l.db, "SELECT coalesce(wal_status, '') FROM pg_replication_slots WHERE slot_name = $1", l.slot)
		return err == nil && status == "lost", status
	})
}

// TestSlotLost: the server has removed WAL that the slot needed. The hold says
// from where on rows are missing, and what to do, word for word; done, the stream
// goes on.
func TestSlotLost(t *testing.T) {
	t.Parallel()
	for _, major := range []int{14, 16, 17, 18} {
		t.Run(strconv.Itoa(major), func(t *testing.T) {
			t.Parallel()
			server := pgtest.Run(t, pgtest.Options{Major: major, Settings: map[string]string{
				"max_slot_wal_keep_size": "16MB", "min_wal_size": "32MB", "max_wal_size": "64MB",
			}})
			all := []*lost{loses(t, server, false), loses(t, server, true)}
			for range 6 { // beyond the ceiling, too
				all[0].db.Exec(t, "SELECT pg_logical_emit_message(true, '', 'x'); SELECT pg_switch_wal()")
			}
			for _, l := range all {
				l.isLost(t)
				l.recovers(t, "wal_removed")
			}
		})
	}
}

// TestSlotTimedOut: 18 can be told to give up a slot that nobody uses.
func TestSlotTimedOut(t *testing.T) {
	t.Parallel()
	server := pgtest.Run(t, pgtest.Options{Major: 18, Settings: map[string]string{"idle_replication_slot_timeout": "1s"}})
	l := loses(t, server, false)
	l.isLost(t)
	l.db.Exec(t, "ALTER SYSTEM SET idle_replication_slot_timeout = 0")
	l.db.Exec(t, "SELECT pg_reload_conf()")
	l.recovers(t, "idle_timeout")
}

var dropCommand = regexp.MustCompile(`SELECT pg_drop_replication_slot\('\w+'\);`)

// recovers does what the hold says.
func (l *lost) recovers(t *testing.T, reason string) {
	t.Helper()
	says := []string{
		"slot.wal_status " + l.slot, "is lost (" + reason + ")", "committed above " + l.stood.String(),
		"pg_drop_replication_slot('" + l.slot + "')", "outbox-cdc setup", "OUTBOX_CDC_ACCEPT_GAP",
	}
	if l.frozen == nil {
		l.c = start(t, l.own)
	} else {
		says = append(says, "confirmed so far: "+l.stood.String())
	}
	l.c.held(says...)
	if now := l.slotNow(); now.confirmed != l.stood || now.pid != 0 {
		t.Errorf("the slot went from %v to %+v", l.stood, now)
	}
	if l.frozen != nil {
		l.frozen.release()
		l.awaitStored(topic, 15)
	}
	l.db.Exec(t, dropCommand.FindString(l.c.status().Remedy))
	l.setup(t)
	from := l.c.gap()
	if from > l.last {
		t.Errorf("the gap begins at %v, rows are missing from %v on", from, l.last)
	}
	l.insert(61, 70, "a")
	l.c.stop()
	if n := l.stored(topic); n > 15 {
		t.Errorf("%d records behind a gap", n)
	}
	l.c = startReady(t, l.own.with(settings{"ACCEPT_GAP": from.String()}))
	l.settle()
	l.db.Exec(t, "DELETE FROM app.outbox WHERE partition_key = 'lost'") // delivered by an operator
	l.resumes(l.c, 71)
}
