package pgstore

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// watermark is a snapshot and a position of the log that was read after it was
// taken: what is visible in the snapshot committed below the position. Once
// everything up to there is confirmed, the snapshot says which rows are
// delivered. The zero watermark is none.
type watermark struct {
	snapshot string
	end      decoder.LSN
}

func (w watermark) below(confirmed decoder.LSN) bool { return w.end > 0 && w.end <= confirmed }

// takeWatermark reads the insert position: a commit that a snapshot sees may
// not be written or flushed yet. The snapshot is the statement's own, which is
// taken before anything in it runs.
func takeWatermark(ctx context.Context, tx pgx.Tx) (watermark, error) {
	var w watermark
	var end string
	err := tx.QueryRow(ctx, "SELECT pg_current_snapshot()::text, pg_current_wal_insert_lsn()::text", pgx.QueryExecModeExec).Scan(&w.snapshot, &end)
	if err != nil {
		return watermark{}, fmt.Errorf("take a snapshot: %w", err)
	}
	w.end, err = decoder.ParseLSN(end)
	return w, err
}
