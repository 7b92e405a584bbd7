package pgtest

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/testserver"
)

const (
	syncedSlot = "SELECT synced || ' ' || temporary FROM pg_replication_slots WHERE slot_name = 'f'"
	peeked     = "SELECT count(*) FROM pg_logical_slot_peek_changes('f', NULL, NULL) WHERE data LIKE '%INSERT%'"
)

// TestSyncSlots: a failover slot goes over to the promoted standby with all
// that was not confirmed.
func TestSyncSlots(t *testing.T) {
	for _, major := range []int{17, 18} {
		t.Run(strconv.Itoa(major), func(t *testing.T) {
			pair := RunPair(t, Options{Major: major, Settings: map[string]string{"synchronized_standby_slots": StandbySlot}})
			ctx := within(t, 2*time.Minute)
			db := pair.Primary.NewDB(t)
			db.Exec(t, "CREATE TABLE o (n int)")
			db.Exec(t, "SELECT pg_create_logical_replication_slot('f', 'test_decoding', failover => true)")
			stop := confirmAlways(t, db)
			begin := time.Now()
			if err := pair.SyncSlots(ctx, "f"); err != nil {
				t.Fatal(err)
			}
			t.Logf("synchronised in %v", time.Since(begin))
			stop()
			standby := on(pair.Standby, db)
			if got := standby.Text(t, syncedSlot); got != "true false" {
				t.Errorf("synced and temporary are %s, want true false", got)
			}
			db.Exec(t, "INSERT INTO o VALUES (1), (2), (3)")
			// From here on nobody needs to confirm.
			if err := pair.SyncSlots(ctx, "f"); err != nil {
				t.Fatal(err)
			}
			if err := pair.Primary.Stop(ctx, Immediate); err != nil {
				t.Fatal(err)
			}
			if err := pair.Promote(ctx); err != nil {
				t.Fatal(err)
			}
			if got := standby.Text(t, peeked); got != "3" {
				t.Errorf("the slot of the promoted standby has %s inserts, want 3", got)
			}
		})
	}
}

// confirmAlways moves the slot f to the end of WAL again and again.
func confirmAlways(t *testing.T, db *DB) (stop func()) {
	t.Helper()
	conn := db.Conn(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		done <- testserver.Poll(ctx, func() (bool, error) {
			_, err := conn.Exec(t.Context(), "SELECT pg_replication_slot_advance('f', pg_current_wal_flush_lsn())")
			return false, err
		})
	}()
	return func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("advance the slot: %v", err)
		}
	}
}

func TestSyncSlotsSaysWhyNot(t *testing.T) {
	pair := RunPair(t, Options{Major: 17})
	db := pair.Primary.NewDB(t)
	db.Exec(t, "SELECT pg_create_logical_replication_slot('plain', 'test_decoding')")
	for _, slot := range []string{"none", "plain", StandbySlot} {
		err := pair.SyncSlots(within(t, time.Minute), slot)
		if err == nil || !strings.Contains(err.Error(), `no logical slot "`+slot+`" with failover`) {
			t.Errorf("slot %s: %v", slot, err)
		}
	}
	// What the standby refuses for good is told at the end.
	db.Exec(t, "SELECT pg_create_logical_replication_slot('f', 'test_decoding', failover => true)")
	if err := pair.CatchUp(within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	on(pair.Standby, db).Exec(t, "ALTER SYSTEM SET hot_standby_feedback = off")
	on(pair.Standby, db).Exec(t, "SELECT pg_reload_conf()")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	result := make(chan error)
	go func() { result <- pair.SyncSlots(ctx, "f") }()
	err := testserver.Poll(within(t, time.Minute), func() (bool, error) {
		return strings.Count(pair.Standby.LogText(), `"hot_standby_feedback" to be enabled`) >= 2, nil
	})
	cancel()
	if err := errors.Join(err, <-result); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "hot_standby_feedback") {
		t.Errorf("without feedback: %v", err)
	}
}
