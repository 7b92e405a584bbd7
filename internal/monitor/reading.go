package monitor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/outbox-cdc/outbox-cdc/internal/catalog"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// Reading is what one look at the server has shown. It does not change.
type Reading struct {
	// At is when the answer was there, by our clock.
	At time.Time
	// Slot is nil when there is no slot of the name.
	Slot *catalog.Slot
	// Insert is the server's WAL insert position.
	Insert decoder.LSN
	// SafeWAL is how many bytes of WAL may be written before the slot is in
	// danger (safe_wal_size); -1 where the server sets no limit.
	SafeWAL int64
	// Limit is max_slot_wal_keep_size in bytes; -1 for none.
	Limit int64
}

// Lag is the WAL that was written and is not confirmed, in bytes.
func (r *Reading) Lag() int64 {
	if r.Slot == nil || r.Slot.ConfirmedFlush == 0 {
		return 0
	}
	return distance(r.Slot.ConfirmedFlush, r.Insert)
}

// Retained is the WAL that the server keeps for the slot, in bytes. It is more
// than Lag: decoding begins where the oldest transaction began that was open at
// the confirmed position. A lost slot keeps nothing.
func (r *Reading) Retained() int64 {
	if r.Slot == nil || r.Slot.Restart == 0 || r.Slot.Lost() {
		return 0
	}
	return distance(r.Slot.Restart, r.Insert)
}

// distance is how far to lies above from; 0 where it does not.
func distance(from, to decoder.LSN) int64 {
	if to <= from {
		return 0
	}
	return int64(to - from) //nolint:gosec // G115: no WAL is that long
}

// WALStatus is the slot's wal_status, with "gone" for a slot that is not there,
// and "lost" for every kind of loss.
func (r *Reading) WALStatus() string {
	switch {
	case r.Slot == nil:
		return "gone"
	case r.Slot.Lost():
		return "lost"
	}
	return r.Slot.WALStatus
}

// WALStatuses lists what WALStatus can say.
func WALStatuses() []string { return []string{"reserved", "extended", "unreserved", "lost", "gone"} }

var errStandby = errors.New("the server is a standby: its slots say nothing about the primary; connect to the primary")

// positionQuery asks for what the slot's row is held against. A setting in MB
// is -1 for no limit.
const positionQuery = `
SELECT pg_is_in_recovery(),
       CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_insert_lsn() END::text,
       coalesce((SELECT s.safe_wal_size FROM pg_replication_slots s WHERE s.slot_name = $1), -1),
       coalesce((SELECT CASE WHEN p.setting::int8 < 0 THEN -1 ELSE p.setting::int8 << 20 END
                   FROM pg_settings p WHERE p.name = 'max_slot_wal_keep_size'), -1)`

// Read looks once. The slot is read first: its positions never lie above the
// insert position that is read after it.
func Read(ctx context.Context, conn *pgx.Conn, slot string) (*Reading, error) {
	var r Reading
	var err error
	if r.Slot, err = catalog.ReadSlot(ctx, conn, slot); err != nil {
		return nil, err
	}
	var standby bool
	var insert string
	err = conn.QueryRow(ctx, positionQuery, slot).Scan(&standby, &insert, &r.SafeWAL, &r.Limit)
	if err == nil {
		r.Insert, err = decoder.ParseLSN(insert)
	}
	if err != nil {
		return nil, fmt.Errorf("read the server's position: %w", err)
	}
	if standby {
		return nil, errStandby
	}
	r.At = time.Now()
	return &r, nil
}
