package pgrepl

import (
	"context"
	"fmt"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// Slot is what this very connection's server says of the slot. Another
// connection may lead to another server, whose positions mean nothing here.
type Slot struct {
	Confirmed, Restart decoder.LSN
	// Active: another process streams from it.
	Active bool
}

// ReadSlot reads the slot's row; nil, without an error, when there is none. It
// is called before Start.
func (s *Session) ReadSlot(ctx context.Context) (*Slot, error) {
	res, err := s.conn.Exec(ctx, "SELECT coalesce(confirmed_flush_lsn, '0/0'), coalesce(restart_lsn, '0/0'), active"+
		" FROM pg_catalog.pg_replication_slots WHERE slot_name = "+quoteLiteral(s.cfg.Slot)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read slot %q: %w", s.cfg.Slot, err)
	}
	if len(res) != 1 || len(res[0].Rows) == 0 {
		return nil, nil //nolint:nilnil // both nil is the answer "no such slot"
	}
	row := res[0].Rows[0]
	slot := &Slot{Active: string(row[2]) == "t"}
	if slot.Confirmed, err = decoder.ParseLSN(string(row[0])); err == nil {
		slot.Restart, err = decoder.ParseLSN(string(row[1]))
	}
	if err != nil {
		return nil, fmt.Errorf("read slot %q: %w", s.cfg.Slot, err)
	}
	return slot, nil
}
