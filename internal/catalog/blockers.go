package catalog

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Any transaction with an id, in any database, holds up the creation of a slot.
// Each holds a lock on its id, and pg_locks shows locks to everybody, while
// pg_stat_activity hides other roles' transactions.
const blockersQuery = `
SELECT coalesce('pid ' || l.pid || coalesce(' (' || nullif(a.application_name, '') || ')', ''), 'prepared transaction ' || quote_literal(p.gid), 'a prepared transaction')
  FROM pg_locks l
  LEFT JOIN pg_stat_activity a ON a.pid = l.pid
  LEFT JOIN pg_prepared_xacts p ON p.transaction = l.transactionid
 WHERE l.locktype = 'transactionid' AND l.granted AND l.mode = 'ExclusiveLock' AND l.pid IS DISTINCT FROM pg_backend_pid()
 ORDER BY a.xact_start, l.pid LIMIT 10`

// Blockers names the sessions and prepared transactions that hold up a slot,
// and how to end them.
func Blockers(ctx context.Context, conn *pgx.Conn) string {
	rows, err := conn.Query(ctx, blockersQuery)
	if err != nil {
		return "who they are could not be read"
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	switch {
	case err != nil:
		return "who they are could not be read"
	case len(names) == 0:
		return "they have ended since; try again"
	}
	for i := range names {
		names[i] = clip(names[i])
	}
	return strings.Join(names, ", ") + "; wait for them, or end them with SELECT pg_terminate_backend(pid); or ROLLBACK PREPARED"
}
