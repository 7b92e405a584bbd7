package config

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Database is how the server is reached, and what our session asks of it.
type Database struct {
	ConnectTimeout time.Duration
	// WALSenderTimeout is 0 to leave the server's.
	WALSenderTimeout    time.Duration
	StatusInterval      time.Duration
	ReconnectBackoffMax time.Duration
	// DecodingWorkMem is 0 to leave the server's.
	DecodingWorkMem Bytes

	url             Secret
	file            string // read again at each connect
	applicationName string
	explicitTimeout bool
	defaultAttrs    bool // PGTARGETSESSIONATTRS is unset
	explicitSSLMode bool // PGSSLMODE is set
	fromLibpq       bool // some PG* variable says where
}

// NewDatabase is for tests and tools that have a URL and no environment; its
// durations are the documented defaults.
func NewDatabase(url string) Database {
	return Database{
		ConnectTimeout: 10 * time.Second, WALSenderTimeout: 15 * time.Second,
		StatusInterval: 250 * time.Millisecond, ReconnectBackoffMax: 30 * time.Second,
		url: NewSecret(url), applicationName: "outbox-cdc",
	}
}

func buildDatabase(p *parser, e *environment, name string) Database {
	return Database{
		ConnectTimeout:      p.duration("DATABASE_CONNECT_TIMEOUT"),
		WALSenderTimeout:    p.duration("WAL_SENDER_TIMEOUT"),
		StatusInterval:      p.duration("STATUS_INTERVAL"),
		ReconnectBackoffMax: p.duration("RECONNECT_BACKOFF_MAX"),
		DecodingWorkMem:     p.size("DECODING_WORK_MEM"),
		url:                 NewSecret(p.text("DATABASE_URL")),
		file:                e.files[Prefix+"DATABASE_URL"],
		applicationName:     "outbox-cdc " + name,
		explicitTimeout:     p.explicit[Prefix+"DATABASE_CONNECT_TIMEOUT"],
		defaultAttrs:        e.libpq["PGTARGETSESSIONATTRS"] == "",
		explicitSSLMode:     e.libpq["PGSSLMODE"] != "",
		fromLibpq:           e.libpq["PGHOST"] != "" || e.libpq["PGSERVICE"] != "" || e.libpq["PGDATABASE"] != "" || e.libpq["PGUSER"] != "",
	}
}

// ConnConfig is the configuration of one connection, made anew for each
// connect: the file behind DATABASE_URL_FILE is read again. Its pgconn part
// (&c.Config) serves replication connections. Errors never hold the URL.
//
// TLS is verify-full unless something says otherwise, and prefer when all
// hosts are this machine. A "replication" parameter in the URL is dropped: who
// wants a replication connection says so himself.
func (d *Database) ConnConfig() (*pgx.ConnConfig, error) {
	conn := d.url.Reveal()
	if d.file != "" {
		v, err := readValueFile(d.file)
		if err != nil {
			return nil, fmt.Errorf("read %sDATABASE_URL_FILE: %w", Prefix, err)
		}
		conn = v
	}
	c, err := parseConn(conn)
	if err != nil {
		return nil, err
	}
	primary := false
	if d.defaultAttrs && c.ValidateConnect == nil {
		conn = withDefault(conn, "target_session_attrs", "read-write")
		if c, err = parseConn(conn); err != nil {
			return nil, err
		}
		primary = c.ValidateConnect != nil // nil: the text itself says any
	}
	if !d.explicitSSLMode && !allLocal(c) && prefersTLS(c) {
		if c, err = parseConn(withDefault(conn, "sslmode", "verify-full")); err != nil {
			return nil, err
		}
	}
	if primary {
		c.ValidateConnect = explainReadOnly(c.ValidateConnect)
	}
	if d.explicitTimeout || c.ConnectTimeout == 0 {
		c.ConnectTimeout = d.ConnectTimeout
	}
	delete(c.RuntimeParams, "replication")
	if c.RuntimeParams["application_name"] == "" {
		c.RuntimeParams["application_name"] = d.applicationName
	}
	return c, nil
}

