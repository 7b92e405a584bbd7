package pgrepl

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// Identity is what the server says about itself on the replication connection
// (IDENTIFY_SYSTEM). A position means something only together with it.
type Identity struct {
	SystemID string
	Timeline int32
	Database string
	// Flush is the server's WAL flush position when it was asked.
	Flush decoder.LSN
	// History says where older timelines ended; nil where that is not known.
	History History
}

// Session is a replication connection that does not stream yet. It belongs to
// one goroutine.
type Session struct {
	Identity Identity
	// SenderTimeout is the wal_sender_timeout in force; 0 means off.
	SenderTimeout time.Duration
	// PID is the walsender's process id.
	PID uint32

	cfg    Config
	conn   *pgconn.PgConn
	reader io.Reader
}

// Connect opens a replication connection and asks the server who it is.
func Connect(ctx context.Context, cfg Config) (*Session, error) {
	s := &Session{cfg: cfg}
	cc := cfg.connConfig()
	cc.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		// pgconn reads through r, which may hold bytes that arrived while
		// it wrote; the stream must go on with the same reader.
		s.reader = r
		return pgproto3.NewFrontend(&singleByteReader{r}, w)
	}
	conn, err := pgconn.ConnectConfig(ctx, cc)
	if err != nil {
		return nil, fmt.Errorf("open the replication connection: %w", err)
	}
	s.conn, s.PID = conn, conn.PID()
	if err := s.identify(ctx); err != nil {
		_ = conn.Close(ctx)
		return nil, err
	}
	return s, nil
}

func (s *Session) identify(ctx context.Context) error {
	id, err := pglogrepl.IdentifySystem(ctx, s.conn)
	if err != nil {
		return fmt.Errorf("identify the system: %w", err)
	}
	s.Identity = Identity{SystemID: id.SystemID, Timeline: id.Timeline, Database: id.DBName, Flush: decoder.LSN(id.XLogPos)}
	if s.Identity.History, err = s.readHistory(ctx); err != nil {
		return err
	}
	res, err := s.conn.Exec(ctx, "SELECT setting FROM pg_catalog.pg_settings WHERE name = 'wal_sender_timeout'").ReadAll()
	if err != nil {
		return fmt.Errorf("read wal_sender_timeout: %w", err)
	}
	if len(res) != 1 || len(res[0].Rows) != 1 {
		return fmt.Errorf("read wal_sender_timeout: %w", errNoRow)
	}
	ms, err := strconv.ParseInt(string(res[0].Rows[0][0]), 10, 32)
	if err != nil {
		return fmt.Errorf("read wal_sender_timeout: %w", err)
	}
	s.SenderTimeout = time.Duration(ms) * time.Millisecond
	// Decoding runs in transactions of its own, which a limit of the role would
	// end. It can't be pinned at startup: PostgreSQL has it only since 17.
	_, err = s.conn.Exec(ctx, "SELECT pg_catalog.set_config(name, '0', false) FROM pg_catalog.pg_settings WHERE name = 'transaction_timeout'").ReadAll()
	if err != nil {
		return fmt.Errorf("switch transaction_timeout off: %w", err)
	}
	return nil
}

// Start begins streaming at the position, or at the slot's own for 0. The
// Session is used up whether or not it succeeds.
// (Manual: Streaming Replication Protocol, START_REPLICATION ... LOGICAL.)
func (s *Session) Start(ctx context.Context, at decoder.LSN) (*Stream, error) {
	err := pglogrepl.StartReplication(ctx, s.conn, quoteIdent(s.cfg.Slot), pglogrepl.LSN(at), pglogrepl.StartReplicationOptions{
		Mode: pglogrepl.LogicalReplication,
		// Streaming of open transactions stays off: an outbox has no use for
		// rows that may still be rolled back.
		PluginArgs: []string{"proto_version '1'", "publication_names " + quoteLiteral(quoteIdent(s.cfg.Publication))},
	})
	if err != nil {
		_ = s.conn.Close(ctx)
		return nil, fmt.Errorf("start replication on slot %q: %w", s.cfg.Slot, err)
	}
	h, err := s.conn.Hijack()
	if err != nil {
		_ = s.conn.Close(ctx)
		return nil, fmt.Errorf("take over the replication connection: %w", err)
	}
	return newStream(h.Conn, s.reader, s.cfg.MaxMessage), nil
}

// Close gives up a session that was not started.
func (s *Session) Close(ctx context.Context) error { return s.conn.Close(ctx) }

// singleByteReader hands out one byte a call, so that a reader above it never
// reads beyond the message it wants: what follows belongs to the Stream.
type singleByteReader struct{ r io.Reader }

func (s *singleByteReader) Read(p []byte) (int, error) {
	if len(p) > 1 {
		p = p[:1]
	}
	return s.r.Read(p)
}
