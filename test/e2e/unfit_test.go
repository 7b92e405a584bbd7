package e2e

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
)

// command runs the binary with arguments to its end, and returns its exit code
// and all that it printed.
func command(t *testing.T, s settings, args ...string) (code int, output string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binaries.tested, args...)
	cmd.Env = s.environ()
	text, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

// restart restarts the server with a setting.
func restart(t *testing.T, server *pgtest.Server, db *pgtest.DB, alter string) {
	t.Helper()
	db.Exec(t, alter)
	if err := server.Restart(t.Context(), pgtest.Fast); err != nil {
		t.Fatal(err)
	}
}

// TestAllFaultsAtOnce: everything that is wrong is said in one go, a line each
// with what mends it, by check and by run; and each thing is noticed when it is
// mended, until the stream runs.
func TestAllFaultsAtOnce(t *testing.T) {
	t.Parallel()
	server := pgtest.Run(t, pgtest.Options{Settings: map[string]string{"wal_level": "replica"}})
	r := bare(t, server, 1)
	r.createTopic(topic, partitions)
	r.as("faulty", "LOGIN", "")
	// From here on a commit would wait for a standby that there is not.
	r.db.Exec(t, "ALTER SYSTEM SET synchronous_standby_names = '*'")
	r.db.Exec(t, "ALTER SYSTEM SET synchronous_commit = 'local'")
	r.db.Exec(t, "SELECT pg_reload_conf()")
	faults := map[string]string{
		"server.wal_level wal_level":       "ALTER SYSTEM SET wal_level",
		"server.synchronous_standby_names": "name the standbys one by one",
		"role.replication faulty":          "ALTER ROLE faulty REPLICATION",
		"publication.exists ob_pub":        "CREATE PUBLICATION ob_pub",
		"table.exists app.outbox":          "create the table",
		"slot.exists " + r.slot:            "pg_create_logical_replication_slot",
	}
	if code, text := command(t, r.settings, "check"); code != 3 || !containsAll(text, faults) {
		t.Errorf("check: exit code %d:\n%s", code, text)
	}
	c := start(t, r.settings)
	expect := func() {
		t.Helper()
		eventually(t, patience, "each fault that is left has its line", func(context.Context) (bool, any) {
			s := c.status()
			return s.State == "held" && len(strings.Split(s.Reason, "\n")) == len(faults) && containsAll(s.Reason+"\n"+s.Remedy, faults), s
		})
		c.state("held")
	}
	expect()
	r.db.Exec(t, "ALTER SYSTEM RESET synchronous_standby_names")
	r.db.Exec(t, "ALTER ROLE faulty REPLICATION; SELECT pg_reload_conf()")
	delete(faults, "server.synchronous_standby_names")
	delete(faults, "role.replication faulty")
	expect()
	restart(t, server, r.db, "ALTER SYSTEM SET wal_level = 'logical'")
	delete(faults, "server.wal_level wal_level")
	expect()
	r.db.Exec(t, `CREATE SCHEMA app; CREATE TABLE app.outbox (id text PRIMARY KEY, event_type text, partition_key text, payload jsonb);
		CREATE PUBLICATION ob_pub FOR TABLE app.outbox`)
	delete(faults, "table.exists app.outbox")
	delete(faults, "publication.exists ob_pub")
	expect()
	r.createSlot()
	r.resumes(c, 1)
}

func containsAll(text string, faults map[string]string) bool {
	for fault, remedy := range faults {
		if !strings.Contains(text, fault) || !strings.Contains(text, remedy) {
			return false
		}
	}
	return true
}

// TestNoRoomOnTheServer: no slot is left to make, no walsender to stream with.
func TestNoRoomOnTheServer(t *testing.T) {
	t.Parallel()
	server := pgtest.Run(t, pgtest.Options{Settings: map[string]string{"max_wal_senders": "1", "max_replication_slots": "1"}})
	r := newRig(t, server, 1)
	superuser := r.settings.with(settings{"DATABASE_URL": r.db.URL(), "SLOT": "one_too_many"})
	if code, text := command(t, superuser, "setup"); code != 3 || !strings.Contains(text, "all replication slots are in use") && !strings.Contains(text, "replication slots are taken") {
		t.Errorf("setup without room for a slot: exit code %d:\n%s", code, text)
	}
	config, err := pgconn.ParseConfig(r.db.URL())
	if err != nil {
		t.Fatal(err)
	}
	config.RuntimeParams["replication"] = "database"
	other, err := pgconn.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	c := start(t, r.settings)
	c.held("server.senders max_wal_senders", "all 1 WAL senders are taken", "raise the setting")
	c2 := start(t, superuser)
	c2.held("server.senders", "server.slots max_replication_slots", "slot.exists one_too_many")
	if err := other.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.resumes(c, 1)
}

// TestSQLASCII: a database that checks no bytes is refused.
func TestSQLASCII(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	name := r.db.Name + "_ascii"
	admin := &pgtest.DB{Server: r.db.Server, Name: "postgres"}
	admin.Exec(t, "CREATE DATABASE "+name+" ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0")
	c := start(t, r.settings.with(settings{"DATABASE_URL": r.db.Server.URL(name, role)}))
	c.held("server.encoding "+name, "SQL_ASCII", "UTF8")
	c.stop()
	admin.Exec(t, "DROP DATABASE "+name+" WITH (FORCE)")
}

// TestHotStandby: a server in recovery is left alone, and streamed from once it
// is the primary.
func TestHotStandby(t *testing.T) {
	t.Parallel()
	server := pgtest.Run(t, pgtest.Options{})
	r := newRig(t, server, 1)
	r.insert(1, 3, "a")
	if err := server.Stop(t.Context(), pgtest.Fast); err != nil {
		t.Fatal(err)
	}
	signal := filepath.Join(server.DataDir(), "standby.signal")
	data, err := os.ReadFile(filepath.Join(server.DataDir(), "PG_VERSION"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(signal, data, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Where it is not told to take any server, it looks for a primary, which
	// may well come.
	c := start(t, r.settings)
	c.state("connecting")
	eventually(t, patience, "it says why", func(context.Context) (bool, any) {
		s := c.status()
		return !s.Ready && strings.Contains(s.Reason, "connect to the primary"), s
	})
	other := start(t, r.settings.with(settings{"DATABASE_URL": r.settings["DATABASE_URL"] + "&target_session_attrs=any"}))
	other.held("server.recovery "+r.db.Name, "the server is a standby", "connect to the primary", "target_session_attrs=read-write")
	other.stop()
	if pid := r.slotNow().pid; pid != 0 {
		t.Errorf("the slot is in use by %d", pid)
	}
	r.db.Exec(t, "SELECT pg_promote()")
	r.resumes(c, 4)
	if n := r.stored(topic); n != 6 {
		t.Errorf("%d records, want 6", n)
	}
}
