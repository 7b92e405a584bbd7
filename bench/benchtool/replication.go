package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// replicate starts streaming the slot. The caller closes the connection.
func (s *slotFlags) replicate(ctx context.Context) (*pgconn.PgConn, error) {
	cfg, err := pgconn.ParseConfig(s.dsn + " replication=database")
	if err != nil {
		return nil, err
	}
	conn, err := pgconn.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	conn.Frontend().SendQuery(&pgproto3.Query{String: fmt.Sprintf(
		"START_REPLICATION SLOT %s LOGICAL 0/0 (proto_version '1', publication_names '%s')", s.slot, s.publication)})
	err = conn.Frontend().Flush()
	for err == nil {
		var message pgproto3.BackendMessage
		if message, err = conn.ReceiveMessage(ctx); err != nil {
			break
		}
		switch message := message.(type) {
		case *pgproto3.CopyBothResponse:
			return conn, nil
		case *pgproto3.ErrorResponse:
			err = pgconn.ErrorResponseToPgError(message)
		}
	}
	return nil, errors.Join(fmt.Errorf("stream slot %s: %w", s.slot, err), conn.Close(ctx))
}

// sendStatus says that we are alive and confirms nothing, so that the slot stays
// where it is. (Manual: Streaming Replication Protocol, Standby status update.)
func sendStatus(conn *pgconn.PgConn, written uint64) error {
	b := append(make([]byte, 0, 34), 'r')
	b = binary.BigEndian.AppendUint64(b, written)
	b = append(b, make([]byte, 16)...)
	since := time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).Microseconds()
	b = binary.BigEndian.AppendUint64(b, uint64(since)) //nolint:gosec // after 2000
	conn.Frontend().Send(&pgproto3.CopyData{Data: append(b, 0)})
	return conn.Frontend().Flush()
}

// readInserts gives the bytes of each INSERT to f, until f returns false. It
// looks at nothing else: it is the least that a reader in Go can do. It ends
// only with the connection, not with a context.
func readInserts(conn *pgconn.PgConn, f func(insert []byte) bool) error {
	const each = time.Second
	next := time.Now().Add(each)
	var position uint64
	for i := 0; ; i++ {
		message, err := conn.Frontend().Receive()
		if err != nil {
			return err
		}
		var asked bool
		switch m := message.(type) {
		case *pgproto3.ErrorResponse:
			return pgconn.ErrorResponseToPgError(m)
		case *pgproto3.CopyData:
			switch m.Data[0] {
			case 'w': // start(8) end(8) clock(8), then the plugin's message
				position = max(position, binary.BigEndian.Uint64(m.Data[1:]))
				if m.Data[25] == 'I' && !f(m.Data[25:]) {
					return nil
				}
			case 'k': // end(8) clock(8) reply(1)
				asked = m.Data[17] == 1
			}
		}
		// The clock costs more than a message does.
		if asked || i%1024 == 0 && time.Now().After(next) {
			if err := sendStatus(conn, position); err != nil {
				return err
			}
			next = time.Now().Add(each)
		}
	}
}

// firstColumn is the row's id in an INSERT of pgoutput: 'I', relation(4), 'N',
// columns(2), 't', length(4), text. (Manual: Logical Replication Message Formats.)
func firstColumn(insert []byte) (int64, error) {
	const head = 13
	if len(insert) < head || insert[8] != 't' {
		return 0, errors.New("an INSERT does not begin with a text column")
	}
	length := int(binary.BigEndian.Uint32(insert[9:]))
	if length > len(insert)-head {
		return 0, errors.New("an INSERT is cut off")
	}
	return strconv.ParseInt(string(insert[head:head+length]), 10, 64)
}
