package pgstore

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// newRole makes a role with LOGIN and nothing more, that goes with the test.
func newRole(t *testing.T, db *pgtest.DB) string {
	t.Helper()
	role := "r_" + db.Name
	db.Exec(t, "CREATE ROLE "+role+" LOGIN")
	t.Cleanup(func() {
		conn, err := pgx.Connect(context.Background(), db.URL())
		if err == nil {
			_, err = conn.PgConn().Exec(context.Background(), "DROP OWNED BY "+role+"; DROP ROLE "+role).ReadAll()
			err = errors.Join(err, conn.Close(context.Background()))
		}
		if err != nil {
			t.Error(err)
		}
	})
	return role
}

// TestLeastPrivilege: without rights the error says which; with those alone all
// works.
func TestLeastPrivilege(t *testing.T) {
	db := pool.NewDB(t)
	newStore(t, db)
	db.Exec(t, "CREATE TABLE outbox ()")
	role, cp := newRole(t, db), here(t, db)
	s := storeAt(t, db.Server.URL(db.Name, role))
	_, loadErr := s.Load(t.Context(), cp.Slot)
	saved, saveErr := s.Save(t.Context(), cp, 0)
	for _, err := range []error{loadErr, saveErr} {
		var e *TableError
		if !errors.As(err, &e) || e.Code != "42501" || e.Remedy != "run "+Grant(checkpoints(), role) ||
			!strings.HasPrefix(err.Error(), "checkpoint table outbox_cdc.checkpoint: permission denied") {
			t.Errorf("got %v", err)
		}
	}
	if saved {
		t.Error("saved without a right to")
	}
	db.Exec(t, Grant(checkpoints(), role))
	save(t, s, cp, 1, true)
	load(t, s, cp.Slot)
	if got, err := s.NewerRows(t.Context(), []decoder.TableName{{Schema: "public", Name: "outbox"}}, "1:1:"); got != 0 || err != nil {
		t.Errorf("newer rows without SELECT: %v, %v", got, err)
	}
}

func TestTablesThatCantBeUsed(t *testing.T) {
	for _, tc := range []struct{ title, ddl, code, remedy string }{
		{"no schema", "SELECT", "42P01", "run outbox-cdc setup"},
		{"no table", "CREATE SCHEMA outbox_cdc", "42P01", "run outbox-cdc setup"},
		{"somebody else's", "CREATE SCHEMA outbox_cdc; CREATE TABLE outbox_cdc.checkpoint (slot text)", "42703", "set OUTBOX_CDC_OFFSET_TABLE"},
	} {
		t.Run(tc.title, func(t *testing.T) {
			db := pool.NewDB(t)
			db.Exec(t, tc.ddl)
			s := storeAt(t, db.URL())
			_, loadErr := s.Load(t.Context(), "x")
			_, saveErr := s.Save(t.Context(), here(t, db), 0)
			for _, err := range []error{loadErr, saveErr} {
				var e *TableError
				if !errors.As(err, &e) || e.Code != tc.code || !strings.Contains(e.Remedy, tc.remedy) {
					t.Errorf("got %v", err)
				}
			}
		})
	}
}

// TestReconnects: a connection that broke meanwhile costs nothing.
func TestReconnects(t *testing.T) {
	db := pool.NewDB(t)
	cp, connects := here(t, db), 0
	newStore(t, db)
	s := New(Config{Table: checkpoints(), Connect: func(ctx context.Context) (*pgx.Conn, error) {
		connects++
		return pgx.Connect(ctx, db.URL())
	}})
	defer func() {
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	save(t, s, cp, 0, true)
	save(t, s, cp, 0, true)
	if connects != 1 {
		t.Errorf("%d connections for two saves", connects)
	}
	db.Exec(t, "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND query ~ 'COMMIT|commit'")
	save(t, s, cp, 0, true)
	if connects != 2 {
		t.Errorf("%d connections", connects)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	load(t, s, cp.Slot)
}

func TestNoServer(t *testing.T) {
	down := errors.New("down")
	s := New(Config{Table: checkpoints(), Connect: func(context.Context) (*pgx.Conn, error) { return nil, down }})
	if _, err := s.Load(t.Context(), "x"); !errors.Is(err, down) {
		t.Errorf("got %v", err)
	}
}

// TestALockEndsInTime: a lock on the table holds a save no longer than the
// timeout, and the store is of use afterwards; who waits for its turn can leave.
func TestALockEndsInTime(t *testing.T) {
	db := pool.NewDB(t)
	newStore(t, db)
	cp := here(t, db)
	entered := make(chan struct{}, 10)
	s := New(Config{Table: checkpoints(), StatementTimeout: 300 * time.Millisecond, Connect: func(ctx context.Context) (*pgx.Conn, error) {
		entered <- struct{}{}
		return pgx.Connect(ctx, db.URL())
	}})
	defer func() { _ = s.Close(context.Background()) }()
	tx, err := db.Conn(t).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "LOCK TABLE outbox_cdc.checkpoint"); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := s.Save(t.Context(), cp, 0)
		ended <- err
	}()
	<-entered
	leaving, leave := context.WithCancel(t.Context())
	leave()
	if _, err := s.Load(leaving, cp.Slot); !errors.Is(err, context.Canceled) {
		t.Errorf("who left got %v", err)
	}
	if err := <-ended; err == nil || !strings.HasPrefix(err.Error(), "save the checkpoint of slot "+cp.Slot+": ") {
		t.Errorf("got %v", err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	save(t, s, cp, 0, true)
}
