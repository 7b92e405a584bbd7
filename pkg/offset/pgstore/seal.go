package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// Seal lowers the ceiling of the slot's checkpoint to at, the highest position
// that was ever reported for it, once nothing more can be reported: whoever then
// finds the slot above it knows that somebody else has moved it. It changes
// nothing where the row is not as the last Save of this Store has left it: then
// another instance streams, or has streamed.
func (s *Store) Seal(ctx context.Context, slot string, at decoder.LSN) error {
	return s.do(ctx, "seal the checkpoint of slot "+slot, s.cfg.StatementTimeout, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "UPDATE "+s.cfg.Table.String()+` SET ceiling_lsn = $2::text::pg_lsn
			WHERE slot = $1::text AND ceiling_lsn > $2::text::pg_lsn AND confirmed_lsn <= $2::text::pg_lsn AND `+version+` = $3::bigint`,
			pgx.QueryExecModeExec, slot, at.String(), s.written)
		return err
	})
}

// version tells one write of a row from another.
const version = "(extract(epoch FROM updated_at) * 1000000)::bigint"
