package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/outbox-cdc/outbox-cdc/internal/catalog"
	"github.com/outbox-cdc/outbox-cdc/internal/config"
	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl"
	"github.com/outbox-cdc/outbox-cdc/internal/pipeline"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

const (
	// inspectTimeout bounds all questions to the catalog at one connect.
	inspectTimeout = 30 * time.Second
	// inspectLock bounds the wait for a table that somebody has locked.
	inspectLock = "3s"
	// lockNotAvailable is the SQLSTATE for that.
	lockNotAvailable = "55P03"
)

// connector reaches the server: first over an ordinary connection, to check
// everything, then for replication.
type connector struct {
	cfg  *config.Config
	want catalog.Want

	// What follows belongs to the goroutine that connects.

	// busy: another instance had the slot when we looked last.
	busy bool
	// found are the names of the tables in the catalog, as of the last look.
	found []decoder.TableName
}

func (c *connector) connect(ctx context.Context) (pipeline.Session, error) {
	conn, err := c.cfg.Database.ConnConfig()
	if err != nil {
		return nil, &pipeline.HoldError{Reason: err.Error(), Err: err}
	}
	seen, err := c.inspect(ctx, conn)
	if err != nil {
		return nil, err
	}
	s, err := pgrepl.Connect(ctx, pgrepl.Config{
		Conn: &conn.Config, Slot: c.cfg.Slot, Publication: c.cfg.Publication,
		ApplicationName: applicationName(c.cfg),
		SenderTimeout:   c.cfg.Database.WALSenderTimeout,
		DecodingWorkMem: int64(c.cfg.Database.DecodingWorkMem),
		MaxMessage:      int(c.cfg.MaxEventBytes),
	})
	if err != nil {
		return nil, pipeline.JudgeConnect(err, c.cfg.Slot)
	}
	info := pipeline.SessionInfo{
		Identity: s.Identity, SenderTimeout: s.SenderTimeout, PID: s.PID, Insert: seen.insert,
		Slot: seen.slot.Name, SlotConfirmed: seen.slot.ConfirmedFlush, SlotRestart: seen.slot.Restart,
		Tables: seen.tables,
	}
	if err := c.position(ctx, s, &info); err != nil {
		_ = s.Close(context.WithoutCancel(ctx))
		return nil, err
	}
	return &session{s, info, c}, nil
}

// position takes the slot's positions from the connection that will stream: the
// one that inspected may have led to another server, before a failover.
func (c *connector) position(ctx context.Context, s *pgrepl.Session, info *pipeline.SessionInfo) error {
	slot, err := s.ReadSlot(ctx)
	switch {
	case err != nil:
		return pipeline.JudgeConnect(err, c.cfg.Slot)
	case slot == nil: // START_REPLICATION would say so, unless it is made again meanwhile
		return fmt.Errorf("%w: it is gone", errSlotChanged)
	case slot.Active:
		return &pipeline.BusyError{Slot: c.cfg.Slot}
	}
	info.SlotConfirmed, info.SlotRestart = slot.Confirmed, slot.Restart
	return nil
}

// seen is what an ordinary connection saw before a session.
type seen struct {
	slot *catalog.Slot
	// insert is the WAL insert position after the publication was found whole.
	insert decoder.LSN
	// tables are the outbox tables by their OIDs.
	tables map[uint32]decoder.TableName
}

// inspect checks the server, the publication, the tables and the slot, and
// reports everything at once.
func (c *connector) inspect(ctx context.Context, cc *pgx.ConnConfig) (*seen, error) {
	ctx, cancel := context.WithTimeout(ctx, inspectTimeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, cc)
	if err != nil {
		return nil, pipeline.JudgeConnect(err, c.cfg.Slot)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if c.busy {
		// A standby asks this every second, and the rest only once it is free.
		slot, err := catalog.ReadSlot(ctx, conn, c.cfg.Slot)
		if err != nil {
			return nil, err
		}
		if c.busy = slot != nil && slot.Active; c.busy {
			return nil, &pipeline.BusyError{Slot: c.cfg.Slot, PID: slot.ActivePID}
		}
	}
	if _, err := conn.Exec(ctx, "SET lock_timeout = '"+inspectLock+"'"); err != nil {
		return nil, fmt.Errorf("inspect the server: %w", err)
	}
	report, err := catalog.Inspect(ctx, conn, c.want)
	if server, ok := errors.AsType[*pgconn.PgError](err); ok && server.Code == lockNotAvailable {
		return nil, fmt.Errorf("a published table is locked (ACCESS EXCLUSIVE) for more than %s; the stream starts when the lock is gone, see pg_locks: %w", inspectLock, err)
	}
	if err != nil {
		return nil, fmt.Errorf("inspect the server: %w", err)
	}
	if err := report.Err(); err != nil {
		return nil, holdFor(err)
	}
	if c.busy = report.Slot.Active; c.busy {
		return nil, &pipeline.BusyError{Slot: c.cfg.Slot, PID: report.Slot.ActivePID}
	}
	insert, err := catalog.InsertLSN(ctx, conn)
	if err != nil {
		return nil, err
	}
	c.found = c.found[:0]
	tables := map[uint32]decoder.TableName{}
	for _, t := range report.Tables {
		tables[t.Relation.ID] = t.Name
		c.found = append(c.found, t.Name)
	}
	return &seen{report.Slot, insert, tables}, nil
}

// session is a checked replication connection.
type session struct {
	*pgrepl.Session
	info pipeline.SessionInfo
	conn *connector
}

func (s *session) Info() pipeline.SessionInfo { return s.info }

func (s *session) Close(ctx context.Context) { _ = s.Session.Close(ctx) }

func (s *session) Start(ctx context.Context, at decoder.LSN) (pipeline.Source, error) {
	stream, err := s.Session.Start(ctx, at)
	if err != nil {
		return nil, pipeline.JudgeConnect(err, s.info.Slot)
	}
	if err := s.same(ctx); err != nil {
		stream.Close()
		return nil, err
	}
	return stream, nil
}

var errSlotChanged = errors.New("the slot has changed while we connected")

// same makes sure that the slot that streams is the one that was judged: until
// then it was nobody's, and could be dropped and made again. Now it can not,
// and it stands where it stood, as nothing was confirmed yet.
func (s *session) same(ctx context.Context) error {
	slot, err := s.conn.readSlot(ctx)
	if err == nil && (slot == nil || slot.ConfirmedFlush != s.info.SlotConfirmed) {
		err = errSlotChanged
	}
	return err
}

// applicationName shows in pg_stat_replication and pg_stat_activity.
func applicationName(cfg *config.Config) string { return "outbox-cdc " + cfg.Name }