// explainReadOnly says what it means that a server was passed over, and that it
// was our choice.
func explainReadOnly(validate pgconn.ValidateConnectFunc) pgconn.ValidateConnectFunc {
	return func(ctx context.Context, conn *pgconn.PgConn) error {
		if err := validate(ctx, conn); err != nil {
			return fmt.Errorf("%w; if it is a standby, connect to the primary (target_session_attrs is read-write by default)", err)
		}
		return nil
	}
}

// parseConn parses without ever giving out the text: pgconn's errors carry the
// connection string, masked as well as pgconn can.
func parseConn(conn string) (*pgx.ConnConfig, error) {
	c, err := pgx.ParseConfig(conn)
	if err == nil {
		return c, nil
	}
	return nil, errors.New(scrubbed(err))
}

// scrubbed words the failures that can be told apart without repeating any
// text of the URL.
func scrubbed(err error) string {
	text := err.Error()
	for _, known := range []struct{ part, problem string }{
		{"invalid port", "a port is not a number from 1 to 65535"},
		{"port numbers to", "the numbers of hosts and ports differ"},
		{"sslmode is invalid", "sslmode must be disable, allow, prefer, require, verify-ca or verify-full"},
		{"unable to read CA file", "the file of sslrootcert (PGSSLROOTCERT) can't be read"},
		{"unable to add CA", "the file of sslrootcert (PGSSLROOTCERT) holds no certificate"},
		{"failed to configure TLS", "sslcert, sslkey or sslrootcert can't be used; check that the files exist and belong together"},
		{"failed to read service", "the service of PGSERVICE can't be read from the service file"},
		{"target_session_attrs", "target_session_attrs must be any, read-write, read-only, primary, standby or prefer-standby"},
		{"connect_timeout", "connect_timeout must be a whole number of seconds"},
		{"channel_binding", "channel_binding must be disable, prefer or require"},
	} {
		// The parts are pgconn's own words. A URL that happens to hold them
		// gets a wrong hint, never a leak.
		if strings.Contains(text, known.part) {
			return known.problem
		}
	}
	return "can't be read; want postgres://user:password@host:5432/database?sslmode=verify-full " +
		"(percent-encode special characters of the password) or host=... dbname=... user=..."
}

// withDefault puts a parameter in front of all others. The last one of a name
// wins, in both forms, so it counts only if the text does not set it itself.
func withDefault(conn, key, value string) string {
	at := strings.Index(conn, "://")
	if !strings.HasPrefix(conn, "postgres://") && !strings.HasPrefix(conn, "postgresql://") {
		return strings.TrimRight(key+"="+value+" "+conn, " ")
	}
	// Like libpq: an '@' before the first '/' ends the credentials, which may
	// hold a '?' themselves.
	at += len("://")
	if i := strings.IndexAny(conn[at:], "@/"); i >= 0 && conn[at+i] == '@' {
		at += i + 1
	}
	if i := strings.IndexByte(conn[at:], '?'); i >= 0 {
		q := at + i + 1
		return conn[:q] + key + "=" + value + "&" + conn[q:]
	}
	return conn + "?" + key + "=" + value
}

// hosts are all that the connection may go to, in order.
func hosts(c *pgx.ConnConfig) []*pgconn.FallbackConfig {
	first := &pgconn.FallbackConfig{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}
	return append([]*pgconn.FallbackConfig{first}, c.Fallbacks...)
}

func isLocal(host string, port uint16) bool {
	network, _ := pgconn.NetworkAddress(host, port)
	return network == "unix" || isLoopback(host)
}

func allLocal(c *pgx.ConnConfig) bool {
	for _, h := range hosts(c) {
		if !isLocal(h.Host, h.Port) {
			return false
		}
	}
	return true
}
