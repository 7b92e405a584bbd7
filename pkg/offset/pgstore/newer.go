package pgstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset"
)

// newerQuery looks for a row whose transaction may be none of those that the
// snapshot saw: its 64-bit id is at or above the snapshot's xmin. A row's xmin
// has the lower 32 bits; it is never at or above the next id, so the upper ones
// follow. This finds some rows too many, such as old ones whose id is in use
// again after a wraparound, and none too few: a subtransaction's id is above
// its parent's, and freezing a row keeps its xmin. Then it looks for one that is
// surely older.
const newerQuery = `
WITH n AS MATERIALIZED (SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS next)
SELECT EXISTS (SELECT FROM %[1]s AS t, n WHERE n.next - ((n.next - t.xmin::text::bigint) & 4294967295) >= %[2]d),
       EXISTS (SELECT FROM %[1]s AS t, n WHERE n.next - ((n.next - t.xmin::text::bigint) & 4294967295) < %[2]d)`

// tablePatience is how many statement timeouts one outbox table may take: it is
// read whole.
const tablePatience = 4

// NewerRows tells whether any of the tables, as they are named in the catalog,
// holds a row that may be newer than the snapshot of a checkpoint. Unknown,
// without an error, is the answer without a snapshot, without SELECT on all of
// the tables, under row-level security, and where reading takes too long.
//
// It can't see rows that were inserted after the snapshot and deleted since. But
// where the oldest are deleted first, as a retention job does, an older row that
// is still there says that no newer one is gone. So that there is none counts
// only if each of the tables has such a row.
func (s *Store) NewerRows(ctx context.Context, tables []decoder.TableName, snapshot string) (offset.NewerRows, error) {
	if snapshot == "" || len(tables) == 0 {
		return offset.NewerUnknown, nil
	}
	xmin, err := snapshotXmin(snapshot)
	if err != nil {
		return offset.NewerUnknown, err
	}
	answer := offset.NewerNone
	for _, table := range tables {
		some, older := false, false
		err := s.do(ctx, "look for newer rows in "+table.String(), tablePatience*s.cfg.StatementTimeout, func(ctx context.Context, tx pgx.Tx) error {
			return tx.QueryRow(ctx, fmt.Sprintf(newerQuery, table, xmin), pgx.QueryExecModeExec).Scan(&some, &older)
		})
		var server *pgconn.PgError
		var denied *TableError
		switch {
		case errors.As(err, &server), errors.As(err, &denied):
			answer = offset.NewerUnknown
		case err != nil:
			return offset.NewerUnknown, err
		case some:
			return offset.NewerSome, nil
		case !older && answer == offset.NewerNone:
			answer = offset.NewerEmptied
		}
	}
	return answer, nil
}

// snapshotXmin is the first number of "xmin:xmax:ids".
func snapshotXmin(snapshot string) (int64, error) {
	text, _, _ := strings.Cut(snapshot, ":")
	xmin, err := strconv.ParseInt(text, 10, 64)
	if err != nil || xmin < 1 {
		return 0, fmt.Errorf("snapshot %.128q of the checkpoint: not a pg_snapshot", snapshot)
	}
	return xmin, nil
}
