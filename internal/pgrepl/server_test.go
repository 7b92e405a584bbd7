package pgrepl

import (
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
)

// startFull opens a stream whose server has data to send at once, and reads it.
func startFull(tb testing.TB, db *pgtest.DB, cfg Config, round int) *Stream {
	tb.Helper()
	db.Exec(tb, "INSERT INTO o SELECT "+strconv.Itoa(round)+" * 1000 + i, 'row ' || i FROM generate_series(1, 20) i")
	released(tb, db)
	s := start(tb, cfg, 0)
	kinds, rows, end := transaction(tb, s)
	if kinds != "BR"+strings.Repeat("I", 20)+"C" || !strings.HasSuffix(rows[19], "row 20") {
		tb.Fatalf("round %d: got %s %q", round, kinds, rows)
	}
	if err := s.Finish(Status{Write: end, Flush: end}, soon()); err != nil {
		tb.Fatal(err)
	}
	return s
}

// TestNothingIsReadAhead: what follows CopyBothResponse at once is the stream's.
func TestNothingIsReadAhead(t *testing.T) {
	db := pool.NewDB(t)
	cfg := prepare(t, db, "p")
	for round := range 50 {
		startFull(t, db, cfg, round)
	}
}

// TestPasswordAndTLS does the same over TLS, logged in by SCRAM; at the end the
// server is shut down.
func TestPasswordAndTLS(t *testing.T) {
	cert, key := certificate(t)
	server := pgtest.Run(t, pgtest.Options{
		Password: "correct horse", Settings: map[string]string{"ssl": "on"},
		Files: map[string][]byte{"server.crt": cert, "server.key": key},
	})
	root := filepath.Join(t.TempDir(), "root.crt")
	if err := os.WriteFile(root, cert, 0o600); err != nil {
		t.Fatal(err)
	}
	db := server.NewDB(t)
	cfg := prepare(t, db, "p")
	address, err := url.Parse(db.URL())
	if err != nil {
		t.Fatal(err)
	}
	address.RawQuery = url.Values{"sslmode": {"verify-full"}, "sslrootcert": {root}}.Encode()
	cfg.Conn = config(t, address.String()).Conn
	for round := range 50 {
		startFull(t, db, cfg, round)
	}
	cfg.Conn.Password = "wrong"
	var pgErr *pgconn.PgError
	if _, err := Connect(t.Context(), cfg); !errors.As(err, &pgErr) || pgErr.Code != "28P01" || strings.Contains(err.Error(), "wrong") {
		t.Errorf("with a wrong password: %v", err)
	}
	cfg.Conn.Password = "correct horse"
	session := connect(t, cfg)
	if got := db.Text(t, "SELECT ssl FROM pg_stat_ssl WHERE pid = "+strconv.Itoa(int(session.PID))); got != "true" {
		t.Errorf("pg_stat_ssl says %q", got)
	}
	released(t, db)
	s, err := session.Start(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	// A walsender that has not got under way yet is ended like any session.
	confirm(t, s, Status{})
	stopped := make(chan error, 1)
	go func() { stopped <- server.Stop(t.Context(), pgtest.Fast) }()
	// A fast shutdown waits until we have confirmed everything.
	for err == nil {
		var f Frame
		if f, err = s.Next(soon()); err == nil && f.Kind == FrameKeepalive {
			err = s.SendStatus(Status{Write: f.WALEnd, Flush: f.WALEnd})
		}
	}
	if !errors.Is(err, ErrServerDone) {
		t.Errorf("the shutdown ends the stream with %v", err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// countReader counts the bytes that it passes on.
type countReader struct {
	r io.Reader
	n int
}

func (c *countReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}

// TestFinishWithinALargeTransaction: while it sends one, a server that is not
// held up looks for statuses only after half of wal_sender_timeout.
func TestFinishWithinALargeTransaction(t *testing.T) {
	forMajors(t, func(t *testing.T, db *pgtest.DB) {
		t.Helper()
		cfg := prepare(t, db, "p")
		cfg.SenderTimeout = time.Hour
		db.Exec(t, "INSERT INTO o VALUES (0, 'small')")
		db.Exec(t, "INSERT INTO o SELECT i, repeat('x', 400) FROM generate_series(1, 150000) i")
		s := start(t, cfg, 0)
		_, _, end := transaction(t, s)
		for range 1000 {
			if f := next(t, s); f.Kind == FrameData && f.Data[0] == 'C' {
				t.Fatal("the large transaction is over")
			}
		}
		counted := &countReader{r: s.r}
		s.r = counted
		if err := s.Finish(Status{Write: end, Flush: end}, soon()); err != nil {
			t.Error(err)
		}
		if counted.n > 150_000*400*3/4 {
			t.Errorf("it read %d bytes, to the transaction's end", counted.n)
		}
		if got := confirmed(t, db); got != end.String() {
			t.Errorf("the slot is at %s, want %v", got, end)
		}
	})
}

// TestTransactionTimeoutOfTheRole: decoding runs in transactions of its own,
// which a role's limit would end.
func TestTransactionTimeoutOfTheRole(t *testing.T) {
	db := pool.Server(t, 17).NewDB(t)
	cfg := prepare(t, db, "p")
	role := db.Name + "_r"
	db.Exec(t, "CREATE ROLE "+role+" LOGIN REPLICATION; ALTER ROLE "+role+" SET transaction_timeout = '100ms'")
	db.Exec(t, "INSERT INTO o SELECT i, repeat('x', 400) FROM generate_series(1, 60000) i")
	cfg.Conn.User = role
	s := start(t, cfg, 0)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	// Taking them slowly makes the transaction last.
	for rows := 0; ; rows++ {
		if rows < 40_000 && rows%1000 == 0 {
			<-tick.C
		}
		if f := next(t, s); f.Kind == FrameData && f.Data[0] == 'C' {
			return
		}
	}
}
