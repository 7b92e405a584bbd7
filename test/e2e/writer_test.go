package e2e

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// insertRows adds, for each key, the rows from..to in one transaction. An id
// ends with the row's number, so that the ids of a key sort in commit order as
// long as one writer at a time owns the key.
const insertRows = `INSERT INTO app.outbox
	SELECT k || ':' || lpad(g::text, 8, '0'), 'E', k, jsonb_build_object('n', g, 'pad', repeat('x', $4::int))
	  FROM generate_series($1::int, $2::int) g, unnest($3::text[]) k`

// insert commits one transaction and returns a position that is at or above
// the end of its commit.
func (r *rig) insert(from, to int, keys ...string) decoder.LSN {
	r.tb.Helper()
	conn := r.db.Conn(r.tb)
	if _, err := conn.Exec(r.tb.Context(), insertRows, from, to, keys, 100); err != nil {
		r.tb.Fatal(err)
	}
	return r.end()
}

// noise writes about a kilobyte of WAL for each row, none of it published.
func (r *rig) noise(rows int) {
	r.tb.Helper()
	r.db.Exec(r.tb, fmt.Sprintf("INSERT INTO app.noise SELECT g, repeat('y', 1000) FROM generate_series(1, %d) g", rows))
}

// load is a writer in the background: transactions of a few rows, at a pace. It
// goes on through losses of its session.
type load struct {
	tb     testing.TB
	cancel context.CancelFunc
	done   sync.WaitGroup
	// committed counts transactions of which the commit was seen.
	committed atomic.Int64
}

// startLoad writes a transaction with rows rows for each of the keys, every
// pause, until stopped.
func (r *rig) startLoad(pause time.Duration, rows int, keys ...string) *load {
	ctx, cancel := context.WithCancel(r.tb.Context())
	l := &load{tb: r.tb, cancel: cancel}
	l.done.Go(func() {
		from := 1
		for ctx.Err() == nil {
			from = l.session(ctx, r.db.URL(), pause, from, rows, keys)
			<-time.After(glance)
		}
	})
	r.tb.Cleanup(l.stop)
	return l
}

// session writes until its connection fails, and returns the next number.
// A transaction whose commit was not seen may have been committed: its numbers
// are not used again.
func (l *load) session(ctx context.Context, url string, pause time.Duration, from, rows int, keys []string) int {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return from
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for ; ctx.Err() == nil; <-tick.C {
		_, err := conn.Exec(context.WithoutCancel(ctx), insertRows, from, from+rows-1, keys, 100)
		from += rows
		if err != nil {
			return from
		}
		l.committed.Add(1)
	}
	return from
}

// stop ends the writer; what it has committed is in the table.
func (l *load) stop() {
	l.cancel()
	l.done.Wait()
}

// more waits until the writer has committed n more transactions.
func (l *load) more(n int64) {
	l.tb.Helper()
	want := l.committed.Load() + n
	eventually(l.tb, patience, "the writer goes on", func(context.Context) (bool, any) {
		have := l.committed.Load()
		return have >= want, have
	})
}
