package catalog

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// UncoveredRows names the finding about rows from before the slot.
const UncoveredRows = "slot.uncovered_rows"

// countLimit bounds how many rows are counted; above it the planner's estimate
// does.
const countLimit = 100_000

// countTimeout bounds the count of one table.
const countTimeout = "5s"

// judgeUncovered says how many rows lie in the tables that the slot will never
// send: those from before the slot. Rows from before what the slot still covers
// were delivered, if it was ever read; whether it was, only the statistics of
// the slot hint at.
func judgeUncovered(ctx context.Context, conn *pgx.Conn, fs *findings, found []candidate, slot *Slot) error {
	for _, c := range found {
		if c.table == nil {
			continue
		}
		subject := c.rel.TableName().String()
		if !c.rel.canSelect || c.rel.rowSecurity {
			fs.add(UncoveredRows, Skip, subject, "", "needs SELECT on the table, without row-level security, to count rows from before the slot")
			continue
		}
		n, exact, err := countBefore(ctx, conn, c.rel, slot)
		var pgErr *pgconn.PgError
		switch {
		case errors.As(err, &pgErr):
			fs.add(UncoveredRows, Skip, subject, "", "rows from before the slot could not be counted (SQLSTATE %s)", pgErr.Code)
			continue
		case err != nil:
			return fmt.Errorf("count rows of %s: %w", subject, err)
		}
		many := strconv.FormatInt(n, 10)
		if !exact {
			many = "about " + many
		}
		switch {
		case n == 0:
			fs.ok(UncoveredRows, subject, "no rows from before what the slot covers")
		case slot != nil && slot.Transactions != 0:
			fs.ok(UncoveredRows, subject, "%s rows are from before the slot or were delivered; they do not arrive again", many)
		default:
			fs.add(UncoveredRows, Warn, subject, "deliver them by other means (such as the relay that was used so far) if nobody has, or delete them",
				"%s rows are from before the slot: they never arrive by themselves", many)
		}
	}
	return nil
}

// countBefore counts rows that are older than what the slot sends; all of them
// when there is no slot. It is exact up to countLimit; with a slot it may miss
// rows of transactions that ended while older ones ran, which catalog_xmin
// can't tell from later ones.
func countBefore(ctx context.Context, conn *pgx.Conn, r *relation, slot *Slot) (n int64, exact bool, err error) {
	if r.estimate > countLimit && !r.partitioned() {
		return int64(r.estimate), false, nil
	}
	where := ""
	if slot != nil && slot.CatalogXmin != 0 {
		where = fmt.Sprintf(" WHERE age(t.xmin) > age('%d'::xid)", slot.CatalogXmin)
	}
	query := fmt.Sprintf("SELECT count(*) FROM (SELECT FROM %s t%s LIMIT %d) AS counted", r.TableName(), where, countLimit+1)
	err = pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = '"+countTimeout+"'"); err != nil {
			return err
		}
		return tx.QueryRow(ctx, query).Scan(&n)
	})
	return min(n, countLimit), n <= countLimit, err
}
