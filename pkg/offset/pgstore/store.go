package pgstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// callTimeout bounds one call as a whole, connecting included, so that a network
// that swallows everything ends it too.
const callTimeout = 30 * time.Second

// Config says where the checkpoints are.
type Config struct {
	// Connect opens an ordinary connection to the database of the slot, at
	// best to the primary. Its error is wrapped and returned.
	Connect func(ctx context.Context) (*pgx.Conn, error)
	// Table is the checkpoint table, as it is in the catalog.
	Table decoder.TableName
	// StatementTimeout bounds each statement on the server; 0 is 5 s. Those
	// that read an outbox table get four times that.
	StatementTimeout time.Duration
}

// Store is a checkpoint table behind a connection of its own, which is kept
// open and replaced when it breaks. Its methods may be called from any
// goroutine; one at a time runs, the others wait until their context ends.
type Store struct {
	cfg  Config
	turn chan struct{} // holds one value while a method runs

	// What follows belongs to who has the turn.
	conn  *pgx.Conn
	later watermark
	// written is the version of the row that the last Save has left; 0 for none.
	written int64
}

// New returns a store; it connects on first use.
func New(cfg Config) *Store {
	if cfg.StatementTimeout == 0 {
		cfg.StatementTimeout = 5 * time.Second
	}
	return &Store{cfg: cfg, turn: make(chan struct{}, 1)}
}

// Close ends the connection; the next call would open another.
func (s *Store) Close(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("close the checkpoint store: %w", context.Cause(ctx))
	}
	defer func() { <-s.turn }()
	s.disconnect(ctx)
	return nil
}

// do runs an action in a transaction. Where a connection that was kept turns out
// to be broken, it tries once more on a fresh one: all actions may be repeated.
func (s *Store) do(ctx context.Context, op string, timeout time.Duration, action func(context.Context, pgx.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	}
	defer func() { <-s.turn }()
	kept := s.conn != nil
	err := s.once(ctx, timeout, action)
	if err != nil && kept && s.conn == nil && ctx.Err() == nil {
		err = s.once(ctx, timeout, action)
	}
	if err != nil && !errors.Is(err, errConnect) {
		return explain(op, s.cfg.Table, s.role(), err)
	}
	return err
}

// errConnect is around the errors of Config.Connect.
var errConnect = errors.New("connect for the checkpoint")

func (s *Store) once(ctx context.Context, timeout time.Duration, action func(context.Context, pgx.Tx) error) error {
	if s.conn == nil {
		conn, err := s.cfg.Connect(ctx)
		if err != nil {
			return fmt.Errorf("%w: %w", errConnect, err)
		}
		s.conn = conn
	}
	err := s.transaction(ctx, timeout, action)
	var server *pgconn.PgError
	if err != nil && (s.conn.IsClosed() || !errors.As(err, &server) || isStandby(err)) {
		// A standby's connection is dropped as well: the next one may lead
		// to the primary.
		s.disconnect(ctx)
	}
	return err
}

// transaction sets what it needs for itself alone, so that it also works behind
// a pooler, which gives each transaction another session.
func (s *Store) transaction(ctx context.Context, timeout time.Duration, action func(context.Context, pgx.Tx) error) error {
	tx, err := s.conn.Begin(ctx)
	if err != nil {
		return err
	}
	// A missing synchronous standby must not block us: the row is worth no
	// more than the events that its server has.
	millis := strconv.FormatInt(timeout.Milliseconds(), 10)
	if _, err = tx.Exec(ctx, "SET LOCAL synchronous_commit = local; SET LOCAL row_security = off; "+
		"SET LOCAL statement_timeout = "+millis+"; SET LOCAL lock_timeout = "+millis); err == nil {
		err = action(ctx, tx)
	}
	if err != nil {
		_ = tx.Rollback(context.WithoutCancel(ctx))
		return err
	}
	return tx.Commit(ctx)
}

func (s *Store) disconnect(ctx context.Context) {
	if s.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = s.conn.Close(ctx)
	s.conn, s.later = nil, watermark{}
}

// role is the name that the connection logged in with.
func (s *Store) role() string {
	if s.conn == nil {
		return "CURRENT_USER"
	}
	return s.conn.Config().User
}
