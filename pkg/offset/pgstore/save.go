package pgstore

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/outbox-cdc/outbox-cdc/pkg/offset"
)

// A row is written only on the stream's own system and timeline: after a
// failover this connection may already lead to the new primary while the stream
// is still on the old one, or the other way round. pg_control_checkpoint() lags
// behind a promotion; the name of the WAL file does not.
//
// Within a timeline neither position is lowered. On a later one they mean other
// WAL, and are taken as they are; a row of a later timeline, of another system
// or of another database stays.
//
// What the server knows of the slot is taken only while it is our walsender
// that uses it: then the slot is ours.
const saveValues = `
SELECT $1::text, $2::text, $3::bigint, $4::text, $5::text::pg_lsn, $6::text::pg_lsn, own.restart_lsn, own.total_txns,
       nullif($10::text, '0/0')::pg_lsn, nullif($11::text, '0/0')::pg_lsn, nullif($7::text, '')::pg_snapshot, $8::text, clock_timestamp()
  FROM pg_control_system() AS control
  LEFT JOIN LATERAL (SELECT r.restart_lsn, t.total_txns
               FROM pg_replication_slots r LEFT JOIN pg_stat_replication_slots t ON t.slot_name = r.slot_name
              WHERE r.slot_name = $1::text AND r.active_pid = $9::bigint) AS own ON true
 WHERE control.system_identifier::text = $2::text
   AND substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) = lpad(upper(to_hex($3::bigint)), 8, '0')
   AND current_database() = $4::text
ON CONFLICT (slot) DO UPDATE SET
  timeline = excluded.timeline,
  confirmed_lsn = CASE WHEN c.timeline = excluded.timeline THEN greatest(c.confirmed_lsn, excluded.confirmed_lsn) ELSE excluded.confirmed_lsn END,
  ceiling_lsn = CASE WHEN c.timeline = excluded.timeline THEN greatest(c.ceiling_lsn, excluded.ceiling_lsn) ELSE excluded.ceiling_lsn END,
  restart_lsn = CASE WHEN c.timeline = excluded.timeline THEN coalesce(excluded.restart_lsn, c.restart_lsn) ELSE excluded.restart_lsn END,
  decoded_txns = CASE WHEN c.timeline = excluded.timeline THEN coalesce(excluded.decoded_txns, c.decoded_txns) ELSE excluded.decoded_txns END,
  gap_from = CASE WHEN c.timeline = excluded.timeline THEN coalesce(excluded.gap_from, c.gap_from) ELSE excluded.gap_from END,
  gap_to = CASE WHEN c.timeline = excluded.timeline THEN coalesce(excluded.gap_to, c.gap_to) ELSE excluded.gap_to END,
  snapshot = coalesce(excluded.snapshot, c.snapshot), phase = excluded.phase, updated_at = excluded.updated_at
WHERE c.system_id = excluded.system_id AND c.database = excluded.database AND c.timeline <= excluded.timeline
RETURNING ` + version

// Save writes the slot's checkpoint where that is right, and tells whether it
// did. It is not, and no error, on another system, on another timeline than
// cp.Timeline, in another database, on a server that takes no writes, and over a
// row of those. The positions of one timeline never go back.
//
// Of cp it takes Slot, SystemID, Timeline, Database, Confirmed, Ceiling and
// Phase ("" is offset.PhaseStream), and Gap unless it is zero: then the one of the
// same timeline stays. Restart and Decoded are read from the
// server while walsender, the process id of the replication connection, uses
// the slot; with 0 they stay as they are. Snapshot is the store's own: one that
// was taken when the log's end was at or below Confirmed. UpdatedAt is the
// server's clock.
func (s *Store) Save(ctx context.Context, cp offset.Checkpoint, walsender uint32) (saved bool, err error) {
	if cp.Phase == "" {
		cp.Phase = offset.PhaseStream
	}
	sql := "INSERT INTO " + s.cfg.Table.String() + " AS c (slot, system_id, timeline, database, confirmed_lsn, ceiling_lsn, " +
		"restart_lsn, decoded_txns, gap_from, gap_to, snapshot, phase, updated_at)" + saveValues
	err = s.do(ctx, "save the checkpoint of slot "+cp.Slot, s.cfg.StatementTimeout, func(ctx context.Context, tx pgx.Tx) error {
		snapshot := ""
		if s.later.below(cp.Confirmed) {
			snapshot = s.later.snapshot
		}
		err := tx.QueryRow(ctx, sql, pgx.QueryExecModeExec, cp.Slot, cp.SystemID, int64(cp.Timeline), cp.Database,
			cp.Confirmed.String(), cp.Ceiling.String(), snapshot, cp.Phase, int64(walsender), cp.Gap.From.String(), cp.Gap.To.String()).Scan(&s.written)
		if saved = err == nil; errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if saved && (snapshot != "" || s.later.end == 0) {
			s.later, err = takeWatermark(ctx, tx)
		}
		return err
	})
	if isStandby(err) {
		return false, nil
	}
	return saved && err == nil, err
}
