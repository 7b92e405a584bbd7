package pgrepl

import (
	"context"
	"fmt"

	"github.com/jackc/pglogrepl"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// CreateTemporarySlot makes the session's slot, with plugin pgoutput, for as
// long as its connection lives: nothing is left behind, however that ends. It
// returns the position where the slot begins: what commits after it is sent by
// Start. The server waits for all running transactions; when ctx ends before,
// the Session is used up and the slot goes. After another error the Session is
// still to be closed.
// (Manual: Streaming Replication Protocol, CREATE_REPLICATION_SLOT.)
func (s *Session) CreateTemporarySlot(ctx context.Context) (decoder.LSN, error) {
	// The words before the parenthesised options of 15: all majors know them.
	made, err := pglogrepl.CreateReplicationSlot(ctx, s.conn, quoteIdent(s.cfg.Slot), "pgoutput",
		pglogrepl.CreateReplicationSlotOptions{Temporary: true, Mode: pglogrepl.LogicalReplication, SnapshotAction: "NOEXPORT_SNAPSHOT"})
	if err != nil {
		return 0, fmt.Errorf("create the temporary slot %q: %w", s.cfg.Slot, err)
	}
	at, err := decoder.ParseLSN(made.ConsistentPoint)
	if err != nil {
		return 0, fmt.Errorf("create the temporary slot %q: %w", s.cfg.Slot, err)
	}
	return at, nil
}
