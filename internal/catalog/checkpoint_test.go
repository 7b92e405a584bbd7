package catalog

import (
	"strings"
	"testing"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// keeping is a set-up with a checkpoint table whose names have to be quoted.
func keeping(t *testing.T, db *pgtest.DB) (Setup, Want) {
	t.Helper()
	s, w := setupFor(t, db, "public.outbox")
	s.Checkpoint = &decoder.TableName{Schema: "Kept", Name: "check point"}
	w.Checkpoint = s.Checkpoint
	return s, w
}

// TestSetupMakesTheCheckpointTable: for another role it grants what that role
// needs and no more; a second set-up has nothing to do.
func TestSetupMakesTheCheckpointTable(t *testing.T) {
	db := pool.NewDB(t)
	role := "r_" + db.Name
	db.Exec(t, outboxDDL+`CREATE ROLE `+role+` LOGIN REPLICATION`)
	t.Cleanup(func() { dropRole(t, db, role) })
	s, w := keeping(t, db)
	s.Role = role
	conn := db.Conn(t)
	want := `create schema "Kept", create checkpoint table "Kept"."check point", let role ` + role + " keep its checkpoint"
	if got := strings.Join(apply(t, conn, s), ", "); !strings.HasPrefix(got, want) {
		t.Errorf("steps %s, want first %s", got, want)
	}
	if again := apply(t, conn, s); len(again) != 0 {
		t.Errorf("a second set-up did %q", again)
	}
	if got := db.Text(t, `SELECT string_agg(privilege_type, ' ' ORDER BY privilege_type) FROM information_schema.table_privileges WHERE grantee = '`+role+`'`); got != "INSERT SELECT UPDATE" {
		t.Errorf("granted %s", got)
	}
	if _, err := conn.Exec(t.Context(), "SET SESSION AUTHORIZATION "+role); err != nil {
		t.Fatal(err)
	}
	r, err := Inspect(t.Context(), conn, w)
	if err != nil {
		t.Fatal(err)
	}
	onlyFailures(t, r)
	expect(t, get(t, r, "checkpoint.table", ""), OK, "can be read and written")
}

// TestCheckpointFaults: what is missing is named with what mends it, and setup
// does.
func TestCheckpointFaults(t *testing.T) {
	db := pool.NewDB(t)
	db.Exec(t, outboxDDL)
	s, w := keeping(t, db)
	conn := db.Conn(t)
	apply(t, conn, s)
	role := "r_" + db.Name
	db.Exec(t, `CREATE ROLE `+role+` LOGIN REPLICATION; GRANT USAGE ON SCHEMA "Kept" TO `+role)
	t.Cleanup(func() { dropRole(t, db, role) })
	if _, err := conn.Exec(t.Context(), "SET SESSION AUTHORIZATION "+role); err != nil {
		t.Fatal(err)
	}
	r, err := Inspect(t.Context(), conn, w)
	if err != nil {
		t.Fatal(err)
	}
	onlyFailures(t, r, "checkpoint.table")
	expect(t, get(t, r, "checkpoint.table", ""), Fail, `may not read and write`, `GRANT SELECT, INSERT, UPDATE ON "Kept"."check point" TO `+role)
	db.Exec(t, strings.TrimPrefix(get(t, r, "checkpoint.table", "").Remedy, "run ")) // it works as it stands
	if r, err = Inspect(t.Context(), conn, w); err != nil {
		t.Fatal(err)
	}
	onlyFailures(t, r)

	db.Exec(t, `DROP TABLE "Kept"."check point"`)
	expect(t, get(t, inspect(t, db, w), "checkpoint.table", ""), Fail, "does not exist", "outbox-cdc setup")
	if got := apply(t, db.Conn(t), s); len(got) != 1 || got[0] != `create checkpoint table "Kept"."check point"` {
		t.Errorf("steps %q", got)
	}
	w.Checkpoint = nil
	for _, f := range inspect(t, db, w).Findings {
		if strings.HasPrefix(f.Name, "checkpoint") {
			t.Errorf("nothing is to be kept, and there is %s", f)
		}
	}
}

// TestScriptHasTheCheckpoint: a DBA can run it as it is, and run it again.
func TestScriptHasTheCheckpoint(t *testing.T) {
	db := pool.NewDB(t)
	role := "r_" + db.Name
	db.Exec(t, outboxDDL+`CREATE ROLE `+role+` LOGIN REPLICATION`)
	t.Cleanup(func() { dropRole(t, db, role) })
	s, w := keeping(t, db)
	s.Role = role
	for statement := range strings.SplitSeq(s.Script(), "\n\n") {
		db.Exec(t, statement)
	}
	onlyFailures(t, inspect(t, db, w))
	db.Exec(t, s.checkpointScript(role))
	if got := apply(t, db.Conn(t), s); len(got) != 0 {
		t.Errorf("setup after the script did %q", got)
	}
}
