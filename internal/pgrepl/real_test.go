package pgrepl

import (
	"context"
	"encoding/binary"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// someMajors are the oldest and newest, and the one between that most run.
func someMajors() []int { return []int{14, 17, 18} }

// forMajors runs a test on each, at the same time.
func forMajors(t *testing.T, test func(t *testing.T, db *pgtest.DB)) {
	t.Helper()
	for _, major := range someMajors() {
		t.Run(strconv.Itoa(major), func(t *testing.T) {
			test(t, pool.Server(t, major).NewDB(t))
		})
	}
}

// prepare makes the table o, its publication and a slot that is named as the
// database; slots are the server's, not the database's.
func prepare(tb testing.TB, db *pgtest.DB, publication string) Config {
	tb.Helper()
	db.Exec(tb, "CREATE TABLE o (id int PRIMARY KEY, body text); CREATE PUBLICATION "+quoteIdent(publication)+" FOR TABLE o")
	db.Exec(tb, "SELECT pg_create_logical_replication_slot('"+db.Name+"', 'pgoutput')")
	cfg := config(tb, db.URL())
	cfg.Slot, cfg.Publication = db.Name, publication
	return cfg
}

// eventually polls a query for a value.
func eventually(tb testing.TB, db *pgtest.DB, query, want string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), longWait)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	got := db.Text(tb, query)
	for ; got != want; got = db.Text(tb, query) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			tb.Fatalf("%s stays %q, want %q", query, got, want)
		}
	}
}

// released waits until nobody uses the slot.
func released(tb testing.TB, db *pgtest.DB) {
	tb.Helper()
	eventually(tb, db, "SELECT active FROM pg_replication_slots WHERE slot_name = '"+db.Name+"'", "false")
}

func confirmed(tb testing.TB, db *pgtest.DB) string {
	tb.Helper()
	return db.Text(tb, "SELECT confirmed_flush_lsn FROM pg_replication_slots WHERE slot_name = '"+db.Name+"'")
}

// transaction reads up to a Commit: the kinds of the messages, the Inserts'
// bytes, and where it ends.
func transaction(tb testing.TB, s *Stream) (kinds string, rows []string, end decoder.LSN) {
	tb.Helper()
	for {
		f := next(tb, s)
		if f.Kind == FrameKeepalive {
			continue
		}
		if f.Kind != FrameData {
			tb.Fatalf("unexpected frame %+v", f)
		}
		kinds += string(f.Data[:1])
		switch f.Data[0] {
		case 'I':
			rows = append(rows, string(f.Data))
		case 'C': // flags, commit LSN, end LSN
			return kinds, rows, decoder.LSN(binary.BigEndian.Uint64(f.Data[10:]))
		}
	}
}

// confirm sends a status and waits until the server has taken it.
func confirm(tb testing.TB, s *Stream, st Status) {
	tb.Helper()
	st.Reply = true
	if err := s.SendStatus(st); err != nil {
		tb.Fatal(err)
	}
	for f := next(tb, s); f.Kind != FrameKeepalive; f = next(tb, s) {
	}
}

