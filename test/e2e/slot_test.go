package e2e

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// slotRow is what the server says of the slot.
type slotRow struct {
	confirmed decoder.LSN
	pid       int // 0: inactive
}

const slotQuery = `SELECT confirmed_flush_lsn::text, coalesce(active_pid, 0)
	FROM pg_replication_slots WHERE slot_name = $1`

func readSlot(ctx context.Context, conn *pgx.Conn, name string) (slotRow, error) {
	var s slotRow
	var confirmed string
	if err := conn.QueryRow(ctx, slotQuery, name).Scan(&confirmed, &s.pid); err != nil {
		return s, err
	}
	var err error
	s.confirmed, err = decoder.ParseLSN(confirmed)
	return s, err
}

// slotNow reads the slot in a session of its own.
func (r *rig) slotNow() slotRow {
	r.tb.Helper()
	conn := r.db.Conn(r.tb)
	s, err := readSlot(r.tb.Context(), conn, r.slot)
	if err != nil {
		r.tb.Fatal(err)
	}
	_ = conn.Close(r.tb.Context())
	return s
}

// inactive waits until no process uses the slot: what a dead connector had sent
// has been read by then. It returns what the slot stands at.
func (r *rig) inactive() decoder.LSN {
	r.tb.Helper()
	var s slotRow
	eventually(r.tb, patience, "the slot is inactive", func(context.Context) (bool, any) {
		s = r.slotNow()
		return s.pid == 0, s
	})
	return s.confirmed
}

// taken is what a successor finds: the slot as it stands once its former user is
// gone, or as it stood, if the successor was quicker than the look.
func (r *rig) taken() death {
	r.tb.Helper()
	return death{stood: r.slotNow().confirmed, ends: r.ends(r.topic)}
}

// now is the end of the server's WAL.
func now(ctx context.Context, db *pgtest.DB) (decoder.LSN, error) {
	text, err := query[string](ctx, db, "SELECT pg_current_wal_insert_lsn()::text")
	if err != nil {
		return 0, err
	}
	return decoder.ParseLSN(text)
}

// end is the end of the server's WAL.
func (r *rig) end() decoder.LSN {
	r.tb.Helper()
	lsn, err := now(r.tb.Context(), r.db)
	if err != nil {
		r.tb.Fatal(err)
	}
	return lsn
}

// settle waits until the slot has passed all that was written until now.
func (r *rig) settle() {
	r.tb.Helper()
	end := r.end()
	eventually(r.tb, patience, fmt.Sprintf("the slot passes %v", end), func(context.Context) (bool, any) {
		s := r.slotNow()
		return s.confirmed >= end, s.confirmed
	})
}

// awaitDelivered waits until the connector itself says that all that was
// written until now is stored, whether or not it has told the server.
func (r *rig) awaitDelivered(c *connector) {
	r.tb.Helper()
	end := r.end()
	eventually(r.tb, patience, fmt.Sprintf("the connector is at %v", end), func(context.Context) (bool, any) {
		said, err := decoder.ParseLSN(c.status().Slot.Confirmed)
		return err == nil && said >= end, said
	})
}
