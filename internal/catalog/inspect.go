package catalog

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// Want is what the configuration asks of the server.
type Want struct {
	// Slot and Publication are raw names.
	Slot, Publication string
	// Failover is whether the slot shall survive a failover.
	Failover Failover
	// Tables are the configured outbox tables with their columns' mapping.
	Tables *decoder.Tables
	// Checkpoint is the table that keeps the position; nil for none.
	Checkpoint *decoder.TableName
	// CountRows counts the rows that the slot does not cover, where that is
	// allowed: a scan of each table.
	CountRows bool
	// ApplicationName is the one of our walsender, to be held against
	// synchronous_standby_names; may be empty.
	ApplicationName string
}

// Report is what Inspect found.
type Report struct {
	Findings []Finding
	Server   Server
	// Slot is nil when it does not exist.
	Slot *Slot
	// Tables are the configured tables whose columns fit, in the order of the
	// configuration.
	Tables []*decoder.Table
}

// Err is nil, or an *Error with the findings that are failures.
func (r *Report) Err() error {
	var failed []Finding
	for _, f := range r.Findings {
		if f.Status == Fail {
			failed = append(failed, f)
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return &Error{Findings: failed}
}

// Inspect looks at everything that a start would refuse, and at what is worth a
// warning. It changes nothing and takes no lock that a writer would notice. The
// error is about the connection; what is wrong with the server is in the
// report. One goroutine may use the connection at a time.
func Inspect(ctx context.Context, conn *pgx.Conn, want Want) (*Report, error) {
	var fs findings
	r := &Report{}
	var err error
	if r.Server, err = readServer(ctx, conn); err != nil {
		return nil, err
	}
	judgeServer(&fs, r.Server, want)
	if r.Server.Major() < minMajor {
		// The catalog of an older server has not the columns that follow.
		r.Findings = fs
		return r, nil
	}
	if r.Slot, err = ReadSlot(ctx, conn, want.Slot); err != nil {
		return nil, err
	}
	judgeRoom(&fs, r.Server, r.Slot)
	pub, err := readPublication(ctx, conn, want.Publication, r.Server)
	if err != nil {
		return nil, err
	}
	judgePublication(&fs, pub, want)
	rels, err := readRelations(ctx, conn, want.Tables.Names(), pub, r.Server)
	if err != nil {
		return nil, err
	}
	found := judgeTables(&fs, rels, pub, want)
	for _, t := range found {
		if t.table != nil {
			r.Tables = append(r.Tables, t.table)
		}
	}
	judgeSlot(&fs, r.Slot, r.Server, want)
	judgeFailover(&fs, r.Slot, r.Server, want)
	if err := judgeCheckpoint(ctx, conn, &fs, want, r.Server.User); err != nil {
		return nil, err
	}
	if want.CountRows {
		if err := judgeUncovered(ctx, conn, &fs, found, r.Slot); err != nil {
			return nil, err
		}
	}
	r.Findings = fs
	return r, nil
}

// wrap adds the operation to a query's error.
func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("read %s: %w", what, err)
}
