package catalog

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// Plugin is the output plugin of every slot we read.
const Plugin = "pgoutput"

// Slot is a row of pg_replication_slots.
type Slot struct {
	Name, Plugin, Database string
	Logical                bool
	Temporary, TwoPhase    bool
	Active                 bool
	// ActivePID is 0 while nobody uses the slot.
	ActivePID int
	// WALStatus is reserved, extended, unreserved or lost.
	WALStatus string
	// InvalidationReason is "" on servers before 17, and for a healthy slot.
	InvalidationReason string
	Failover           bool
	ConfirmedFlush     decoder.LSN
	Restart            decoder.LSN
	// CatalogXmin is a 32-bit transaction id; 0 for none.
	CatalogXmin uint32
	// Transactions counts what was decoded for the slot since statistics
	// were reset (pg_stat_replication_slots); -1 where that is not known.
	Transactions int64
}

// The columns that came after 14 are read through JSON, so that one query does
// for all versions.
const slotQuery = `
SELECT s.slot_name::text, coalesce(s.plugin, '')::text, coalesce(s.database, '')::text, s.slot_type = 'logical',
       s.temporary, coalesce(s.two_phase, false), s.active, coalesce(s.active_pid, 0), coalesce(s.wal_status, ''),
       coalesce(to_jsonb(s) ->> 'invalidation_reason', ''), coalesce((to_jsonb(s) ->> 'failover')::bool, false),
       s.confirmed_flush_lsn::text, s.restart_lsn::text, coalesce(s.catalog_xmin::text, '0')::int8,
       coalesce((SELECT t.total_txns FROM pg_stat_replication_slots t WHERE t.slot_name = s.slot_name), -1)
  FROM pg_replication_slots s
 WHERE s.slot_name = $1`

// ReadSlot reads the slot's row; nil, without an error, when there is none.
func ReadSlot(ctx context.Context, conn *pgx.Conn, name string) (*Slot, error) {
	s := new(Slot)
	var confirmed, restart *string
	var xmin int64
	err := conn.QueryRow(ctx, slotQuery, name).Scan(&s.Name, &s.Plugin, &s.Database, &s.Logical, &s.Temporary, &s.TwoPhase,
		&s.Active, &s.ActivePID, &s.WALStatus, &s.InvalidationReason, &s.Failover, &confirmed, &restart, &xmin, &s.Transactions)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // both nil is the answer "no such slot".
	}
	if err == nil {
		s.ConfirmedFlush, err = lsn(confirmed)
	}
	if err == nil {
		s.Restart, err = lsn(restart)
	}
	s.CatalogXmin = uint32(xmin) //nolint:gosec // a transaction id has 32 bits
	return s, wrap("replication slot "+name, err)
}

// Lost tells whether the server has let go of WAL that the slot needed.
func (s *Slot) Lost() bool { return s.WALStatus == "lost" || s.InvalidationReason != "" }

// judgeSlot reports every fault of the slot, not only the first.
func judgeSlot(fs *findings, s *Slot, server Server, want Want) {
	if s == nil {
		fs.add("slot.exists", Fail, want.Slot, "run outbox-cdc setup, or "+createSlotSQL(want.Slot, want.Failover.makes(server)), "the replication slot does not exist")
		return
	}
	fs.ok("slot.exists", s.Name, "the replication slot exists")
	if !s.Logical || s.Plugin != Plugin {
		fs.add("slot.plugin", Fail, s.Name, "set OUTBOX_CDC_SLOT to another name; this slot is somebody else's",
			"is not a logical slot of plugin pgoutput (plugin %q)", clip(s.Plugin))
	} else {
		fs.ok("slot.plugin", s.Name, "logical, plugin pgoutput")
	}
	if s.Logical && s.Database != server.Database {
		fs.add("slot.database", Fail, s.Name, "connect to that database, or set OUTBOX_CDC_SLOT to another name",
			"belongs to database %q, and the connection is to %q", clip(s.Database), clip(server.Database))
	} else {
		fs.ok("slot.database", s.Name, "belongs to database %q", clip(s.Database))
	}
	if s.Temporary {
		fs.add("slot.temporary", Fail, s.Name, "set OUTBOX_CDC_SLOT to a permanent slot; outbox-cdc setup makes one",
			"is temporary: it goes with its session, and every event after that with it")
	}
	if s.TwoPhase {
		fs.add("slot.two_phase", Fail, s.Name, "set OUTBOX_CDC_SLOT to another name and run outbox-cdc setup, or make this one again without it: SELECT pg_drop_replication_slot("+literal(s.Name)+"); outbox-cdc setup",
			"has two_phase: prepared transactions would arrive before they are committed")
	}
	judgeWAL(fs, s, server)
	if s.Active {
		fs.ok("slot.active", s.Name, "is in use by pid %d; a second instance waits as its standby", s.ActivePID)
	} else {
		fs.ok("slot.active", s.Name, "is free")
	}
}

func judgeWAL(fs *findings, s *Slot, server Server) {
	recreate := fmt.Sprintf("SELECT pg_drop_replication_slot(%s); run outbox-cdc setup, and deliver from the tables the rows that were committed above %s; "+
		"where a checkpoint is kept, the hold that follows says how to go on (OUTBOX_CDC_ACCEPT_GAP)", literal(s.Name), s.ConfirmedFlush)
	switch {
	case s.Lost():
		reason := s.InvalidationReason
		if reason == "" {
			reason = "wal_removed"
		}
		fs.add("slot.wal_status", Fail, s.Name, recreate, "is lost (%s): its position was %s", clip(reason), s.ConfirmedFlush)
	case s.WALStatus == "unreserved":
		fs.add("slot.wal_status", Warn, s.Name, "start the stream now, or raise max_slot_wal_keep_size",
			"is unreserved: the next checkpoint may remove WAL that it needs")
	default:
		fs.ok("slot.wal_status", s.Name, "WAL is %s", clip(s.WALStatus))
	}
	if s.ConfirmedFlush > server.Flushed {
		fs.add("slot.position", Fail, s.Name, "the server was restored to an earlier state: SELECT pg_drop_replication_slot("+literal(s.Name)+"); run outbox-cdc setup, and deliver what is missing from the tables",
			"stands at %s, above the server's end of WAL %s: it would skip what is written next", s.ConfirmedFlush, server.Flushed)
	} else {
		fs.ok("slot.position", s.Name, "confirmed %s, server %s", s.ConfirmedFlush, server.Flushed)
	}
}
