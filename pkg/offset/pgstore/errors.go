package pgstore

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// The SQLSTATEs that mean something here.
// (Manual: PostgreSQL Error Codes.)
const (
	insufficientPrivilege = "42501"
	undefinedTable        = "42P01"
	undefinedColumn       = "42703"
	invalidSchemaName     = "3F000"
	readOnlyTransaction   = "25006"
	notInPrerequisite     = "55000" // "recovery is in progress"
)

// TableError is a checkpoint table that can't be used until an operator mends
// it. Its texts hold no data and no secret.
type TableError struct {
	// Table is the table as SQL takes it.
	Table string
	// Code is the server's SQLSTATE.
	Code string
	// Problem says what is wrong, in the server's words.
	Problem string
	// Remedy is what to do, as SQL where that is possible.
	Remedy string
}

// Error is problem and remedy in one line.
func (e *TableError) Error() string {
	return fmt.Sprintf("checkpoint table %s: %s (SQLSTATE %s); %s", e.Table, e.Problem, e.Code, e.Remedy)
}

// explain makes an operator's error of what an operator can mend. The text of a
// pgconn.PgError has the server's message but not its DETAIL, which may hold
// data.
func explain(op string, table decoder.TableName, role string, err error) error {
	var server *pgconn.PgError
	if !errors.As(err, &server) {
		return fmt.Errorf("%s: %w", op, err)
	}
	var remedy string
	switch server.Code {
	case insufficientPrivilege:
		remedy = "run " + Grant(table, role)
	case undefinedTable, invalidSchemaName:
		remedy = "run outbox-cdc setup, which creates it"
	case undefinedColumn:
		remedy = "it was not made by outbox-cdc setup: set OUTBOX_CDC_OFFSET_TABLE to another name, and run that"
	default:
		return fmt.Errorf("%s: %w", op, server)
	}
	return &TableError{Table: table.String(), Code: server.Code, Problem: server.Message, Remedy: remedy}
}

// isStandby tells that the server takes no writes.
func isStandby(err error) bool {
	var server *pgconn.PgError
	return errors.As(err, &server) && (server.Code == readOnlyTransaction || server.Code == notInPrerequisite)
}
