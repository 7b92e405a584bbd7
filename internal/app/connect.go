package app

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/outbox-cdc/outbox-cdc/internal/catalog"
	"github.com/outbox-cdc/outbox-cdc/internal/config"
	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl"
	"github.com/outbox-cdc/outbox-cdc/internal/pipeline"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

const (
	// inspectTimeout bounds all questions to the catalog at one connect.
	inspectTimeout = 30 * time.Second
)

// connector reaches the server: first over an ordinary connection, to check
// everything, then for replication.
type connector struct {
	cfg    *config.Config
	tables *decoder.Tables
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
	return &session{s, pipeline.SessionInfo{
		Identity: s.Identity, SenderTimeout: s.SenderTimeout, PID: s.PID, Insert: seen.insert,
		Slot: seen.slot.Name, SlotConfirmed: seen.slot.ConfirmedFlush, SlotRestart: seen.slot.Restart, Decoded: seen.slot.Transactions,
		Tables: seen.tables,
	}}, nil
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
	checkpoint, err := keptIn(c.cfg)
	if err != nil {
		return nil, err
	}
	report, err := catalog.Inspect(ctx, conn, catalog.Want{
		Slot: c.cfg.Slot, Publication: c.cfg.Publication, Tables: c.tables, Checkpoint: checkpoint,
		ApplicationName: applicationName(c.cfg),
	})
	if err != nil {
		return nil, fmt.Errorf("inspect the server: %w", err)
	}
	if err := report.Err(); err != nil {
		return nil, holdFor(err)
	}
	if report.Slot.Active {
		return nil, &pipeline.BusyError{Slot: c.cfg.Slot, PID: report.Slot.ActivePID}
	}
	insert, err := catalog.InsertLSN(ctx, conn)
	if err != nil {
		return nil, err
	}
	tables := map[uint32]decoder.TableName{}
	for _, t := range report.Tables {
		tables[t.Relation.ID] = t.Name
	}
	return &seen{report.Slot, insert, tables}, nil
}

// session is a checked replication connection.
type session struct {
	*pgrepl.Session
	info pipeline.SessionInfo
}

func (s *session) Info() pipeline.SessionInfo { return s.info }

func (s *session) Close(ctx context.Context) { _ = s.Session.Close(ctx) }

func (s *session) Start(ctx context.Context, at decoder.LSN) (pipeline.Source, error) {
	stream, err := s.Session.Start(ctx, at)
	if err != nil {
		return nil, pipeline.JudgeConnect(err, s.info.Slot)
	}
	return stream, nil
}

// applicationName shows in pg_stat_replication and pg_stat_activity.
func applicationName(cfg *config.Config) string { return "outbox-cdc " + cfg.Name }
