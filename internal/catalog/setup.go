package catalog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset/pgstore"
)

// Setup is what setup has to make.
type Setup struct {
	// Want is what the server must have in the end.
	Want
	// Role is who will stream; empty means the current user.
	Role string
}

// Step is one statement of a set-up. Each is a transaction of its own.
type Step struct {
	SQL string
	// Why says what the step makes, for the terminal.
	Why string

	slot bool
}

func createSlotSQL(slot string, failover bool) string {
	option := ""
	if failover {
		option = ", failover => true"
	}
	return "SELECT pg_create_logical_replication_slot(" + literal(slot) + ", '" + Plugin + "'" + option + ");"
}

func createPublicationSQL(publication string, tables []decoder.TableName) string {
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = t.String()
	}
	return "CREATE PUBLICATION " + identifier(publication) + " FOR TABLE " + strings.Join(names, ", ") +
		" WITH (publish = 'insert', publish_via_partition_root = true); " +
		"COMMENT ON PUBLICATION " + identifier(publication) + " IS " + literal(pgstore.Comment) + ";"
}

// Script is the whole set-up as SQL for a DBA, made without a server. The slot
// comes last, in a transaction of its own: publications are looked up as they
// were at the position that is being decoded, so it must not be older than its
// publication.
func (s *Setup) Script() string {
	role := "outbox_cdc"
	if s.Role != "" {
		role = s.Role
	}
	return "-- The role that streams needs no more than this; it needs no rights on the tables.\n" +
		"-- CREATE ROLE " + identifier(role) + " LOGIN REPLICATION PASSWORD '...';\n" +
		"-- (RDS: CREATE ROLE " + identifier(role) + " LOGIN PASSWORD '...'; GRANT rds_replication TO " + identifier(role) + ";)\n\n" +
		"-- Run in the database of the tables, as their owner with CREATE on the database.\n" +
		createPublicationSQL(s.Publication, s.Tables.Names()) + "\n\n" +
		s.checkpointScript(role) +
		"-- Afterwards, not in the same transaction. It waits for running transactions to end.\n" +
		s.slotScript() + "\n"
}

// slotScript makes the slot without knowing the server.
func (s *Setup) slotScript() string {
	plain := createSlotSQL(s.Slot, s.Failover == FailoverOn)
	if s.Failover == FailoverOn || s.Failover == FailoverOff {
		return plain
	}
	return plain + "\n-- Instead, on PostgreSQL 17 and later, for a slot that standbys keep in step:\n-- " + createSlotSQL(s.Slot, true)
}

// ErrManual is wrapped by what Plan leaves to the operator: it never changes
// what somebody else may rely on.
var ErrManual = errors.New("not changed by setup")

// Plan is what a set-up will do.
type Plan struct {
	// Steps are in the order in which they must run; none when all is there.
	Steps []Step
	// Uncovered are the warnings about rows that are there before the slot.
	// Only now can they be counted exactly: the slot's catalog_xmin may lie
	// below them when other transactions run.
	Uncovered []Finding
}

// Plan compares the server with what is wanted. The error joins everything that
// stands in the way, with what to do about it.
func (s *Setup) Plan(ctx context.Context, conn *pgx.Conn) (*Plan, error) {
	want := s.Want
	want.CountRows = true
	report, err := Inspect(ctx, conn, want)
	if err != nil {
		return nil, err
	}
	pub, err := readPublication(ctx, conn, s.Publication, report.Server)
	if err != nil {
		return nil, err
	}
	steps, err := s.roleStep(ctx, conn, report.Server)
	if err != nil {
		return nil, err
	}
	plan := &Plan{Steps: steps}
	var left []error
	for _, f := range report.Findings {
		if f.Status == Warn && f.Name == UncoveredRows {
			plan.Uncovered = append(plan.Uncovered, f)
		}
		if f.Status == Fail && !mends(f, pub, report.Slot) {
			left = append(left, fmt.Errorf("%s (%w)", f, ErrManual))
		}
	}
	if len(left) > 0 {
		return nil, errors.Join(left...)
	}
	role := s.Role
	if role == "" {
		role = report.Server.User
	}
	keep, err := s.checkpointSteps(ctx, conn, role, report.Server.User)
	if err != nil {
		return nil, err
	}
	plan.Steps = append(plan.Steps, keep...)
	plan.Steps = append(plan.Steps, s.publicationSteps(report, pub)...)
	if report.Slot == nil {
		plan.Steps = append(plan.Steps, s.slotStep(report.Server))
	}
	return plan, nil
}

