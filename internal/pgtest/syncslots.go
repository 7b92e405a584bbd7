package pgtest

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/outbox-cdc/outbox-cdc/internal/testserver"
)

// failoverMajor is the first PostgreSQL that keeps logical slots over a
// failover.
const failoverMajor = 17

// SyncSlots copies the positions of failover slots to the standby until each of
// the named ones is there to stay (synced and not temporary) and stands no
// lower than on the primary when SyncSlots was called.
//
// A slot that nobody has read since the standby was made lies behind what the
// standby still has and is dropped again in each round: somebody has to confirm
// positions meanwhile, for the first synchronisation of a slot at least. It
// needs PostgreSQL 17.
func (p *Pair) SyncSlots(ctx context.Context, slots ...string) error {
	if p.Primary.major < failoverMajor {
		return fmt.Errorf("synchronise slots: PostgreSQL %d has no failover slots; use %d or later", p.Primary.major, failoverMajor)
	}
	var last error // the standby's last refusal
	err := p.Primary.admin(ctx, func(primary *pgx.Conn) error {
		goals, err := failoverSlots(ctx, primary, slots)
		if err != nil {
			return err
		}
		return p.Standby.admin(ctx, func(standby *pgx.Conn) error {
			return testserver.Poll(ctx, func() (bool, error) {
				done, refusal, err := syncRound(ctx, primary, standby, goals)
				if refusal != nil {
					last = refusal
				}
				return done, err
			})
		})
	})
	if err != nil {
		return fmt.Errorf("synchronise slots %q: %w", slots, errors.Join(err, last))
	}
	return nil
}

// failoverSlots returns where the primary's slots stand.
func failoverSlots(ctx context.Context, primary *pgx.Conn, slots []string) (map[string]string, error) {
	goals := make(map[string]string, len(slots))
	for _, slot := range slots {
		var confirmed string
		err := primary.QueryRow(ctx, `SELECT confirmed_flush_lsn::text FROM pg_replication_slots
			WHERE slot_name = $1 AND failover AND confirmed_flush_lsn IS NOT NULL`, slot).Scan(&confirmed)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil, fmt.Errorf("the primary has no logical slot %q with failover", slot)
		}
		if err != nil {
			return nil, err
		}
		goals[slot] = confirmed
	}
	return goals, nil
}

// syncRound synchronises once. The standby can build a slot only from a
// snapshot of running transactions in the WAL, so the primary writes one. The
// refusal is the standby's: that of a slot which has moved beyond what it has
// received passes.
func syncRound(ctx context.Context, primary, standby *pgx.Conn, goals map[string]string) (done bool, refusal, err error) {
	if _, err := primary.Exec(ctx, "SELECT pg_log_standby_snapshot()"); err != nil {
		return false, nil, err
	}
	// It is flushed only by and by; a message can be flushed at once.
	var flushed string
	if err := primary.QueryRow(ctx, "SELECT pg_logical_emit_message(false, 'pgtest', '', true)::text").Scan(&flushed); err != nil {
		return false, nil, err
	}
	if err := replayed(ctx, standby, flushed); err != nil {
		return false, nil, err
	}
	if _, err := standby.Exec(ctx, "SELECT pg_sync_replication_slots()"); err != nil {
		if _, ok := errors.AsType[*pgconn.PgError](err); ok && ctx.Err() == nil {
			return false, err, nil
		}
		return false, nil, err
	}
	for slot, confirmed := range goals {
		err := standby.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = $1
			AND synced AND NOT temporary AND confirmed_flush_lsn >= $2::text::pg_lsn)`, slot, confirmed).Scan(&done)
		if err != nil || !done {
			return false, nil, err
		}
	}
	return true, nil, nil
}
