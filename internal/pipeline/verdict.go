package pipeline

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// remedies are the SQLSTATEs of a refused connection, or a refused start, that
// only an operator can mend, with what to do.
var remedies = map[string]string{
	"28000": "check pg_hba.conf and the role's LOGIN attribute",
	"28P01": "correct the password in OUTBOX_CDC_DATABASE_URL or its file",
	"3D000": "correct the database name in OUTBOX_CDC_DATABASE_URL",
	"42501": "ALTER ROLE ... REPLICATION (on RDS: GRANT rds_replication TO ...)",
	"42704": "run outbox-cdc check; the slot or the publication is missing",
	"55000": "run outbox-cdc check; the slot can't be used as it is",
	"58P01": "run outbox-cdc check; the server has removed WAL that the slot needs",
	"22023": "run outbox-cdc check; the slot is not one of pgoutput",
	"0A000": "connect to PostgreSQL directly; a pooler in between can't carry replication",
	"08P01": "connect to PostgreSQL directly; a pooler in between can't carry replication",
}

// serverError is an error of the server without its DETAIL, which may hold data.
type serverError struct{ *pgconn.PgError }

func (e serverError) Error() string {
	return fmt.Sprintf("the server says: %s (SQLSTATE %s)", e.Message, e.Code)
}

func (e serverError) Unwrap() error { return e.PgError }

// JudgeConnect makes a *HoldError or *BusyError of an error that ended an
// attempt to connect or to start, where it is one. Every other one may pass by
// itself.
func JudgeConnect(err error, slot string) error {
	var server *pgconn.PgError
	if !errors.As(err, &server) {
		return err
	}
	if server.Code == objectInUse {
		return &BusyError{Slot: slot}
	}
	if remedy, ok := remedies[server.Code]; ok {
		return &HoldError{Reason: serverError{server}.Error(), Remedy: remedy, Err: server}
	}
	return serverError{server}
}

// SQLSTATEs that decide by themselves.
const (
	objectInUse     = "55006"
	undefinedObject = "42704"
)

// passes tells whether the SQLSTATE is one that goes away: connection trouble,
// shutdown and start, limits that others have used up, cancelled work.
func passes(code string) bool {
	for _, class := range []string{"08", "53", "57"} {
		if strings.HasPrefix(code, class) {
			return true
		}
	}
	return code == objectInUse || code == "25P03" || code == "25P04"
}

// serverFaultLimit is how often the same position may fail before the connector
// says that the server can't decode it.
const serverFaultLimit = 3

// judgeStream sorts the end of a stream. Errors that are not the server's stay
// as they are.
func (g *generation) judgeStream(err error) error {
	var server *pgconn.PgError
	var hold *HoldError
	if errors.As(err, &hold) || !errors.As(err, &server) || passes(server.Code) {
		return err
	}
	p, at := g.p, g.frontier()
	said := serverError{server}
	switch server.Code {
	case undefinedObject:
		return p.gap(at, said.Error(), server)
	case "55000", "58P01":
		return &HoldError{Reason: said.Error(), Remedy: remedies[server.Code], Err: server}
	}
	if p.faultAt != at {
		p.faultAt, p.faults = at, 0
	}
	if p.faults++; p.faults < serverFaultLimit {
		return said
	}
	return &undecodableError{HoldError{
		Reason: fmt.Sprintf("the server can't decode what follows %s: %s", at, said.Error()),
		Remedy: "look at the server's log; it is tried again by itself, and nothing is skipped",
		Err:    server,
	}}
}

// undecodableError is a hold that counts as halted: it is about what was
// written, not about the slot or the server's settings.
type undecodableError struct{ HoldError }

// Unwrap makes it a *HoldError, too.
func (e *undecodableError) Unwrap() error { return &e.HoldError }
