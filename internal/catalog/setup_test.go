package catalog

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
)

const wait = 20 * time.Second

func setupFor(t *testing.T, db *pgtest.DB, names string) (Setup, Want) {
	t.Helper()
	w := wanted(t, db, names, "")
	return Setup{Want: w}, w
}

// apply plans and runs all steps, and gives what they were for.
func apply(t *testing.T, conn *pgx.Conn, s Setup) []string {
	t.Helper()
	plan, err := s.Plan(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	var why []string
	for _, step := range plan.Steps {
		if err := Apply(t.Context(), conn, step, wait); err != nil {
			t.Fatal(err)
		}
		why = append(why, step.Why)
	}
	return why
}

// TestSetupOnAllMajors: an empty database becomes one that the check passes; a
// second set-up has nothing to do.
func TestSetupOnAllMajors(t *testing.T) {
	for _, major := range pgtest.Majors() {
		t.Run(strconv.Itoa(major), func(t *testing.T) {
			db := pool.Server(t, major).NewDB(t)
			db.Exec(t, outboxDDL+`CREATE SCHEMA "Billing"; CREATE TABLE "Billing"."Outbox" (LIKE outbox) PARTITION BY LIST (id)`)
			s, w := setupFor(t, db, `public.outbox, "Billing"."Outbox"`)
			s.Publication, w.Publication = "My Pub", "My Pub"
			conn := db.Conn(t)
			got := apply(t, conn, s)
			kind := ""
			if major >= failoverMajor {
				kind = " (failover)"
			}
			if len(got) != 2 || got[0] != `create publication "My Pub"` || got[1] != "create replication slot "+w.Slot+kind {
				t.Errorf("steps %q", got)
			}
			if slot, err := ReadSlot(t.Context(), conn, w.Slot); err != nil || slot.Failover != (major >= failoverMajor) {
				t.Errorf("slot %+v, %v", slot, err)
			}
			onlyFailures(t, inspect(t, db, w))
			if again := apply(t, conn, s); len(again) != 0 {
				t.Errorf("a second set-up did %q", again)
			}
			if got := db.Text(t, `SELECT concat_ws(' ', pubinsert, pubupdate, pubdelete, pubtruncate, pubviaroot) FROM pg_publication`); got != "t f f f t" {
				t.Errorf("publication %s", got)
			}
		})
	}
}

// TestScript: what --print shows is SQL that a DBA can run as it is.
func TestScript(t *testing.T) {
	db := pool.NewDB(t)
	db.Exec(t, outboxDDL)
	s, w := setupFor(t, db, "public.outbox")
	s.Role = "Some Role"
	script := s.Script()
	if !strings.Contains(script, `CREATE ROLE "Some Role" LOGIN REPLICATION`) {
		t.Errorf("no role in\n%s", script)
	}
	for statement := range strings.SplitSeq(script, "\n\n") {
		db.Exec(t, statement)
	}
	onlyFailures(t, inspect(t, db, w))
}

func TestSetupCompletesAPublication(t *testing.T) {
	db := pool.NewDB(t)
	db.Exec(t, outboxDDL+`CREATE TABLE second (LIKE outbox); CREATE PUBLICATION pub FOR TABLE outbox`)
	s, w := setupFor(t, db, "public.outbox, public.second")
	createSlot(t, db, w)
	if got := apply(t, db.Conn(t), s); len(got) != 1 || got[0] != "add public.second to publication pub" {
		t.Errorf("steps %q", got)
	}
	onlyFailures(t, inspect(t, db, w))
}

// TestSetupLeavesWhatOthersMayUse: faults of things that exist are named, and
// nothing at all is done.
func TestSetupLeavesWhatOthersMayUse(t *testing.T) {
	for _, tc := range []struct{ title, ddl, part string }{
		{"publication without inserts", outboxDDL + `CREATE PUBLICATION pub FOR TABLE outbox WITH (publish = 'delete')`, "ALTER PUBLICATION pub SET (publish = 'insert');"},
		{"no table", `SELECT 1`, "the table does not exist"},
		{"columns do not fit", `CREATE TABLE outbox (id int)`, `no column for role "type"`},
		{"slot of another plugin", outboxDDL + `; then SELECT pg_create_logical_replication_slot('SLOT', 'test_decoding')`, "somebody else's"},
		{"slot older than the publication", outboxDDL + `; then SELECT pg_create_logical_replication_slot('SLOT', 'pgoutput')`, "A slot that is older than its publication misses rows"},
	} {
		t.Run(tc.title, func(t *testing.T) {
			db := pool.NewDB(t)
			s, w := setupFor(t, db, "public.outbox")
			for sql := range strings.SplitSeq(strings.ReplaceAll(tc.ddl, "SLOT", w.Slot), "; then ") {
				db.Exec(t, sql) // a slot is not made in a transaction that writes
			}
			plan, err := s.Plan(t.Context(), db.Conn(t))
			if !errors.Is(err, ErrManual) || !strings.Contains(err.Error(), tc.part) || plan != nil {
				t.Errorf("got %v, %v, want %q", plan, err, tc.part)
			}
		})
	}
}

// TestSetupCountsRowsBeforeTheSlot: while others have transactions open, only
// the plan can count them all.
func TestSetupCountsRowsBeforeTheSlot(t *testing.T) {
	db := pool.NewDB(t)
	db.Exec(t, outboxDDL+`INSERT INTO outbox SELECT gen_random_uuid(), 'a', 'k', '{}' FROM generate_series(1, 2)`)
	s, _ := setupFor(t, db, "public.outbox")
	plan, err := s.Plan(t.Context(), db.Conn(t))
	if err != nil || len(plan.Uncovered) != 1 {
		t.Fatalf("plan %+v, %v", plan, err)
	}
	expect(t, plan.Uncovered[0], Warn, "public.outbox: 2 rows are from before the slot")
}

func TestSetupRole(t *testing.T) {
	db := pool.NewDB(t)
	role := "r_" + db.Name
	db.Exec(t, outboxDDL+`CREATE ROLE `+role+` LOGIN`)
	t.Cleanup(func() { dropRole(t, db, role) })
	s, _ := setupFor(t, db, "public.outbox")
	s.Role = role
	conn := db.Conn(t)
	if got := apply(t, conn, s); got[0] != "let role "+role+" stream" {
		t.Errorf("steps %q", got)
	}
	if got := db.Text(t, `SELECT rolreplication FROM pg_roles WHERE rolname = '`+role+`'`); got != "true" {
		t.Errorf("rolreplication is %s", got)
	}
	if again := apply(t, conn, s); len(again) != 0 {
		t.Errorf("a second set-up did %q", again)
	}
	s.Role = "nobody there"
	if _, err := s.Plan(t.Context(), conn); err == nil || !strings.Contains(err.Error(), `CREATE ROLE "nobody there" LOGIN REPLICATION`) {
		t.Errorf("got %v", err)
	}
}

// TestSlotWaitsAndNamesWhoBlocks: with transactions open, prepared ones too,
// the creation gives up in time, names them, and leaves no slot.
func TestSlotWaitsAndNamesWhoBlocks(t *testing.T) {
	server := pgtest.Run(t, pgtest.Options{Settings: map[string]string{"max_prepared_transactions": "5"}})
	db := server.NewDB(t)
	db.Exec(t, outboxDDL+`CREATE PUBLICATION pub FOR TABLE outbox WITH (publish = 'insert')`)
	open := db.Conn(t)
	for _, sql := range []string{
		"SET application_name = 'nightly job'", "BEGIN", "INSERT INTO outbox VALUES (gen_random_uuid(), 'a')",
		"PREPARE TRANSACTION 'it''s prepared'", "BEGIN", "INSERT INTO outbox VALUES (gen_random_uuid(), 'a')",
	} {
		if _, err := open.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	s, w := setupFor(t, db, "public.outbox")
	conn := db.Conn(t)
	plan, err := s.Plan(t.Context(), conn)
	if err != nil || len(plan.Steps) != 1 {
		t.Fatalf("plan %v, %v", plan, err)
	}
	err = Apply(t.Context(), conn, plan.Steps[0], 300*time.Millisecond)
	for _, part := range []string{
		"create replication slot " + w.Slot, "did not end within 300ms",
		fmt.Sprintf("pid %d (nightly job)", open.PgConn().PID()), "prepared transaction 'it''s prepared'", "pg_terminate_backend",
	} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in: %v", part, err)
		}
	}
	if slot, err := ReadSlot(t.Context(), conn, w.Slot); slot != nil || err != nil {
		t.Errorf("a slot was left: %+v, %v", slot, err)
	}
	for _, sql := range []string{"COMMIT", "ROLLBACK PREPARED 'it''s prepared'"} {
		if _, err := open.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if err := Apply(t.Context(), conn, plan.Steps[0], wait); err != nil {
		t.Errorf("with nobody in the way: %v", err)
	}
	if got := Blockers(t.Context(), conn); !strings.HasPrefix(got, "they have ended since") {
		t.Errorf("blockers: %s", got)
	}
}

func TestApplyErrors(t *testing.T) {
	db := pool.NewDB(t)
	role := "r_" + db.Name
	db.Exec(t, outboxDDL+`CREATE ROLE `+role+` LOGIN`)
	t.Cleanup(func() { dropRole(t, db, role) })
	conn := db.Conn(t)
	// A lock that somebody else holds.
	holder := db.Conn(t)
	tx, err := holder.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "LOCK TABLE outbox IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	publish := Step{SQL: createPublicationSQL("pub", tables(t, "public.outbox", "").Names()), Why: "create publication pub"}
	if err := Apply(t.Context(), conn, publish, 200*time.Millisecond); err == nil || !strings.Contains(err.Error(), "another session held a lock") {
		t.Errorf("got %v", err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "SET ROLE "+role); err != nil {
		t.Fatal(err)
	}
	if err := Apply(t.Context(), conn, publish, wait); err == nil || !strings.Contains(err.Error(), "setup --print") {
		t.Errorf("got %v", err)
	}
	if err := Apply(t.Context(), conn, Step{SQL: "nonsense", Why: "try nonsense"}, wait); err == nil ||
		!strings.HasPrefix(err.Error(), "try nonsense: syntax error") {
		t.Errorf("got %v", err)
	}
}

func TestQuoting(t *testing.T) {
	for name, want := range map[string]string{"a_b": "a_b", "A": `"A"`, `a"b`: `"a""b"`, "order": `"order"`, "a b": `"a b"`, "1a": `"1a"`} {
		if got := identifier(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	if got := literal("it's"); got != "'it''s'" {
		t.Errorf("got %s", got)
	}
}
