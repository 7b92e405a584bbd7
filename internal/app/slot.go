package app

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/outbox-cdc/outbox-cdc/internal/catalog"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// dial opens an ordinary connection.
func (c *connector) dial(ctx context.Context) (*pgx.Conn, error) {
	cc, err := c.cfg.Database.ConnConfig()
	if err != nil {
		return nil, err
	}
	return pgx.ConnectConfig(ctx, cc)
}

var errNobody = errors.New("nobody streams from the slot: the session has ended")

// readSlot reads the slot's row over a connection of its own; nil for none.
func (c *connector) readSlot(ctx context.Context) (*catalog.Slot, error) {
	conn, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	return catalog.ReadSlot(ctx, conn, c.cfg.Slot)
}

// statsDelay is for how long PostgreSQL 14 may still show the statistics of a
// slot that was dropped, under the name of the one that was made again: backends
// read a file that may be half a second old (PGSTAT_STAT_INTERVAL). From 15 on
// they are in shared memory.
const statsDelay = "0.7"

// decoded is how many transactions the server has decoded for the slot; 0 or
// less where that is not known.
func (c *connector) decoded(ctx context.Context) (int64, error) {
	conn, err := c.dial(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, "SELECT CASE WHEN current_setting('server_version_num')::int < 150000 THEN pg_sleep("+statsDelay+") END"); err != nil {
		return 0, err
	}
	slot, err := catalog.ReadSlot(ctx, conn, c.cfg.Slot)
	if slot == nil {
		return 0, err
	}
	return slot.Transactions, err
}

// ownsSlot asks whether the slot is in use by the walsender with this process
// id. That nobody uses it is an error: then our session has ended, and nobody
// has taken over what we still have.
func (c *connector) ownsSlot(ctx context.Context, pid uint32) (bool, error) {
	slot, err := c.readSlot(ctx)
	if err != nil {
		return false, err
	}
	if slot == nil || !slot.Active {
		return false, errNobody
	}
	return uint32(slot.ActivePID) == pid, nil //nolint:gosec // G115: a process id
}

// walEnd is where the WAL of the server ends on which the walsender with this
// process id streams the slot.
func (c *connector) walEnd(ctx context.Context, pid uint32) (decoder.LSN, error) {
	conn, err := c.dial(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	slot, err := catalog.ReadSlot(ctx, conn, c.cfg.Slot)
	if err != nil {
		return 0, err
	}
	if slot == nil || !slot.Active || uint32(slot.ActivePID) != pid { //nolint:gosec // G115: a process id
		return 0, errNobody // it may be another server, after a failover
	}
	return catalog.InsertLSN(ctx, conn)
}

// cannotConnectNow is the SQLSTATE of a server that starts, stops or recovers.
const cannotConnectNow = "57P03"

// serverStopping tells whether the server refuses connections because it is
// shutting down. While a session streams that is the only reason there is: a
// server that starts or recovers has no session yet.
func (c *connector) serverStopping(ctx context.Context) bool {
	conn, err := c.dial(ctx)
	if err == nil {
		_ = conn.Close(ctx)
		return false
	}
	var server *pgconn.PgError
	return errors.As(err, &server) && server.Code == cannotConnectNow
}
