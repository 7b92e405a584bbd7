package app

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/outbox-cdc/outbox-cdc/internal/config"
	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl"
	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
	"github.com/outbox-cdc/outbox-cdc/internal/pipeline"
)

const tapWait = 30 * time.Second

// tapConfig is a configuration for a fresh outbox with a publication.
func tapConfig(t *testing.T, db *pgtest.DB, settings ...string) *config.Config {
	t.Helper()
	db.Exec(t, "CREATE TABLE outbox (id text, event_type text, partition_key text, payload text); ALTER TABLE outbox REPLICA IDENTITY FULL; CREATE PUBLICATION p FOR TABLE outbox")
	cfg, err := config.Load(append([]string{
		"OUTBOX_CDC_DATABASE_URL=" + db.URL(), "OUTBOX_CDC_TABLES=public.outbox", "OUTBOX_CDC_PUBLICATION=p",
		"OUTBOX_CDC_KAFKA_BROKERS=127.0.0.1:1", // nobody listens, and nobody asks
	}, settings...), Lint)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// shown is a line of output.
type shown struct {
	Route, Destination string
	Key, Value         *string
	Headers            []struct{ Name, Value string }
}

// tapping is a Tap that runs.
type tapping struct {
	t      *testing.T
	db     *pgtest.DB
	lines  *bufio.Scanner
	notes  chan string
	cancel context.CancelFunc
	done   chan error
}

// startTap returns when the slot is there. Output that nobody reads blocks.
func startTap(t *testing.T, db *pgtest.DB, cfg *config.Config, opts TapOptions) *tapping {
	t.Helper()
	read, write := io.Pipe()
	notes, note := io.Pipe()
	tp := &tapping{t: t, db: db, lines: bufio.NewScanner(read), notes: make(chan string, 100), done: make(chan error, 1)}
	ctx, cancel := context.WithTimeout(t.Context(), tapWait)
	tp.cancel = cancel
	tp.lines.Buffer(nil, 1<<20)
	go func() {
		defer close(tp.notes)
		for s := bufio.NewScanner(notes); s.Scan(); {
			tp.notes <- s.Text()
		}
	}()
	go func() {
		err := Tap(ctx, cfg, opts, write, note)
		_ = write.Close()
		_ = note.Close()
		tp.done <- err
	}()
	t.Cleanup(func() {
		cancel()
		_ = read.Close()
	})
	if first := <-tp.notes; !strings.Contains(first, `publication "p" inserted from now on`) {
		t.Fatalf("it begins with %q, %v", first, <-tp.done)
	}
	return tp
}

// next is the next line of output; nil at the end.
func (tp *tapping) next() *shown {
	tp.t.Helper()
	if !tp.lines.Scan() {
		return nil
	}
	s := new(shown)
	if err := json.Unmarshal(tp.lines.Bytes(), s); err != nil {
		tp.t.Fatalf("%s: %v", tp.lines.Bytes(), err)
	}
	return s
}

// end waits for the end, returns the last note, and sees to it that no slot is
// left.
func (tp *tapping) end() (last string) {
	tp.t.Helper()
	for s := tp.next(); s != nil; s = tp.next() {
		tp.t.Errorf("one more line: %+v", s)
	}
	if err := <-tp.done; err != nil {
		tp.t.Errorf("Tap = %v", err)
	}
	for note := range tp.notes {
		last = note
	}
	tp.noSlot()
	return last
}

// noSlot waits until the server has removed the slot.
func (tp *tapping) noSlot() {
	tp.t.Helper()
	query := "SELECT count(*) FROM pg_replication_slots WHERE slot_name LIKE 'outbox_cdc_tap_%' AND database = '" + tp.db.Name + "'"
	ctx, cancel := context.WithTimeout(tp.t.Context(), tapWait)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for tp.db.Text(tp.t, query) != "0" {
		select {
		case <-tick.C:
		case <-ctx.Done():
			tp.t.Fatal("the slot is still there")
		}
	}
}

func TestTapShowsWhatTheRulesMake(t *testing.T) {
	for _, major := range pgtest.Majors() {
		t.Run(strconv.Itoa(major), func(t *testing.T) {
			db := pool.Server(t, major).NewDB(t)
			cfg := tapConfig(t, db, `OUTBOX_CDC_ROUTES=
				order.* -> kafka:orders, stdout
				noise -> drop
				user.* -> kafka:users key={id}`)
			db.Exec(t, "SELECT pg_create_logical_replication_slot('s_"+db.Name+"', 'pgoutput')")
			const position = "SELECT string_agg(concat(slot_name, confirmed_flush_lsn, restart_lsn), ' ') FROM pg_replication_slots WHERE NOT temporary"
			before := db.Text(t, position)
			db.Exec(t, "INSERT INTO outbox VALUES ('0', 'order.made', 'k', 'before the tap')")
			tp := startTap(t, db, cfg, TapOptions{})
			db.Exec(t, `INSERT INTO outbox VALUES ('1', 'order.made', NULL, '{"a": 1}'), ('2', 'noise', 'k', 'x'), ('3', 'other', 'k', 'no rule')`)
			db.Exec(t, `BEGIN; INSERT INTO outbox VALUES ('4', 'user.made', 'k', 'taken back'); ROLLBACK; UPDATE outbox SET payload = 'y'`)
			db.Exec(t, `INSERT INTO outbox VALUES ('5', 'user.made', 'k', 'u')`)
			for _, want := range []string{"kafka:orders", "stdout"} {
				s := tp.next()
				if s == nil || s.Destination != want || s.Key != nil || *s.Value != `{"a": 1}` || s.Headers[0].Name != "event-id" || s.Headers[0].Value != "1" {
					t.Fatalf("got %+v, want event 1 for %s", s, want)
				}
			}
			if s := tp.next(); s == nil || s.Destination != "kafka:users" || *s.Key != "5" || s.Route != "user.*" {
				t.Errorf("got %+v, want event 5 by the rule user.*", s)
			}
			tp.cancel() // Ctrl-C
			if last := tp.end(); last != "tap: 3 records of 4 events; 1 events dropped by a rule, 1 that can't be delivered" {
				t.Errorf("it ends with %q", last)
			}
			if after := db.Text(t, position); after != before {
				t.Errorf("slots were at %s and are at %s", before, after)
			}
		})
	}
}

func TestTapEndsByItself(t *testing.T) {
	db := pool.NewDB(t)
	cfg := tapConfig(t, db, "OUTBOX_CDC_ROUTES=* -> kafka:a, kafka:b")
	tp := startTap(t, db, cfg, TapOptions{Limit: 3})
	db.Exec(t, "INSERT INTO outbox SELECT i, 't', 'k', 'v' FROM generate_series(1, 1000) i")
	for range 3 {
		if tp.next() == nil {
			t.Fatal("too few lines")
		}
	}
	if last := tp.end(); !strings.HasPrefix(last, "tap: 3 records of 2 events;") {
		t.Errorf("it ends with %q", last)
	}
	begin := time.Now()
	tp = startTap(t, db, cfg, TapOptions{For: 100 * time.Millisecond})
	if last := tp.end(); !strings.HasPrefix(last, "tap: 0 records of 0 events;") || time.Since(begin) < 100*time.Millisecond {
		t.Errorf("after %v it ends with %q", time.Since(begin), last)
	}
}

func TestTapTellsOfWhatWouldHalt(t *testing.T) {
	db := pool.NewDB(t)
	cfg := tapConfig(t, db, "OUTBOX_CDC_ROUTES=* -> kafka:a", "OUTBOX_CDC_MAX_EVENT_BYTES=100KiB")
	tp := startTap(t, db, cfg, TapOptions{})
	db.Exec(t, "INSERT INTO outbox VALUES (repeat('i', 1000), 't', 'k', NULL), ('2', NULL, 'k', 'CANARY'), ('3', 't', 'k', repeat('x', 200000)), ('4', 't', 'k', 'good')")
	for _, want := range [][2]string{
		{`event "` + strings.Repeat("i", 128) + `" at `, "the payload is NULL"},
		{`event "2" at `, "event type is empty or NULL"},
		{"a row of table public.outbox at ", "above OUTBOX_CDC_MAX_EVENT_BYTES: the stream would halt"},
	} {
		note := <-tp.notes
		if !strings.Contains(note, want[0]) || !strings.Contains(note, want[1]) || strings.Contains(note, "CANARY") {
			t.Errorf("note %q, want %q and %q", note, want[0], want[1])
		}
	}
	if s := tp.next(); s == nil || *s.Value != "good" {
		t.Errorf("got %+v", s)
	}
	tp.cancel()
	if last := tp.end(); !strings.HasSuffix(last, "1 records of 4 events; 0 events dropped by a rule, 3 that can't be delivered") {
		t.Errorf("it ends with %q", last)
	}
}

// TestTapHoldsNothingWhileItsOutputBlocks: a terminal that was stopped, or a
// pager that waits, must not keep WAL.
func TestTapHoldsNothingWhileItsOutputBlocks(t *testing.T) {
	db := pool.NewDB(t)
	cfg := tapConfig(t, db, "OUTBOX_CDC_ROUTES=* -> kafka:a")
	cfg.Database.WALSenderTimeout = time.Second
	tp := startTap(t, db, cfg, TapOptions{})
	db.Exec(t, "INSERT INTO outbox SELECT i, 't', 'k', repeat('x', 1000) FROM generate_series(1, 1000) i")
	tp.noSlot()
	// The last line may be cut: the output ended with the session.
	lines := 0
	for tp.lines.Scan() {
		lines++
	}
	if err := <-tp.done; err == nil || lines == 0 {
		t.Errorf("after %d lines Tap = %v, want the end of the stream", lines, err)
	}
}

func TestTapNeedsAPublication(t *testing.T) {
	for _, major := range []int{17, 18} {
		db := pool.Server(t, major).NewDB(t)
		cfg := tapConfig(t, db, "OUTBOX_CDC_ROUTES=* -> kafka:a")
		tp := startTap(t, db, cfg, TapOptions{})
		db.Exec(t, "DROP PUBLICATION p; INSERT INTO outbox VALUES ('1', 't', 'k', 'v')")
		if s := tp.next(); s != nil {
			t.Errorf("%d: got %+v", major, s)
		}
		if err := <-tp.done; err == nil || !strings.Contains(err.Error(), `publication "p" does not exist`) && !strings.Contains(err.Error(), "skipped loading publication") {
			t.Errorf("%d: dropped meanwhile: %v", major, err)
		}
		tp.noSlot()
		err := Tap(t.Context(), cfg, TapOptions{}, io.Discard, io.Discard)
		var hold *pipeline.HoldError
		if !errors.As(err, &hold) || !strings.Contains(hold.Reason, "publication.exists p") || strings.Contains(hold.Reason, "slot.") {
			t.Errorf("%d: missing from the start: %v", major, err)
		}
	}
}

func TestTapNamesWhoHoldsUpItsSlot(t *testing.T) {
	db := pool.NewDB(t)
	cfg := tapConfig(t, db, "OUTBOX_CDC_ROUTES=* -> kafka:a")
	open := db.Conn(t)
	if _, err := open.Exec(t.Context(), "BEGIN; INSERT INTO outbox VALUES ('1')"); err != nil {
		t.Fatal(err)
	}
	cc, err := pgx.ParseConfig(db.URL())
	if err != nil {
		t.Fatal(err)
	}
	s, err := pgrepl.Connect(t.Context(), pgrepl.Config{Conn: &cc.Config, Slot: "outbox_cdc_tap_" + db.Name, Publication: "p", MaxMessage: 1000})
	if err != nil {
		t.Fatal(err)
	}
	pid := "pid " + strconv.Itoa(int(open.PgConn().PID()))
	if err := makeTapSlot(t.Context(), s, cc, 100*time.Millisecond); err == nil || !strings.Contains(err.Error(), "did not end within 100ms: ") || !strings.Contains(err.Error(), pid) {
		t.Errorf("makeTapSlot = %v, want %s named", err, pid)
	}
	_ = s.Close(t.Context())
	// Ctrl-C while it waits is an orderly end.
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := Tap(ctx, cfg, TapOptions{}, io.Discard, io.Discard); err != nil {
		t.Errorf("Tap = %v", err)
	}
	(&tapping{t: t, db: db}).noSlot()
}

func TestTapOfAServerThatStops(t *testing.T) {
	server := pgtest.Run(t, pgtest.Options{})
	db := server.NewDB(t)
	tp := startTap(t, db, tapConfig(t, db, "OUTBOX_CDC_ROUTES=* -> kafka:a"), TapOptions{})
	ctx, cancel := context.WithTimeout(t.Context(), tapWait)
	defer cancel()
	if err := server.Stop(ctx, pgtest.Fast); err != nil {
		t.Fatalf("the tap holds up the shutdown: %v", err)
	}
	if s := tp.next(); s != nil {
		t.Errorf("got %+v", s)
	}
	// A walsender that has not got under way yet ends with an error instead.
	if err := <-tp.done; !errors.Is(err, pgrepl.ErrServerDone) && (err == nil || !strings.Contains(err.Error(), "57P01")) {
		t.Errorf("Tap = %v, want %v", err, pgrepl.ErrServerDone)
	}
}
