package catalog

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// teardownOf is the statements that undo the set-up.
func teardownOf(t *testing.T, steps []Step) string {
	t.Helper()
	all := make([]string, len(steps))
	for i, s := range steps {
		all[i] = s.SQL
	}
	return strings.Join(all, "\n")
}

func TestTeardownUndoesASetup(t *testing.T) {
	db := pool.NewDB(t)
	db.Exec(t, outboxDDL)
	conn := db.Conn(t)
	s := &Setup{Want: Want{Slot: "s_" + db.Name, Publication: "pub", Tables: tables(t, "public.outbox", ""), Checkpoint: &decoder.TableName{Schema: "outbox_cdc", Name: "checkpoint"}}}
	plan, err := s.Plan(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range plan.Steps {
		if err := Apply(t.Context(), conn, step, 10*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if plan, err = s.Plan(t.Context(), conn); err != nil || len(plan.Steps) != 0 {
		t.Errorf("a second setup has to do %v, %v", plan, err)
	}
	steps, err := s.Teardown(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	want := "SELECT pg_drop_replication_slot('" + s.Slot + "');\n" + dropEmptySQL("outbox_cdc.checkpoint", s.Slot) + "\nDROP PUBLICATION pub;"
	if got := teardownOf(t, steps); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, step := range steps {
		if err := Apply(t.Context(), conn, step, 10*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if steps, err = s.Teardown(t.Context(), conn); err != nil || len(steps) != 0 {
		t.Errorf("a second teardown has to do %v, %v", steps, err)
	}
}

func TestTeardownLeavesWhatIsNotOurs(t *testing.T) {
	db := pool.NewDB(t)
	db.Exec(t, outboxDDL+`CREATE PUBLICATION pub FOR TABLE outbox; CREATE SCHEMA k;
		CREATE TABLE k.keep (slot text, x int); INSERT INTO k.keep VALUES ('mine', 1), ('other', 2);`)
	conn := db.Conn(t)
	s := &Setup{Want: Want{Slot: "mine", Publication: "pub", Tables: tables(t, "public.outbox", ""), Checkpoint: &decoder.TableName{Schema: "k", Name: "keep"}}}
	steps, err := s.Teardown(t.Context(), conn)
	if want := "DELETE FROM k.keep WHERE slot = 'mine';"; err != nil || teardownOf(t, steps) != want {
		t.Errorf("got %q, %v, want %q", teardownOf(t, steps), err, want)
	}
	s.Checkpoint, s.Slot = nil, "other_"+db.Name
	db.Exec(t, "SELECT pg_create_logical_replication_slot('"+s.Slot+"', 'test_decoding')")
	if _, err := s.Teardown(t.Context(), conn); err == nil || !strings.Contains(err.Error(), "somebody else's") {
		t.Errorf("a slot of another plugin: %v", err)
	}
}

func TestTeardownRefusesASlotInUse(t *testing.T) {
	db := pool.NewDB(t)
	db.Exec(t, outboxDDL)
	conn := db.Conn(t)
	slot := "t_" + db.Name
	// A temporary slot is in use for as long as its session lives.
	if _, err := conn.Exec(t.Context(), "SELECT pg_create_logical_replication_slot('"+slot+"', 'pgoutput', true)"); err != nil {
		t.Fatal(err)
	}
	s := &Setup{Want: Want{Slot: slot, Publication: "pub", Tables: tables(t, "public.outbox", "")}}
	if _, err := s.Teardown(t.Context(), db.Conn(t)); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), "stop that instance") {
		t.Errorf("error %v", err)
	}
}

// TestTeardownLeavesWhatIsShared: a publication that somebody changed and a
// table that has another slot's checkpoint stay.
func TestTeardownLeavesWhatIsShared(t *testing.T) {
	db := pool.NewDB(t)
	db.Exec(t, outboxDDL+"CREATE TABLE other (LIKE outbox);")
	conn := db.Conn(t)
	s, _ := keeping(t, db)
	apply(t, conn, s)
	db.Exec(t, `INSERT INTO "Kept"."check point" SELECT slot, '1', 1, 'x', '0/1', '0/1' FROM unnest(ARRAY['`+s.Slot+`', 'another']) AS slot`)
	for title, change := range map[string]string{
		"a table more":     "ALTER PUBLICATION pub ADD TABLE other",
		"another table":    "ALTER PUBLICATION pub SET TABLE other",
		"updates as well":  "ALTER PUBLICATION pub SET TABLE outbox; ALTER PUBLICATION pub SET (publish = 'insert, update')",
		"another's remark": "ALTER PUBLICATION pub SET (publish = 'insert'); COMMENT ON PUBLICATION pub IS 'for the warehouse too'",
	} {
		db.Exec(t, change)
		steps, err := s.Teardown(t.Context(), conn)
		want := "SELECT pg_drop_replication_slot('" + s.Slot + "');\n" + `DELETE FROM "Kept"."check point" WHERE slot = '` + s.Slot + "';"
		if got := teardownOf(t, steps); err != nil || got != want {
			t.Errorf("%s: %q, %v", title, got, err)
		}
		db.Exec(t, "ALTER PUBLICATION pub SET TABLE outbox; ALTER PUBLICATION pub SET (publish = 'insert'); COMMENT ON PUBLICATION pub IS 'outbox-cdc'")
	}
	// A checkpoint that came in between keeps the table.
	db.Exec(t, dropEmptySQL(s.Checkpoint.String(), s.Slot))
	if got := db.Text(t, `SELECT string_agg(slot, ' ') FROM "Kept"."check point"`); got != "another" {
		t.Errorf("left %q", got)
	}
}

func TestTeardownOfAnotherDatabasesSlot(t *testing.T) {
	db, wrong := pool.NewDB(t), pool.NewDB(t)
	s, w := setupFor(t, db, "public.outbox")
	createSlot(t, db, w)
	if _, err := s.Teardown(t.Context(), wrong.Conn(t)); err == nil || !strings.Contains(err.Error(), "belongs to database \""+db.Name) {
		t.Errorf("got %v", err)
	}
}
