package pgrepl

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
)

// tempConfig is for a session whose slot does not exist yet.
func tempConfig(tb testing.TB, db *pgtest.DB) Config {
	tb.Helper()
	db.Exec(tb, "CREATE TABLE o (id int, v text); CREATE PUBLICATION p FOR TABLE o")
	cfg := config(tb, db.URL())
	cfg.Slot, cfg.Publication = "temp_"+db.Name, "p"
	return cfg
}

func slotsLeft(db *pgtest.DB) string {
	return "SELECT count(*) FROM pg_replication_slots WHERE database = '" + db.Name + "'"
}

func TestTemporarySlot(t *testing.T) {
	forMajors(t, func(t *testing.T, db *pgtest.DB) {
		t.Helper()
		cfg := tempConfig(t, db)
		db.Exec(t, "INSERT INTO o VALUES (1, 'before')")
		session := connect(t, cfg)
		at, err := session.CreateTemporarySlot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		row := db.Text(t, "SELECT concat_ws(' ', plugin, temporary, active_pid = "+strconv.Itoa(int(session.PID))+", confirmed_flush_lsn) FROM pg_replication_slots WHERE slot_name = '"+cfg.Slot+"'")
		if want := "pgoutput t t " + at.String(); row != want {
			t.Errorf("the slot is %q, want %q", row, want)
		}
		db.Exec(t, "INSERT INTO o VALUES (2, 'after')")
		s, err := session.Start(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, rows, _ := transaction(t, s); len(rows) != 1 || !strings.HasSuffix(rows[0], "after") {
			t.Errorf("got %q, want the one row from after the slot", rows)
		}
		s.Close() // without a word, as if the process had died
		eventually(t, db, slotsLeft(db), "0")
	})
}

func TestTemporarySlotIsRefused(t *testing.T) {
	db := pool.NewDB(t)
	cfg := tempConfig(t, db)
	if _, err := connect(t, cfg).CreateTemporarySlot(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := connect(t, cfg).CreateTemporarySlot(t.Context())
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) || pgErr.Code != "42710" || !strings.HasPrefix(err.Error(), `create the temporary slot "`+cfg.Slot+`": `) {
		t.Errorf("a name that is taken: %v", err)
	}
}

// TestTemporarySlotThatIsGivenUp: the wait for a running transaction ends with
// the context, on the server too.
func TestTemporarySlotThatIsGivenUp(t *testing.T) {
	forMajors(t, func(t *testing.T, db *pgtest.DB) {
		t.Helper()
		cfg := tempConfig(t, db)
		conn := db.Conn(t)
		if _, err := conn.Exec(t.Context(), "BEGIN; INSERT INTO o VALUES (1, 'open')"); err != nil {
			t.Fatal(err)
		}
		session := connect(t, cfg)
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		if at, err := session.CreateTemporarySlot(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("CreateTemporarySlot = %v, %v, want the context's end", at, err)
		}
		eventually(t, db, slotsLeft(db), "0") // while the transaction is still open
	})
}
