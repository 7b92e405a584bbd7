package pgrepl

import (
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Config describes one replication session.
type Config struct {
	// Conn is the ordinary connection's configuration; it is copied.
	Conn *pgconn.Config
	// Slot and Publication are raw names; they are quoted here.
	Slot, Publication string
	// ApplicationName shows in pg_stat_replication.
	ApplicationName string
	// SenderTimeout is set as the session's wal_sender_timeout; 0 leaves the
	// server's.
	SenderTimeout time.Duration
	// DecodingWorkMem is set as the session's logical_decoding_work_mem, in
	// bytes; 0 leaves the server's.
	DecodingWorkMem int64
	// MaxMessage is the largest pgoutput message that is buffered, in bytes.
	// A larger one is read and thrown away, but for its beginning.
	MaxMessage int
}

// pinned are the session settings that decide what the bytes of a row look
// like and whether warnings arrive. Neither the role's nor the user's own
// settings may change them.
var pinned = [...][2]string{
	{"client_encoding", "UTF8"},
	{"DateStyle", "ISO"},
	{"IntervalStyle", "postgres"},
	{"TimeZone", "UTC"},
	{"extra_float_digits", "1"},
	{"bytea_output", "hex"},
	// PostgreSQL 18 only warns when the publication is missing.
	{"client_min_messages", "warning"},
	// A role's limits on statements and idle sessions are not meant for us.
	{"statement_timeout", "0"},
	{"lock_timeout", "0"},
	{"idle_session_timeout", "0"},
	{"idle_in_transaction_session_timeout", "0"},
}

// connConfig is the configuration of the replication connection.
func (c Config) connConfig() *pgconn.Config {
	cc := c.Conn.Copy()
	settings := pinned[:]
	if c.SenderTimeout > 0 {
		settings = append(settings, [2]string{"wal_sender_timeout", strconv.FormatInt(c.SenderTimeout.Milliseconds(), 10)})
	}
	if c.DecodingWorkMem > 0 {
		settings = append(settings, [2]string{"logical_decoding_work_mem", strconv.FormatInt(max(c.DecodingWorkMem>>10, 64), 10)})
	}
	if cc.RuntimeParams == nil {
		cc.RuntimeParams = map[string]string{}
	}
	// A later -c wins over an earlier one, but a startup parameter wins over
	// both, so the user's must go.
	var options strings.Builder
	options.WriteString(cc.RuntimeParams["options"])
	for _, s := range settings {
		for name := range cc.RuntimeParams {
			if strings.EqualFold(name, s[0]) {
				delete(cc.RuntimeParams, name)
			}
		}
		options.WriteString(" -c " + s[0] + "=" + s[1])
	}
	cc.RuntimeParams["options"] = strings.TrimSpace(options.String())
	cc.RuntimeParams["replication"] = "database"
	if c.ApplicationName != "" {
		cc.RuntimeParams["application_name"] = c.ApplicationName
	}
	cc.OnNotice = nil
	return cc
}

// quoteIdent is name as a double-quoted SQL identifier.
func quoteIdent(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// quoteLiteral is s as a single-quoted string of the replication grammar,
// which knows no backslash escapes.
func quoteLiteral(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
