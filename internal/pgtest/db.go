package pgtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/outbox-cdc/outbox-cdc/internal/testserver"
)

// dropLimit bounds the removal of a test's database.
const dropLimit = time.Minute

// DB is a database of one test.
type DB struct {
	// Server is where the database is.
	Server *Server
	// Name is unique on the server, lower-case letters, digits and _.
	Name string
}

// NewDB creates a database for the test. At the test's end it is dropped, with
// its sessions and replication slots.
func (s *Server) NewDB(tb testing.TB) *DB {
	tb.Helper()
	db := &DB{Server: s, Name: "t_" + strings.ToLower(rand.Text()[:12])}
	ctx, cancel := context.WithTimeout(tb.Context(), dropLimit)
	defer cancel()
	err := s.admin(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "CREATE DATABASE "+db.Name)
		return err
	})
	if err != nil {
		tb.Fatalf("create database %s: %v", db.Name, err)
	}
	tb.Cleanup(func() {
		if s.PID() == 0 {
			return // the test stopped its server
		}
		ctx, cancel := context.WithTimeout(context.Background(), dropLimit)
		defer cancel()
		if err := db.drop(ctx); err != nil {
			tb.Errorf("drop database %s: %v", db.Name, err)
		}
	})
	return db
}

// URL returns the superuser's connection URL of the database.
func (db *DB) URL() string { return db.Server.URL(db.Name, superuser) }

// Conn returns a superuser's connection that is closed at the test's end.
func (db *DB) Conn(tb testing.TB) *pgx.Conn {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), db.URL())
	if err != nil {
		tb.Fatalf("connect to database %s: %v", db.Name, err)
	}
	tb.Cleanup(func() {
		// The session may be gone already; that is the test's business.
		_ = conn.Close(context.Background())
	})
	return conn
}

// Exec runs one or more statements, separated by semicolons, in a session of
// its own and fails the test on an error.
func (db *DB) Exec(tb testing.TB, sql string) {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), db.URL())
	if err != nil {
		tb.Fatalf("connect to database %s: %v", db.Name, err)
	}
	_, err = conn.PgConn().Exec(tb.Context(), sql).ReadAll()
	if err := errors.Join(err, conn.Close(tb.Context())); err != nil {
		tb.Fatalf("exec %s: %v", sql, err)
	}
}

// Text returns the one value that a query yields, as text; NULL is "".
func (db *DB) Text(tb testing.TB, sql string) string {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), db.URL())
	if err != nil {
		tb.Fatalf("connect to database %s: %v", db.Name, err)
	}
	var value *string
	err = conn.QueryRow(tb.Context(), "SELECT ("+sql+")::text").Scan(&value)
	if err := errors.Join(err, conn.Close(tb.Context())); err != nil {
		tb.Fatalf("query %s: %v", sql, err)
	}
	if value == nil {
		return ""
	}
	return *value
}

// drop removes the database. A slot can only be dropped once its walsender is
// gone, and while there is a slot the database cannot.
func (db *DB) drop(ctx context.Context) error {
	return db.Server.admin(ctx, func(conn *pgx.Conn) error {
		err := testserver.Poll(ctx, func() (bool, error) {
			_, err := conn.Exec(ctx, `SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots
				WHERE database = $1 AND active_pid IS NOT NULL`, db.Name)
			if err != nil {
				return false, err
			}
			// A slot that became active in between fails here and is met again.
			_, dropErr := conn.Exec(ctx, `SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots
				WHERE database = $1 AND active_pid IS NULL`, db.Name)
			var left int
			err = conn.QueryRow(ctx, `SELECT count(*) FROM pg_replication_slots WHERE database = $1`, db.Name).Scan(&left)
			return left == 0 && dropErr == nil, err
		})
		if err != nil {
			return fmt.Errorf("drop its slots: %w", err)
		}
		_, err = conn.Exec(ctx, "DROP DATABASE IF EXISTS "+db.Name+" WITH (FORCE)")
		return err
	})
}

// admin runs an action in a superuser's session outside of the tests' databases.
func (s *Server) admin(ctx context.Context, action func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, s.URL("postgres", superuser))
	if err != nil {
		return err
	}
	return errors.Join(action(conn), conn.Close(context.WithoutCancel(ctx)))
}
