package pgstore

import (
	"strings"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// Comment marks what set-up made, so that teardown leaves alone what is not
// ours.
const Comment = "outbox-cdc"

// CreateSchema is the statement that makes the table's schema; it does nothing
// where there is one, but then it too needs CREATE on the database.
func CreateSchema(table decoder.TableName) string {
	return "CREATE SCHEMA IF NOT EXISTS " + schemaName(table) + ";"
}

// CreateTable is the statements that make the checkpoint table; they do nothing
// to one that is there, but for its comment.
func CreateTable(table decoder.TableName) string {
	name := table.String()
	return "CREATE TABLE IF NOT EXISTS " + name + ` (
  slot text PRIMARY KEY, system_id text NOT NULL, timeline bigint NOT NULL, database text NOT NULL,
  confirmed_lsn pg_lsn NOT NULL, ceiling_lsn pg_lsn NOT NULL, restart_lsn pg_lsn, decoded_txns bigint,
  gap_from pg_lsn, gap_to pg_lsn,
  snapshot pg_snapshot, phase text NOT NULL DEFAULT 'stream', updated_at timestamptz NOT NULL DEFAULT now());
COMMENT ON TABLE ` + name + " IS '" + Comment + "';"
}

// Grant is the statements, in one line, that let a role keep its checkpoint in the table.
// They need no right on anything else.
func Grant(table decoder.TableName, role string) string {
	return "GRANT USAGE ON SCHEMA " + schemaName(table) + " TO " + identifier(role) + "; " +
		"GRANT SELECT, INSERT, UPDATE ON " + table.String() + " TO " + identifier(role) + ";"
}

func schemaName(table decoder.TableName) string { return identifier(table.Schema) }

// identifier is s as an SQL identifier, quoted if it has to be; the decoder
// knows the server's key words.
func identifier(s string) string {
	return strings.TrimPrefix(decoder.TableName{Schema: "x", Name: s}.String(), "x.")
}
