package app

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/outbox-cdc/outbox-cdc/internal/catalog"
	"github.com/outbox-cdc/outbox-cdc/internal/pipeline"
)

// remedies are the SQLSTATEs of a refused connection or a refused start that
// only an operator can mend, with what to do. Every other one may pass.
var remedies = map[string]string{
	"28000": "check pg_hba.conf and the role's LOGIN attribute",
	"28P01": "correct the password in OUTBOX_CDC_DATABASE_URL or its file",
	"3D000": "correct the database name in OUTBOX_CDC_DATABASE_URL",
	"42501": "ALTER ROLE ... REPLICATION (on RDS: GRANT rds_replication TO ...)",
	"42704": "run outbox-cdc check; the slot or the publication is missing",
	"55000": "run outbox-cdc check; the slot can't be used as it is",
	"22023": "run outbox-cdc check; the slot is not one of pgoutput",
	"0A000": "connect to PostgreSQL directly; a pooler in between can't carry replication",
	"08P01": "connect to PostgreSQL directly; a pooler in between can't carry replication",
}

// judgeConnect tells what an operator must mend from what passes by itself.
// The server's DETAIL is dropped: it may hold data.
func judgeConnect(err error) error {
	var server *pgconn.PgError
	if !errors.As(err, &server) {
		return err
	}
	if remedy, ok := remedies[server.Code]; ok {
		reason := fmt.Sprintf("the server refuses: %s (SQLSTATE %s)", server.Message, server.Code)
		return &pipeline.HoldError{Reason: reason, Remedy: remedy, Err: server}
	}
	return fmt.Errorf("the server refuses: %s (SQLSTATE %s)", server.Message, server.Code)
}

// holdFor makes everything that was found wrong one hold: the problems are its
// reason, a line each, and what mends them its remedy.
func holdFor(err error) error {
	var report *catalog.Error
	if !errors.As(err, &report) {
		return &pipeline.HoldError{Reason: err.Error(), Err: err}
	}
	var problems, remedies []string
	for _, f := range report.Findings {
		remedy := strings.TrimSuffix(f.Remedy, ";")
		f.Remedy = ""
		problems = append(problems, f.String())
		if remedy == "" {
			continue
		}
		if len(report.Findings) > 1 {
			remedy = f.Name + ": " + remedy
		}
		remedies = append(remedies, remedy)
	}
	return &pipeline.HoldError{Reason: strings.Join(problems, "\n"), Remedy: strings.Join(remedies, "\n"), Err: err}
}
