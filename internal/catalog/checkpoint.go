package catalog

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset/pgstore"
)

// checkpoint is what there is of the checkpoint table.
type checkpoint struct {
	schema, table bool
	// usage and writes are what the role may do.
	usage, writes bool
}

const checkpointQuery = `
SELECT n.oid IS NOT NULL, c.oid IS NOT NULL,
       coalesce(has_schema_privilege($3, n.oid, 'USAGE'), false),
       coalesce(has_table_privilege($3, c.oid, 'SELECT') AND has_table_privilege($3, c.oid, 'INSERT')
                AND has_table_privilege($3, c.oid, 'UPDATE'), false)
  FROM (SELECT 1) one
  LEFT JOIN pg_namespace n ON n.nspname = $1
  LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = $2 AND c.relkind IN ('r', 'p')`

// readCheckpoint looks at the table with the eyes of a role.
func readCheckpoint(ctx context.Context, conn *pgx.Conn, t decoder.TableName, role string) (checkpoint, error) {
	var c checkpoint
	err := conn.QueryRow(ctx, checkpointQuery, t.Schema, t.Name, role).Scan(&c.schema, &c.table, &c.usage, &c.writes)
	if errors.Is(err, pgx.ErrNoRows) {
		return c, nil
	}
	return c, wrap("checkpoint table "+t.String(), err)
}

// judgeCheckpoint reports on the table that keeps the position beside the slot.
func judgeCheckpoint(ctx context.Context, conn *pgx.Conn, fs *findings, want Want, user string) error {
	if want.Checkpoint == nil {
		return nil
	}
	const name = "checkpoint.table"
	t := *want.Checkpoint
	c, err := readCheckpoint(ctx, conn, t, user)
	if err != nil {
		return err
	}
	switch {
	case !c.table:
		fs.add(name, Fail, t.String(), "run outbox-cdc setup, or set OUTBOX_CDC_OFFSET_STORE=slot to keep nothing beside the slot",
			"the checkpoint table does not exist")
	case !c.usage || !c.writes:
		fs.add(name, Fail, t.String(), "run "+pgstore.Grant(t, user), "the role %s may not read and write the checkpoint table", identifier(user))
	default:
		fs.ok(name, t.String(), "can be read and written")
	}
	return nil
}

// checkpointSteps make the table, as user, and let the role use it.
func (s *Setup) checkpointSteps(ctx context.Context, conn *pgx.Conn, role, user string) ([]Step, error) {
	if s.Checkpoint == nil {
		return nil, nil
	}
	t := *s.Checkpoint
	c, err := readCheckpoint(ctx, conn, t, role)
	if err != nil {
		return nil, err
	}
	var steps []Step
	if !c.schema {
		steps = append(steps, Step{SQL: pgstore.CreateSchema(t), Why: "create schema " + identifier(t.Schema)})
	}
	if !c.table {
		steps = append(steps, Step{SQL: pgstore.CreateTable(t), Why: "create checkpoint table " + t.String()})
	}
	// Who makes a table owns it.
	if owns := !c.table && role == user; !owns && (!c.usage || !c.writes) {
		steps = append(steps, Step{SQL: pgstore.Grant(t, role), Why: "let role " + identifier(role) + " keep its checkpoint"})
	}
	return steps, nil
}

// checkpointScript is all of it, for a DBA.
func (s *Setup) checkpointScript(role string) string {
	if s.Checkpoint == nil {
		return ""
	}
	t := *s.Checkpoint
	return "-- The checkpoint: the position that is kept beside the slot.\n" +
		pgstore.CreateSchema(t) + "\n" + pgstore.CreateTable(t) + "\n" + pgstore.Grant(t, role) + "\n\n"
}
