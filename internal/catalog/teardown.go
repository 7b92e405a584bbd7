package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset/pgstore"
)

// ErrInUse says that somebody streams from the slot that is to go.
var ErrInUse = errors.New("the slot is in use")

// Teardown lists what undoes a set-up: the slot, its row in the checkpoint
// table, and table and publication where setup made them and nobody else uses
// them. What is not ours is not in it. It is an error while the slot is in use.
func (s *Setup) Teardown(ctx context.Context, conn *pgx.Conn) ([]Step, error) {
	server, err := readServer(ctx, conn)
	if err != nil {
		return nil, err
	}
	slot, err := ReadSlot(ctx, conn, s.Slot)
	if err != nil {
		return nil, err
	}
	var steps []Step
	switch {
	case slot == nil:
	case slot.Active:
		return nil, fmt.Errorf("%w: server process %d streams from %s; stop that instance first", ErrInUse, slot.ActivePID, s.Slot)
	case !slot.Logical || slot.Plugin != Plugin:
		return nil, fmt.Errorf("slot %s is not one of plugin %s: it is somebody else's; set OUTBOX_CDC_SLOT", s.Slot, Plugin)
	case slot.Database != server.Database:
		return nil, fmt.Errorf("slot %s belongs to database %q, and the connection is to %q: connect to that one, or set OUTBOX_CDC_SLOT",
			s.Slot, clip(slot.Database), clip(server.Database))
	default:
		steps = append(steps, Step{
			SQL: "SELECT pg_drop_replication_slot(" + literal(s.Slot) + ");",
			Why: fmt.Sprintf("drop replication slot %s, which stands at %s; what was written since will not be delivered", identifier(s.Slot), slot.ConfirmedFlush),
		})
	}
	keep, err := s.checkpointTeardown(ctx, conn)
	if err != nil {
		return nil, err
	}
	steps = append(steps, keep...)
	ours, err := s.madePublication(ctx, conn, server)
	if err != nil {
		return nil, err
	}
	if ours {
		steps = append(steps, Step{
			SQL: "DROP PUBLICATION " + identifier(s.Publication) + ";",
			Why: "drop publication " + identifier(s.Publication) + ", which setup made",
		})
	}
	return steps, nil
}

// madePublication tells whether the publication is as setup made it: with its
// comment, and with nothing but inserts on exactly the configured tables.
func (s *Setup) madePublication(ctx context.Context, conn *pgx.Conn, server Server) (bool, error) {
	pub, err := readPublication(ctx, conn, s.Publication, server)
	if err != nil || pub == nil {
		return false, err
	}
	var comment string
	err = conn.QueryRow(ctx, "SELECT coalesce(obj_description(oid, 'pg_publication'), '') FROM pg_publication WHERE pubname = $1", s.Publication).Scan(&comment)
	if err != nil {
		return false, wrap("publication "+s.Publication, err)
	}
	names := s.Tables.Names()
	for key := range pub.tables {
		if !slices.ContainsFunc(names, func(n decoder.TableName) bool { _, ok := n.Matches(key.schema, key.name); return ok }) {
			return false, nil
		}
	}
	return comment == pgstore.Comment && len(pub.tables) == len(names) && pub.insert && !pub.update && !pub.delete && !pub.truncate, nil
}

// dropEmptySQL drops a table unless somebody put another row into it meanwhile.
func dropEmptySQL(table, slot string) string {
	return "DO $teardown$ BEGIN LOCK TABLE " + table + " IN ACCESS EXCLUSIVE MODE; DELETE FROM " + table + " WHERE slot = " + literal(slot) +
		"; IF NOT EXISTS (SELECT FROM " + table + ") THEN DROP TABLE " + table + "; END IF; END $teardown$;"
}

// checkpointTeardown removes the slot's row, and the table when it was made by
// setup and has no other row.
func (s *Setup) checkpointTeardown(ctx context.Context, conn *pgx.Conn) ([]Step, error) {
	if s.Checkpoint == nil {
		return nil, nil
	}
	t := *s.Checkpoint
	c, err := readCheckpoint(ctx, conn, t, "public")
	if err != nil || !c.table {
		return nil, err
	}
	var row, others, ours bool
	err = conn.QueryRow(ctx, "SELECT coalesce(bool_or(slot = $1), false), coalesce(bool_or(slot <> $1), false), "+
		"coalesce(obj_description($2::text::regclass, 'pg_class') = $3, false) FROM "+t.String(),
		s.Slot, t.String(), pgstore.Comment).Scan(&row, &others, &ours)
	if err != nil {
		return nil, wrap("checkpoint table "+t.String(), err)
	}
	switch {
	case ours && !others:
		return []Step{{SQL: dropEmptySQL(t.String(), s.Slot), Why: "drop checkpoint table " + t.String() + ", which no other slot uses"}}, nil
	case row:
		return []Step{{SQL: "DELETE FROM " + t.String() + " WHERE slot = " + literal(s.Slot) + ";", Why: "forget the checkpoint of slot " + identifier(s.Slot)}}, nil
	}
	return nil, nil
}