func (s *Setup) slotStep(server Server) Step {
	step := Step{Why: "create replication slot " + identifier(s.Slot), slot: true}
	failover := s.Failover.makes(server)
	if failover {
		step.Why += " (failover)"
	}
	step.SQL = createSlotSQL(s.Slot, failover)
	return step
}

// mends tells whether a failure goes away by the plan. A slot that is there
// before its publication is left to the operator: the server looks publications
// up as they were at the slot's position.
func mends(f Finding, pub *publication, slot *Slot) bool {
	switch f.Name {
	case "role.replication", "slot.exists", "checkpoint.table":
		return true
	case "publication.exists":
		return slot == nil
	case "publication.tables":
		return pub != nil
	}
	return false
}

func (s *Setup) publicationSteps(r *Report, pub *publication) []Step {
	if pub == nil {
		names := make([]decoder.TableName, len(r.Tables))
		for i, t := range r.Tables {
			names[i] = t.Name
		}
		return []Step{{SQL: createPublicationSQL(s.Publication, names), Why: "create publication " + identifier(s.Publication)}}
	}
	var steps []Step
	for _, t := range r.Tables {
		if _, ok := pub.tables[tableKey{t.Name.Schema, t.Name.Name}]; !ok {
			steps = append(steps, Step{
				SQL: "ALTER PUBLICATION " + identifier(s.Publication) + " ADD TABLE " + t.Name.String() + ";",
				Why: "add " + t.Name.String() + " to publication " + identifier(s.Publication),
			})
		}
	}
	return steps
}

// roleStep lets the role stream if it may not yet.
func (s *Setup) roleStep(ctx context.Context, conn *pgx.Conn, server Server) ([]Step, error) {
	role, may := server.User, server.Superuser || server.Replication || server.RDSReplication
	rds := false
	if s.Role != "" {
		role = s.Role
	}
	err := conn.QueryRow(ctx, `SELECT r.rolsuper OR r.rolreplication OR EXISTS (SELECT FROM pg_roles m WHERE m.rolname = 'rds_replication' AND pg_has_role(r.oid, m.oid, 'USAGE')),
		EXISTS (SELECT FROM pg_roles m WHERE m.rolname = 'rds_replication') FROM pg_roles r WHERE r.rolname = $1`, role).Scan(&may, &rds)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, fmt.Errorf("role %s does not exist; run CREATE ROLE %s LOGIN REPLICATION PASSWORD '...'; first", identifier(role), identifier(role))
	case err != nil:
		return nil, wrap("role "+role, err)
	case may:
		return nil, nil
	}
	sql := "ALTER ROLE " + identifier(role) + " REPLICATION;"
	if rds {
		sql = "GRANT rds_replication TO " + identifier(role) + ";"
	}
	return []Step{{SQL: sql, Why: "let role " + identifier(role) + " stream"}}, nil
}

// Apply runs a step. Making the slot waits for running transactions, at most
// for the given time; then the error names who holds it up, and no half-made
// slot is left. No writer is blocked meanwhile.
func Apply(ctx context.Context, conn *pgx.Conn, step Step, wait time.Duration) error {
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		limit := fmt.Sprintf("SET LOCAL statement_timeout = %d", wait.Milliseconds())
		if _, err := tx.Exec(ctx, limit); err != nil {
			return err
		}
		// A step may be several statements.
		_, err := tx.Exec(ctx, step.SQL, pgx.QueryExecModeSimpleProtocol)
		return err
	})
	var pgErr *pgconn.PgError
	if err == nil || !errors.As(err, &pgErr) {
		return wrapStep(step, err)
	}
	switch pgErr.Code {
	case "57014": // query_canceled
		if step.slot {
			return fmt.Errorf("%s: running transactions did not end within %v: %s", step.Why, wait, Blockers(ctx, conn))
		}
		return fmt.Errorf("%s: another session held a lock for %v; try again when it is done", step.Why, wait)
	case "42501": // insufficient_privilege
		return fmt.Errorf("%s: %s (SQLSTATE 42501); run setup as the owner of the tables, or let a DBA run what setup --print shows", step.Why, pgErr.Message)
	}
	return wrapStep(step, fmt.Errorf("%s (SQLSTATE %s)", pgErr.Message, pgErr.Code))
}

func wrapStep(step Step, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", step.Why, err)
}
