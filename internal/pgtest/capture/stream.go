package main

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

const slot = "capture"

// play runs the script and returns the statements and messages in text.
func play(ctx context.Context, url string) (text []byte, err error) {
	sql, err := pgconn.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sql.Close(ctx)) }()
	if _, err := sql.Exec(ctx, setup).ReadAll(); err != nil {
		return nil, fmt.Errorf("set-up: %w", err)
	}
	stream, err := createSlot(ctx, url)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stream.Close(ctx)) }()
	if _, err := sql.Exec(ctx, backlog).ReadAll(); err != nil {
		return nil, fmt.Errorf("backlog: %w", err)
	}
	err = pglogrepl.StartReplication(ctx, stream, slot, 0, pglogrepl.StartReplicationOptions{
		Mode:       pglogrepl.LogicalReplication,
		PluginArgs: []string{"proto_version '1'", "publication_names 'everything'", "messages 'true'"},
	})
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	for _, s := range append([]step{{written: backlog, sql: `SELECT 1`}}, script...) {
		if s.written == "" {
			s.written = s.sql
		}
		for line := range strings.SplitSeq(strings.TrimSpace(s.written), "\n") {
			fmt.Fprintf(&b, "> %s\n", strings.TrimSpace(line))
		}
		end, err := s.run(ctx, sql)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.sql, err)
		}
		if err := readTo(ctx, stream, end, &b); err != nil {
			return nil, fmt.Errorf("read what %s led to: %w", s.sql, err)
		}
	}
	return []byte(b.String()), nil
}

// run executes a statement and returns the log's end after it.
func (s step) run(ctx context.Context, sql *pgconn.PgConn) (pglogrepl.LSN, error) {
	var err error
	if s.copy != "" {
		_, err = sql.CopyFrom(ctx, strings.NewReader(s.copy), s.sql)
	} else {
		_, err = sql.Exec(ctx, s.sql).ReadAll()
	}
	if err != nil {
		return 0, err
	}
	// The last statement may have written without waiting for the disk; this
	// commit waits, and the log's end before it is what we are after.
	rows, err := sql.Exec(ctx, `SELECT pg_current_wal_insert_lsn(); CREATE TEMP TABLE flush_now(); DROP TABLE flush_now`).ReadAll()
	if err != nil {
		return 0, err
	}
	return pglogrepl.ParseLSN(string(rows[0].Rows[0][0]))
}

// createSlot opens a replication connection with a slot, and with small memory
// for transactions, so that a big one is spilled.
func createSlot(ctx context.Context, url string) (*pgconn.PgConn, error) {
	config, err := pgconn.ParseConfig(url + "&replication=database")
	if err != nil {
		return nil, err
	}
	config.RuntimeParams["options"] = "-c timezone=UTC -c datestyle=ISO -c intervalstyle=postgres" +
		" -c extra_float_digits=1 -c bytea_output=hex -c logical_decoding_work_mem=64kB"
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	_, err = pglogrepl.CreateReplicationSlot(ctx, conn, slot, "pgoutput",
		pglogrepl.CreateReplicationSlotOptions{Temporary: true, Mode: pglogrepl.LogicalReplication})
	if err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	return conn, nil
}

// readTo writes messages until the server has decoded the log up to end.
func readTo(ctx context.Context, conn *pgconn.PgConn, end pglogrepl.LSN, b *strings.Builder) error {
	const xlogHeader = 1 + 8 + 8 + 8
	for {
		status := pglogrepl.StandbyStatusUpdate{WALWritePosition: end, ReplyRequested: true}
		if err := pglogrepl.SendStandbyStatusUpdate(ctx, conn, status); err != nil {
			return err
		}
		for asking := true; asking; {
			msg, err := conn.ReceiveMessage(ctx)
			if err != nil {
				return err
			}
			switch msg := msg.(type) {
			case *pgproto3.CopyData:
				switch msg.Data[0] {
				case pglogrepl.XLogDataByteID:
					b.WriteString(hex.EncodeToString(msg.Data[xlogHeader:]) + "\n")
				case pglogrepl.PrimaryKeepaliveMessageByteID:
					if pglogrepl.LSN(binary.BigEndian.Uint64(msg.Data[1:])) >= end {
						return nil
					}
					asking = false
				}
			case *pgproto3.ErrorResponse:
				return pgconn.ErrorResponseToPgError(msg)
			}
		}
	}
}
