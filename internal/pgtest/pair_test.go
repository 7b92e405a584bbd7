package pgtest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/testserver"
)

// on is the same database on another server of the pair.
func on(server *Server, db *DB) *DB { return &DB{Server: server, Name: db.Name} }

// within bounds what may wait.
func within(t *testing.T, limit time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

// TestPairOfAllMajors: the whole life of a pair, up to the old primary that
// comes back with what the new one never had.
func TestPairOfAllMajors(t *testing.T) {
	for _, major := range Majors() {
		t.Run(strconv.Itoa(major), func(t *testing.T) {
			begin := time.Now()
			pair := RunPair(t, Options{Major: major})
			t.Logf("a pair of postgres %s started in %v", pair.Primary.version, time.Since(begin))
			ctx := within(t, time.Minute)
			db := pair.Primary.NewDB(t)
			db.Exec(t, "CREATE TABLE o (n int); INSERT INTO o VALUES (1)")
			if err := pair.CatchUp(ctx); err != nil {
				t.Fatal(err)
			}
			standby := on(pair.Standby, db)
			if got := standby.Text(t, "SELECT pg_is_in_recovery() || ' ' || count(*) FROM o"); got != "true 1" {
				t.Errorf("the standby has %s, want true 1", got)
			}
			const feedback = "SELECT active AND xmin IS NOT NULL FROM pg_replication_slots WHERE slot_name = '" + StandbySlot + "'"
			err := testserver.Poll(ctx, func() (bool, error) { return db.Text(t, feedback) == "true", nil })
			if err != nil {
				t.Errorf("the standby gives no feedback through its slot: %v", err)
			}
			if err := pair.Primary.Stop(ctx, Immediate); err != nil {
				t.Fatal(err)
			}
			if err := pair.Promote(ctx); err != nil {
				t.Fatal(err)
			}
			standby.Exec(t, "INSERT INTO o VALUES (2)")
			if err := pair.Primary.Start(ctx); err != nil {
				t.Fatal(err)
			}
			db.Exec(t, "INSERT INTO o VALUES (30), (31)")
			const rows = "SELECT string_agg(n::text, ' ' ORDER BY n) FROM o"
			if got := db.Text(t, rows); got != "1 30 31" {
				t.Errorf("the old primary has %s, want 1 30 31", got)
			}
			if got := standby.Text(t, rows); got != "1 2" {
				t.Errorf("the new primary has %s, want 1 2", got)
			}
			const line = "SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) || ' ' || (SELECT system_identifier FROM pg_control_system())"
			was, is := db.Text(t, line), standby.Text(t, line)
			if was[:9] != "00000001 " || is[:9] != "00000002 " || was[9:] != is[9:] {
				t.Errorf("timelines and systems are %s and %s, want 1 and 2 of one system", was, is)
			}
		})
	}
}

// TestPromoteBesideALivePrimary: nobody has told the primary.
func TestPromoteBesideALivePrimary(t *testing.T) {
	pair := RunPair(t, Options{Password: `o'cl\ock`, Socket: true, Settings: map[string]string{
		"synchronous_standby_names": StandbyName,
	}})
	ctx := within(t, time.Minute)
	db := pair.Primary.NewDB(t)
	db.Exec(t, "CREATE TABLE o (n int)") // returns when the standby has it
	if got := db.Text(t, "SELECT sync_state FROM pg_stat_replication"); got != "sync" {
		t.Errorf("the standby is %q, want sync", got)
	}
	if err := pair.CatchUp(ctx); err != nil {
		t.Fatal(err)
	}
	if err := pair.Promote(ctx); err != nil {
		t.Fatal(err)
	}
	on(pair.Standby, db).Exec(t, "INSERT INTO o VALUES (1)") // waits for no standby
	if pair.Standby.SocketDir() == pair.Primary.SocketDir() || pair.Standby.Port() == pair.Primary.Port() {
		t.Error("both servers listen in one place")
	}
	if pair.Primary.PID() == 0 {
		t.Error("the primary is down")
	}
	// The cleanup of the database must not wait for a standby that left.
	db.Exec(t, "ALTER SYSTEM SET synchronous_standby_names = ''")
	db.Exec(t, "SELECT pg_reload_conf()")
}

func TestBaseBackupLeavesOutWhatIsThePrimarysOwn(t *testing.T) {
	for relative, want := range map[string]bool{
		"pg_wal":                               false,
		"pg_wal/archive_status":                false,
		"pg_wal/000000010000000000000001":      true,
		"pg_replslot":                          false,
		"pg_replslot/s":                        true,
		"pg_stat_tmp/global.stat":              true,
		"postmaster.pid":                       true,
		"base/1/pg_internal.init":              true,
		"base/1/1259":                          false,
		"base/pgsql_tmp":                       true,
		"global/pg_control":                    false,
		"postgresql.conf":                      false,
		filepath.Join("pg_xact", "0000"):       false,
		filepath.Join("pg_wal", "summaries"):   false,
		filepath.Join("pg_snapshots", "00-01"): true,
	} {
		if got := replaced(relative); got != want {
			t.Errorf("replaced(%s) = %v, want %v", relative, got, want)
		}
	}
}

func TestPairWhileThePrimaryIsWrittenTo(t *testing.T) {
	primary := Run(t, Options{})
	db := primary.NewDB(t)
	db.Exec(t, "CREATE TABLE o (n int)")
	writing, stop := context.WithCancel(t.Context())
	defer stop()
	conn := db.Conn(t)
	written := make(chan int)
	go func() {
		n := 0
		for writing.Err() == nil {
			if _, err := conn.Exec(t.Context(), "INSERT INTO o SELECT generate_series(1, 100)"); err != nil {
				break
			}
			n += 100
		}
		written <- n
	}()
	standby, err := startStandby(within(t, time.Minute), primary)
	stop()
	rows := <-written
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := standby.Close(); err != nil {
			t.Error(err)
		}
	})
	pair := &Pair{Primary: primary, Standby: standby}
	if err := pair.CatchUp(within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	if got := on(standby, db).Text(t, "SELECT count(*) FROM o"); got != strconv.Itoa(rows) || rows == 0 {
		t.Errorf("the standby has %s rows of %d", got, rows)
	}
}

