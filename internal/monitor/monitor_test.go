package monitor

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/outbox-cdc/outbox-cdc/internal/catalog"
	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

var pool = pgtest.NewPool(pgtest.Options{})

func TestMain(m *testing.M) { goleak.VerifyTestMain(pool.Main(m)) }

// reading is one of a slot that keeps this many bytes.
func reading(confirmed, restart decoder.LSN, retained int64) *Reading {
	return &Reading{Slot: &catalog.Slot{ConfirmedFlush: confirmed + 1, Restart: restart + 1}, Insert: restart + 1 + decoder.LSN(retained)}
}

func TestReading(t *testing.T) {
	for _, tc := range []struct {
		title         string
		r             Reading
		lag, retained int64
		status        string
	}{
		{"behind", Reading{Slot: &catalog.Slot{ConfirmedFlush: 300, Restart: 100, WALStatus: "reserved"}, Insert: 1000}, 700, 900, "reserved"},
		{"ahead of what was read", Reading{Slot: &catalog.Slot{ConfirmedFlush: 300, Restart: 300, WALStatus: "reserved"}, Insert: 200}, 0, 0, "reserved"},
		{"gone", Reading{Insert: 1000}, 0, 0, "gone"},
		{"lost", Reading{Slot: &catalog.Slot{ConfirmedFlush: 300, WALStatus: "lost"}, Insert: 1000}, 700, 0, "lost"},
		{"invalidated", Reading{Slot: &catalog.Slot{ConfirmedFlush: 300, Restart: 100, WALStatus: "reserved", InvalidationReason: "idle_timeout"}, Insert: 1000}, 700, 0, "lost"},
	} {
		if lag, retained, status := tc.r.Lag(), tc.r.Retained(), tc.r.WALStatus(); lag != tc.lag || retained != tc.retained || status != tc.status {
			t.Errorf("%s: lag %d, retained %d, status %s", tc.title, lag, retained, status)
		}
	}
}

// watching is a monitor that runs.
type watching struct {
	*Monitor
	mu  sync.Mutex
	log strings.Builder
}

func (w *watching) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(b)
}

func (w *watching) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.String()
}

func watch(t *testing.T, url, slot string) *watching {
	t.Helper()
	w := &watching{}
	w.Monitor = New(Config{
		Dial: func(ctx context.Context) (*pgx.Conn, error) { return pgx.Connect(ctx, url) },
		Slot: slot, Interval: 20 * time.Millisecond, Log: slog.New(slog.NewTextHandler(w, nil)),
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); w.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return w
}

// until waits for a view that the condition holds for.
func (w *watching) until(t *testing.T, what string, holds func(v *View) bool) *View {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(20 * time.Second)
	for {
		if v := w.Last(); v != nil && holds(v) {
			return v
		}
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("%s does not happen: %+v\n%s", what, w.Last(), w.text())
		}
	}
}

// TestMonitor follows a slot through its life on a real server.
func TestMonitor(t *testing.T) {
	server := pgtest.Run(t, pgtest.Options{Settings: map[string]string{
		"max_slot_wal_keep_size": "64MB", "max_wal_size": "32MB", "min_wal_size": "32MB", "wal_keep_size": "0",
	}})
	db := server.NewDB(t)
	w := watch(t, db.URL(), "s")
	w.until(t, "there is no slot", func(v *View) bool { return v.WALStatus() == "gone" && v.Retained() == 0 })

	db.Exec(t, "SELECT pg_create_logical_replication_slot('s', 'pgoutput'); CREATE TABLE t (p text)")
	// While it is made its maker uses it.
	v := w.until(t, "the slot is there", func(v *View) bool { return v.WALStatus() == "reserved" && !v.Slot.Active })
	if v.WALLimit != 64<<20 || v.Limit != 64<<20 || v.SafeWAL <= 0 {
		t.Errorf("limit %d, safe %d, %+v", v.WALLimit, v.SafeWAL, v.Slot)
	}
	db.Exec(t, "INSERT INTO t SELECT repeat('x', 1000) FROM generate_series(1, 5000)")
	w.until(t, "lag and retained WAL grow", func(v *View) bool { return v.Lag() > 5_000_000 && v.Retained() >= v.Lag() })

	// Another session ends ours: it is said once, and the next look connects.
	db.Exec(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_is_in_recovery%' AND pid <> pg_backend_pid()")
	at := time.Now()
	w.until(t, "it looks again", func(v *View) bool { return v.At.After(at.Add(50 * time.Millisecond)) })
	if n := strings.Count(w.text(), "can't be looked at"); n != 1 || strings.Count(w.text(), "can be looked at again") != 1 {
		t.Errorf("said %d times:\n%s", n, w.text())
	}

	for range 8 {
		db.Exec(t, "INSERT INTO t SELECT repeat('x', 1000) FROM generate_series(1, 15000)")
		db.Exec(t, "SELECT pg_switch_wal()")
		db.Exec(t, "CHECKPOINT")
	}
	w.until(t, "the slot is lost", func(v *View) bool { return v.WALStatus() == "lost" && v.Retained() == 0 && v.Lag() > 64<<20 })
	db.Exec(t, "SELECT pg_drop_replication_slot('s')")
	w.until(t, "the slot is gone", func(v *View) bool { return v.WALStatus() == "gone" })
}

// TestMonitorOfAStandby: a standby's slots are not the primary's.
func TestMonitorOfAStandby(t *testing.T) {
	pair := pgtest.RunPair(t, pgtest.Options{})
	conn, err := pgx.Connect(t.Context(), pair.Standby.URL("postgres", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	if r, err := Read(t.Context(), conn, "s"); err == nil || !strings.Contains(err.Error(), "connect to the primary") {
		t.Errorf("read %+v, %v", r, err)
	}
}
