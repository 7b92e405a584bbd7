package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/outbox-cdc/outbox-cdc/internal/catalog"
	"github.com/outbox-cdc/outbox-cdc/internal/config"
	"github.com/outbox-cdc/outbox-cdc/internal/pipeline"
)

// setupWait bounds how long the creation of the slot waits for running
// transactions.
const setupWait = 30 * time.Second

// SetupScript is the SQL of a set-up, for a DBA; it asks no server.
func SetupScript(cfg *config.Config, role string) (string, error) {
	want, err := wanted(cfg)
	if err != nil {
		return "", err
	}
	s := catalog.Setup{Want: want, Role: role}
	return s.Script(), nil
}

// wanted is what the configuration asks of the server, whoever streams.
func wanted(cfg *config.Config) (catalog.Want, error) {
	tables, err := outboxTables(cfg)
	if err != nil {
		return catalog.Want{}, err
	}
	checkpoint, err := keptIn(cfg)
	if err != nil {
		return catalog.Want{}, err
	}
	return catalog.Want{
		Slot: cfg.Slot, Publication: cfg.Publication, Failover: catalog.Failover(cfg.SlotFailover),
		Tables: tables, Checkpoint: checkpoint,
	}, nil
}

// dialSetup connects for a command that changes the database.
func dialSetup(ctx context.Context, cfg *config.Config) (*pgx.Conn, error) {
	cc, err := cfg.Database.ConnConfig()
	if err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, cc)
	if err != nil {
		return nil, pipeline.JudgeConnect(err, cfg.Slot)
	}
	return conn, nil
}

// Setup makes what is missing of publication, slot and the role's attribute,
// says each step on w, and ends with the warnings that are left. Errors are for
// an operator; they hold neither URL nor password.
func Setup(ctx context.Context, cfg *config.Config, role string, w io.Writer) error {
	want, err := wanted(cfg)
	if err != nil {
		return err
	}
	conn, err := dialSetup(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	s := catalog.Setup{Want: want, Role: role}
	plan, err := s.Plan(ctx, conn)
	if err != nil {
		return err
	}
	if err := runSteps(ctx, conn, plan, w); err != nil {
		return err
	}
	report, err := catalog.Inspect(ctx, conn, want)
	if err != nil {
		return err
	}
	return errors.Join(warn(w, report, plan), report.Err())
}

// warn shows what is left, with the counts from before the slot was made.
func warn(w io.Writer, report *catalog.Report, plan *catalog.Plan) error {
	left := slices.DeleteFunc(slices.Clone(report.Findings), func(f catalog.Finding) bool {
		return f.Status != catalog.Warn || f.Name == catalog.UncoveredRows
	})
	for _, f := range append(left, plan.Uncovered...) {
		if _, err := fmt.Fprintf(w, "warn  %s\n", f); err != nil {
			return err
		}
	}
	return nil
}

func runSteps(ctx context.Context, conn *pgx.Conn, plan *catalog.Plan, w io.Writer) error {
	if len(plan.Steps) == 0 {
		_, err := fmt.Fprintln(w, "nothing to do: everything is there")
		return err
	}
	for _, step := range plan.Steps {
		if _, err := fmt.Fprintf(w, "%s ... (waits up to %v for running transactions)\n  %s\n", step.Why, setupWait, step.SQL); err != nil {
			return err
		}
		if err := catalog.Apply(ctx, conn, step, setupWait); err != nil {
			return err
		}
	}
	return nil
}