func TestPairRefusals(t *testing.T) {
	if _, err := StartPair(t.Context(), Options{Dir: openDir(t)}); !errors.Is(err, errPairOptions) {
		t.Errorf("a pair with a folder: %v, want %v", err, errPairOptions)
	}
	if _, err := StartPair(t.Context(), Options{Major: 13}); err == nil {
		t.Error("major 13 was accepted")
	}
	if err := (&Pair{Primary: &Server{major: 16}}).SyncSlots(t.Context(), "s"); err == nil || !strings.Contains(err.Error(), "use 17") {
		t.Errorf("SyncSlots on 16: %v", err)
	}
}

func TestPairClosesBoth(t *testing.T) {
	pair, err := StartPair(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := pair.Standby.Stop(t.Context(), Fast); err != nil {
		t.Error(err)
	}
	// Neither waits for a server that is down.
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := pair.CatchUp(ctx); err == nil || !strings.HasPrefix(err.Error(), "wait until the standby has replayed") {
		t.Errorf("CatchUp of a standby that is down: %v", err)
	}
	if err := pair.Promote(ctx); err == nil || !strings.HasPrefix(err.Error(), "promote the standby: ") {
		t.Errorf("Promote of a standby that is down: %v", err)
	}
	if err := errors.Join(pair.Close(), pair.Close()); err != nil {
		t.Fatal(err)
	}
	for _, server := range []*Server{pair.Primary, pair.Standby} {
		if _, err := os.Stat(filepath.Dir(server.DataDir())); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", server.DataDir(), err)
		}
	}
}
