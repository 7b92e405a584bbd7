package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// ghostAlert is what the connector logs of events that a failover has lost.
const ghostAlert = "after the failover: events of this range were read, and some may have been delivered, that the new primary does not have"

// couple is an outbox on a primary that has a standby. The rig looks at the
// primary, after at the same database on the standby; the cluster is one.
type couple struct {
	*rig
	pair  *pgtest.Pair
	after *rig
}

// newCouple makes a pair that is set up, with a URL that leads to whichever
// server takes writes. From 17 on the slot is one that goes over to the standby.
func newCouple(t *testing.T, major int, primary map[string]string) *couple {
	t.Helper()
	all := map[string]string{"log_replication_commands": "on"}
	maps.Copy(all, primary)
	pair := pgtest.RunPair(t, pgtest.Options{Major: major, Settings: all})
	f := &couple{rig: newRig(t, pair.Primary, 1), pair: pair}
	if major >= 17 {
		f.db.Exec(t, "SELECT pg_drop_replication_slot('"+f.slot+"')")
		f.db.Exec(t, "SELECT pg_create_logical_replication_slot('"+f.slot+"', 'pgoutput', failover => true)")
	}
	f.settings = f.settings.with(settings{"DATABASE_URL": fmt.Sprintf(
		"postgres://%s@127.0.0.1:%d,127.0.0.1:%d/%s?sslmode=disable&target_session_attrs=read-write",
		role, pair.Primary.Port(), pair.Standby.Port(), f.db.Name)})
	other := *f.rig
	other.db = &pgtest.DB{Server: pair.Standby, Name: f.db.Name}
	f.after = &other
	return f
}

// patient bounds one step of a failover.
func patient(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// sync brings the slot to the standby, as it stands.
func (f *couple) sync(t *testing.T) {
	t.Helper()
	if err := f.pair.SyncSlots(patient(t), f.slot); err != nil {
		t.Fatal(err)
	}
}

// catchUp waits until the standby has everything.
func (f *couple) catchUp(t *testing.T) {
	t.Helper()
	if err := f.pair.CatchUp(patient(t)); err != nil {
		t.Fatal(err)
	}
}

// cutOff ends replication: what is written from here on is the primary's alone.
func (f *couple) cutOff(t *testing.T) {
	t.Helper()
	f.catchUp(t)
	f.after.db.Exec(t, "ALTER SYSTEM SET primary_conninfo = ''")
	f.after.db.Exec(t, "SELECT pg_reload_conf()")
	eventually(t, patience, "the standby receives nothing any more", func(ctx context.Context) (bool, any) {
		n, err := query[int](ctx, f.after.db, "SELECT count(*) FROM pg_stat_wal_receiver")
		return err == nil && n == 0, errors.Join(err, fmt.Errorf("%d receivers", n))
	})
}

// failOver stops the primary and promotes the standby. It returns where the
// old timeline ended.
func (f *couple) failOver(t *testing.T, mode pgtest.Mode) decoder.LSN {
	t.Helper()
	if err := f.pair.Primary.Stop(patient(t), mode); err != nil {
		t.Fatal(err)
	}
	if err := f.pair.Promote(patient(t)); err != nil {
		t.Fatal(err)
	}
	return f.switchPoint(t)
}

// switchPoint is where the first timeline ended for the standby.
func (f *couple) switchPoint(t *testing.T) decoder.LSN {
	t.Helper()
	fields := strings.Fields(f.after.db.Text(t, "pg_read_file('pg_wal/00000002.history')"))
	if len(fields) < 2 {
		t.Fatalf("history of the timeline: %q", fields)
	}
	at, err := decoder.ParseLSN(fields[1])
	if err != nil {
		t.Fatal(err)
	}
	return at
}

var startCommand = regexp.MustCompile(`START_REPLICATION SLOT "?(\w+)"? LOGICAL ([0-9A-F]+/[0-9A-F]+)`)

// starts are the positions at which the slot was started on a server, in turn.
func (r *rig) starts(t *testing.T) (all []decoder.LSN) {
	t.Helper()
	for line := range strings.Lines(r.db.Server.LogText()) {
		found := startCommand.FindStringSubmatch(line)
		if !strings.Contains(line, "received replication command") || found == nil || found[1] != r.slot {
			continue
		}
		at, err := decoder.ParseLSN(found[2])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, at)
	}
	return all
}

// neverAbove checks what the new primary was asked and told: it was started
// nowhere above the switch point, and, as its slot never goes back, no status
// was above the end of its own WAL.
func (f *couple) neverAbove(t *testing.T, switchPoint decoder.LSN) {
	t.Helper()
	starts := f.after.starts(t)
	if len(starts) == 0 || slices.Max(starts) > switchPoint {
		t.Errorf("the new primary was started at %v; the old timeline ended at %v", starts, switchPoint)
	}
	stands := f.after.slotNow().confirmed
	if end := f.after.end(); stands > end {
		t.Errorf("the slot stands at %v, the WAL of the new primary ends at %v", stands, end)
	}
}

// rescued is the slot of the new primary before anybody used it, and what the
// topic held then: what was confirmed beyond it may come again.
func (f *couple) rescued(t *testing.T) death {
	t.Helper()
	return f.after.taken()
}
