package pgtest

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/outbox-cdc/outbox-cdc/internal/testserver"
)

// StandbySlot is the physical slot on a Pair's primary that keeps WAL for the
// standby: the name for synchronized_standby_slots.
const StandbySlot = "pgtest_standby"

// StandbyName is the standby's application_name on the primary: the name for
// synchronous_standby_names.
const StandbyName = "pgtest_standby"

// Pair is a primary with a physical standby that streams from it. Both are
// ordinary servers: stop, kill and start them as such. After Promote the former
// primary still believes that it is one; started again it is the old primary
// that comes back. All methods may be called from any goroutine.
type Pair struct {
	Primary, Standby *Server
}

var errPairOptions = errors.New("a pair has no folder of its own: its standby is made anew each time")

// StartPair starts a primary, takes a base backup of it while it runs, and
// starts a hot standby from that; the standby accepts connections when it
// returns. The options are both servers', Port is the primary's, and Dir has to
// be empty. Settings that name standbys (synchronous_standby_names,
// synchronized_standby_slots) are the primary's alone: a promoted standby has
// none that it could wait for.
func StartPair(ctx context.Context, opts Options) (pair *Pair, err error) {
	if opts.Dir != "" {
		return nil, errPairOptions
	}
	p := new(Pair)
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	if p.Primary, err = Start(ctx, opts); err != nil {
		return nil, fmt.Errorf("start the primary: %w", err)
	}
	if p.Standby, err = startStandby(ctx, p.Primary); err != nil {
		return nil, fmt.Errorf("start the standby: %w", err)
	}
	return p, nil
}

// Close ends both servers at once and removes their data. It may be called
// twice.
func (p *Pair) Close() error {
	var errs []error
	for _, server := range []*Server{p.Standby, p.Primary} {
		if server != nil {
			errs = append(errs, server.Close())
		}
	}
	return errors.Join(errs...)
}

// CatchUp waits until the standby has replayed all WAL that the primary had
// flushed when it was called.
func (p *Pair) CatchUp(ctx context.Context) error {
	var flushed string
	err := p.Primary.admin(ctx, func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "SELECT pg_current_wal_flush_lsn()::text").Scan(&flushed)
	})
	if err != nil {
		return fmt.Errorf("ask the primary for its end of WAL: %w", err)
	}
	err = p.Standby.admin(ctx, func(conn *pgx.Conn) error { return replayed(ctx, conn, flushed) })
	if err != nil {
		return fmt.Errorf("wait until the standby has replayed %s: %w", flushed, err)
	}
	return nil
}

// replayed waits until the standby behind conn has replayed up to the position.
func replayed(ctx context.Context, conn *pgx.Conn, position string) error {
	return testserver.Poll(ctx, func() (bool, error) {
		var done bool
		err := conn.QueryRow(ctx, "SELECT coalesce(pg_last_wal_replay_lsn() >= $1::text::pg_lsn, false)", position).Scan(&done)
		return done, err
	})
}

// Promote makes the standby a primary, on a new timeline, and returns when it
// accepts writes. It replays what it has received, so what the primary wrote
// after that is on the old timeline only. The primary may be up or down.
func (p *Pair) Promote(ctx context.Context) error {
	err := p.Standby.admin(ctx, func(conn *pgx.Conn) error {
		var promoted bool
		// Without waiting: the function's own limit is none of ctx.
		if err := conn.QueryRow(ctx, "SELECT pg_promote(false)").Scan(&promoted); err != nil {
			return err
		}
		return testserver.Poll(ctx, func() (bool, error) {
			var waiting bool
			err := conn.QueryRow(ctx, "SELECT pg_is_in_recovery()").Scan(&waiting)
			return !waiting, err
		})
	})
	if err != nil {
		return fmt.Errorf("promote the standby: %w", err)
	}
	return nil
}