func TestStreamFromARealServer(t *testing.T) {
	forMajors(t, func(t *testing.T, db *pgtest.DB) {
		t.Helper()
		cfg := prepare(t, db, "p")
		cfg.SenderTimeout = 31 * time.Second
		session := connect(t, cfg)
		id := session.Identity
		if want := db.Text(t, "SELECT system_identifier FROM pg_control_system()"); id.SystemID != want || id.Timeline != 1 || id.Database != db.Name || id.Flush == 0 {
			t.Errorf("Identity = %+v, want system %s", id, want)
		}
		if session.SenderTimeout != cfg.SenderTimeout {
			t.Errorf("SenderTimeout = %v", session.SenderTimeout)
		}
		if got := db.Text(t, "SELECT application_name FROM pg_stat_replication WHERE pid = "+strconv.Itoa(int(session.PID))); got != cfg.ApplicationName {
			t.Errorf("application_name %q of pid %d", got, session.PID)
		}
		s, err := session.Start(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		db.Exec(t, "INSERT INTO o VALUES (1, 'payload')")
		kinds, rows, end := transaction(t, s)
		if kinds != "BRIC" || !strings.HasSuffix(rows[0], "t\x00\x00\x00\x011t\x00\x00\x00\x07payload") {
			t.Errorf("got %s %q", kinds, rows)
		}
		was := confirmed(t, db)
		confirm(t, s, Status{Write: end + 1000})
		if got := confirmed(t, db); got != was {
			t.Errorf("a flush of 0 moved the slot from %s to %s", was, got)
		}
		confirm(t, s, Status{Write: end + 1000, Flush: end})
		if got := confirmed(t, db); got != end.String() {
			t.Errorf("the slot is at %s, want %v", got, end)
		}
		db.Exec(t, "INSERT INTO o VALUES (2, 'again')")
		_, _, end = transaction(t, s)
		if err := s.Finish(Status{Write: end, Flush: end}, soon()); err != nil {
			t.Error(err)
		}
		if got := confirmed(t, db); got != end.String() {
			t.Errorf("Finish left the slot at %s, want %v", got, end)
		}
	})
}

func TestPinnedSettings(t *testing.T) {
	forMajors(t, func(t *testing.T, db *pgtest.DB) {
		t.Helper()
		cfg := prepare(t, db, "p")
		role := db.Name + "_r"
		var alter strings.Builder
		alter.WriteString("CREATE ROLE " + role + " LOGIN REPLICATION")
		hostile := map[string]string{
			"datestyle": "German, DMY", "intervalstyle": "iso_8601", "timezone": "Asia/Tokyo",
			"extra_float_digits": "-5", "bytea_output": "escape", "client_encoding": "LATIN1", "client_min_messages": "error",
			"statement_timeout": "1min", "lock_timeout": "1min", "idle_session_timeout": "1min",
			"idle_in_transaction_session_timeout": "1min",
		}
		limit := "datestyle intervalstyle timezone extra_float_digits"
		address, err := url.Parse(db.Server.URL(db.Name, role))
		if err != nil {
			t.Fatal(err)
		}
		query := address.Query()
		options := []string{"-c work_mem=1234kB"}
		for name, value := range hostile {
			for _, whose := range []string{"ROLE " + role, "DATABASE " + db.Name} {
				alter.WriteString("; ALTER " + whose + " SET " + name + " = '" + value + "'")
			}
			if strings.Contains(limit, name) {
				query.Set(strings.ToUpper(name), value)
			}
			options = append(options, "-c "+name+"="+strings.ReplaceAll(value, " ", `\ `))
		}
		db.Exec(t, alter.String())
		query.Set("options", strings.Join(options, " "))
		query.Set("replication", "no")
		query.Set("application_name", "somebody else")
		address.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20") // as libpq wants it

		pinned := config(t, address.String())
		pinned.Slot, pinned.Publication = cfg.Slot, cfg.Publication
		pinned.SenderTimeout, pinned.DecodingWorkMem = 43*time.Second, 5<<20
		session := connect(t, pinned)
		for name, want := range map[string]string{
			"client_encoding": "UTF8", "DateStyle": "ISO", "IntervalStyle": "postgres", "TimeZone": "UTC",
			"extra_float_digits": "1", "bytea_output": "hex", "client_min_messages": "warning",
			"statement_timeout": "0", "lock_timeout": "0", "idle_session_timeout": "0", "idle_in_transaction_session_timeout": "0",
			"wal_sender_timeout": "43s", "logical_decoding_work_mem": "5MB",
			"work_mem": "1234kB", "application_name": pinned.ApplicationName,
		} {
			res, err := session.conn.Exec(t.Context(), "SHOW "+name).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			// What DateStyle says of the order of input is nobody's business.
			if got := strings.TrimSuffix(string(res[0].Rows[0][0]), ", DMY"); strings.TrimSuffix(got, ", MDY") != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		db.Exec(t, `ALTER TABLE o ADD f float8, ADD d timestamptz, ADD i interval, ADD b bytea`)
		db.Exec(t, `INSERT INTO o VALUES (1, U&'\00e4\20ac', 0.1::float8 + 0.2, '2026-02-03 04:05:06.7+09', '1 day 2 hours', '\x0001ff')`)
		s, err := session.Start(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		_, rows, _ := transaction(t, s)
		for len(rows) == 0 { // older servers send the empty transactions of DDL
			_, rows, _ = transaction(t, s)
		}
		for _, want := range []string{"ä€", "0.30000000000000004", "2026-02-02 19:05:06.7+00", "1 day 02:00:00", `\x0001ff`} {
			if !strings.Contains(rows[0], want) {
				t.Errorf("no %q in %q", want, rows[0])
			}
		}
	})
}

func TestOddNames(t *testing.T) {
	for _, publication := range []string{`we"ird 'name`, "MixedCase", "a,b", `back\slash`, "ünï", "select", " "} {
		db := pool.NewDB(t)
		cfg := prepare(t, db, publication)
		s := start(t, cfg, 0)
		db.Exec(t, "INSERT INTO o VALUES (1, 'payload')")
		if kinds, _, _ := transaction(t, s); kinds != "BRIC" {
			t.Errorf("publication %q: got %s", publication, kinds)
		}
		s.Close()
	}
}

func TestStartIsRefused(t *testing.T) {
	db := pool.NewDB(t)
	cfg := prepare(t, db, "p")
	start(t, cfg, 0)
	for code, slot := range map[string]string{"42704": "no_such_slot", "55006": cfg.Slot} {
		cfg.Slot = slot
		_, err := connect(t, cfg).Start(t.Context(), 0)
		var pgErr *pgconn.PgError
		if !errors.As(err, &pgErr) || pgErr.Code != code || !strings.HasPrefix(err.Error(), `start replication on slot "`+slot+`": `) {
			t.Errorf("slot %s: %v, want SQLSTATE %s", slot, err, code)
		}
	}
	// One that can't be reached, and one that is no replication role.
	cfg.Conn.Port = 1
	if _, err := Connect(t.Context(), cfg); err == nil || !strings.HasPrefix(err.Error(), "open the replication connection: ") {
		t.Errorf("nobody listens: %v", err)
	}
}

func TestStartAboveConfirmed(t *testing.T) {
	forMajors(t, func(t *testing.T, db *pgtest.DB) {
		t.Helper()
		cfg := prepare(t, db, "p")
		s := start(t, cfg, 0)
		db.Exec(t, "INSERT INTO o VALUES (1, 'first')")
		_, _, end := transaction(t, s)
		db.Exec(t, "INSERT INTO o VALUES (2, 'second')")
		transaction(t, s)
		s.Close()
		released(t, db)
		was := confirmed(t, db)
		s = start(t, cfg, end)
		if _, rows, _ := transaction(t, s); len(rows) != 1 || !strings.HasSuffix(rows[0], "second") {
			t.Errorf("from %v: %q", end, rows)
		}
		confirm(t, s, Status{Write: end})
		if got := confirmed(t, db); got != was {
			t.Errorf("starting at %v moved the slot from %s to %s", end, was, got)
		}
	})
}

// TestMissingPublication: 14 to 17 refuse, 18 warns, skips the rows and goes on.
func TestMissingPublication(t *testing.T) {
	forMajors(t, func(t *testing.T, db *pgtest.DB) {
		t.Helper()
		cfg := prepare(t, db, "p")
		role := db.Name + "_r"
		db.Exec(t, "CREATE ROLE "+role+" LOGIN REPLICATION; ALTER ROLE "+role+" SET client_min_messages = error")
		cfg.Conn.User = role
		s := start(t, cfg, 0)
		db.Exec(t, "DROP PUBLICATION p; INSERT INTO o VALUES (1, 'lost')")
		var notice *pgconn.Notice
		var err error
		for deadline := soon(); err == nil && notice == nil; {
			var f Frame
			f, err = s.Next(deadline)
			notice = f.Notice
			if f.Kind == FrameNone {
				t.Fatal("the server says nothing")
			}
		}
		var pgErr *pgconn.PgError
		switch {
		case db.Server.Major() < 18:
			if !errors.As(err, &pgErr) || pgErr.Code != "42704" {
				t.Errorf("got %v and %+v, want SQLSTATE 42704", err, notice)
			}
		case notice == nil || notice.Code != "55000" || notice.SeverityUnlocalized != "WARNING":
			t.Errorf("got %v and %+v, want a warning", err, notice)
		}
	})
}

func TestOversizedRowFromARealServer(t *testing.T) {
	db := pool.NewDB(t)
	s := start(t, prepare(t, db, "p"), 0)
	db.Exec(t, "INSERT INTO o VALUES (1, repeat('x', 20000000)), (2, 'after')")
	var tooLarge Frame
	for f := next(t, s); ; f = next(t, s) {
		if f.Kind == FrameTooLarge {
			tooLarge = f
		}
		if f.Kind == FrameData && f.Data[0] == 'I' {
			if !strings.HasSuffix(string(f.Data), "after") {
				t.Errorf("the next row is %q", f.Data)
			}
			break
		}
	}
	if tooLarge.Size < 20_000_000 || len(tooLarge.Data) != headKept-xlogHeader || tooLarge.Data[0] != 'I' {
		t.Errorf("Size %d, %d bytes kept", tooLarge.Size, len(tooLarge.Data))
	}
}
