package main

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// walsender finds the server processes that served the slot, one after another,
// and adds up their CPU time. A process that has ended keeps its last reading. A
// nil walsender reads 0. Not safe for concurrent use.
type walsender struct {
	conn *pgx.Conn
	slot string
	pid  int
	last map[int]int64
}

// dialWalsender returns nil when there is no server to ask.
func dialWalsender(ctx context.Context, s slotFlags) (*walsender, error) {
	if s.dsn == "" {
		return nil, nil //nolint:nilnil // a nil walsender is of use
	}
	conn, err := pgx.Connect(ctx, s.dsn)
	if err != nil {
		return nil, err
	}
	return &walsender{conn: conn, slot: s.slot, last: map[int]int64{}}, nil
}

func (w *walsender) close(ctx context.Context) {
	if w != nil {
		_ = w.conn.Close(context.WithoutCancel(ctx))
	}
}

// ms reads the CPU time. It asks the server for the process until it knows one,
// and again when look is set, which itself costs the server a little.
func (w *walsender) ms(ctx context.Context, look bool) int64 {
	if w == nil {
		return 0
	}
	if look || w.pid == 0 {
		var pid *int
		row := w.conn.QueryRow(ctx, "SELECT active_pid FROM pg_replication_slots WHERE slot_name = $1", w.slot)
		if err := row.Scan(&pid); err == nil && pid != nil {
			w.pid = *pid
		}
	}
	if w.pid != 0 {
		if ms, running := cpuMS(w.pid); running {
			w.last[w.pid] = ms
		}
	}
	var sum int64
	for _, ms := range w.last {
		sum += ms
	}
	return sum
}
