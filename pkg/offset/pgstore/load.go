package pgstore

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset"
)

// Load reads the slot's checkpoint; nil, without an error, where there is none.
// A table that is missing or denied is a *TableError: that is not the same as
// having no checkpoint.
func (s *Store) Load(ctx context.Context, slot string) (*offset.Checkpoint, error) {
	var cp *offset.Checkpoint
	err := s.do(ctx, "load the checkpoint of slot "+slot, s.cfg.StatementTimeout, func(ctx context.Context, tx pgx.Tx) error {
		row := tx.QueryRow(ctx, `SELECT system_id, timeline, database, confirmed_lsn::text, ceiling_lsn::text, coalesce(restart_lsn, '0/0')::text,
			coalesce(decoded_txns, 0), coalesce(snapshot::text, ''), phase, extract(epoch FROM updated_at)::float8,
			coalesce(gap_from, '0/0')::text, coalesce(gap_to, '0/0')::text
			FROM `+s.cfg.Table.String()+` WHERE slot = $1::text`, pgx.QueryExecModeExec, slot)
		c := offset.Checkpoint{Slot: slot}
		var timeline int64
		var confirmed, ceiling, restart, gapFrom, gapTo string
		var updated float64
		err := row.Scan(&c.SystemID, &timeline, &c.Database, &confirmed, &ceiling, &restart, &c.Decoded, &c.Snapshot, &c.Phase, &updated, &gapFrom, &gapTo)
		if errors.Is(err, pgx.ErrNoRows) {
			cp = nil
			return nil
		}
		if err != nil {
			return err
		}
		if timeline < 1 || timeline > math.MaxInt32 {
			timeline = math.MaxInt32 // above that of every server: it fits none
		}
		c.Timeline = int32(timeline)
		c.UpdatedAt = time.UnixMicro(int64(updated * 1e6)).UTC()
		cp = &c
		return parseLSNs(map[*decoder.LSN]string{
			&c.Confirmed: confirmed, &c.Ceiling: ceiling, &c.Restart: restart, &c.Gap.From: gapFrom, &c.Gap.To: gapTo,
		})
	})
	if err != nil {
		return nil, err
	}
	return cp, nil
}

func parseLSNs(texts map[*decoder.LSN]string) error {
	var errs []error
	for to, text := range texts {
		var err error
		if *to, err = decoder.ParseLSN(text); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
