package pgstore

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset"
)

var pool = pgtest.NewPool(pgtest.Options{})

func TestMain(m *testing.M) { goleak.VerifyTestMain(pool.Main(m)) }

// checkpoints is where the tests keep them.
func checkpoints() decoder.TableName {
	return decoder.TableName{Schema: "outbox_cdc", Name: "checkpoint"}
}

// storeAt is a store that connects to the URL.
func storeAt(t *testing.T, url string) *Store {
	t.Helper()
	s := New(Config{Table: checkpoints(), Connect: func(ctx context.Context) (*pgx.Conn, error) { return pgx.Connect(ctx, url) }})
	t.Cleanup(func() {
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return s
}

// newStore makes the table in a database.
func newStore(t *testing.T, db *pgtest.DB) *Store {
	t.Helper()
	db.Exec(t, CreateSchema(checkpoints())+CreateTable(checkpoints()))
	return storeAt(t, db.URL())
}

// here is a checkpoint that is right for the database: its server is on
// timeline 1.
func here(t *testing.T, db *pgtest.DB) offset.Checkpoint {
	t.Helper()
	return offset.Checkpoint{
		Slot: "s_" + db.Name, SystemID: db.Text(t, "SELECT system_identifier FROM pg_control_system()"), Timeline: 1,
		Database: db.Name, Confirmed: 0x100, Ceiling: 0x200,
	}
}

// save saves and demands the outcome.
func save(t *testing.T, s *Store, cp offset.Checkpoint, pid uint32, want bool) {
	t.Helper()
	if saved, err := s.Save(t.Context(), cp, pid); saved != want || err != nil {
		t.Fatalf("saved %v, %v, want %v", saved, err, want)
	}
}

// load demands a checkpoint.
func load(t *testing.T, s *Store, slot string) offset.Checkpoint {
	t.Helper()
	cp, err := s.Load(t.Context(), slot)
	if err != nil || cp == nil {
		t.Fatalf("loaded %v, %v", cp, err)
	}
	return *cp
}

// until polls: statistics arrive late on some versions.
func until(t *testing.T, done func() bool) {
	t.Helper()
	limit := time.After(20 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatal("it never came to that")
		}
	}
}
