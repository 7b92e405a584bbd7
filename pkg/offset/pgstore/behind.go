package pgstore

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// behindQuery compares what tells our slot from one that was made again: see
// offset.Judge.
const behindQuery = `
SELECT EXISTS (
  SELECT FROM %s AS c
    JOIN pg_replication_slots r ON r.slot_name = c.slot
    LEFT JOIN pg_stat_replication_slots t ON t.slot_name = c.slot
   WHERE c.slot = $1::text AND r.active_pid = $2::bigint
     AND (r.restart_lsn > greatest(c.restart_lsn, c.confirmed_lsn) OR coalesce(c.decoded_txns, 0) = 0 AND t.total_txns > 0))`

// Behind tells whether the server knows more of the slot than its checkpoint
// does, so that another Save is worth its while: a later restart_lsn, or that it
// has decoded transactions at all. It does not where walsender, the process id of
// the replication connection, does not use the slot, or where there is no
// checkpoint. It writes nothing.
func (s *Store) Behind(ctx context.Context, slot string, walsender uint32) (behind bool, err error) {
	err = s.do(ctx, "compare the checkpoint of slot "+slot, s.cfg.StatementTimeout, func(ctx context.Context, tx pgx.Tx) error {
		return tx.QueryRow(ctx, fmt.Sprintf(behindQuery, s.cfg.Table), pgx.QueryExecModeExec, slot, int64(walsender)).Scan(&behind)
	})
	return behind, err
}
