package pgfake

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// dial opens a connection that is closed at the test's end.
func dial(t *testing.T, s *Server) *pgconn.PgConn {
	t.Helper()
	conn, err := pgconn.Connect(t.Context(), s.URL()+"&replication=database")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// stream opens a connection and starts replication.
func stream(t *testing.T, s *Server) *pgconn.PgConn {
	t.Helper()
	conn := dial(t, s)
	err := pglogrepl.StartReplication(t.Context(), conn, "s", 5, pglogrepl.StartReplicationOptions{Mode: pglogrepl.LogicalReplication})
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// receive returns the next message as its bytes on the wire.
func receive(t *testing.T, conn *pgconn.PgConn) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	msg, err := conn.ReceiveMessage(ctx)
	if err != nil {
		t.Fatal(err)
	}
	wire, err := msg.Encode(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(wire)
}

func TestIdentity(t *testing.T) {
	tests := map[string]struct {
		opts Options
		want string
	}{
		"defaults": {Options{}, "7000000000000000001 1 db 0"},
		"given":    {Options{SystemID: "77", Timeline: 3, Database: "other", SenderTimeout: 30 * time.Second}, "77 3 other 30000"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			conn := dial(t, Start(t, test.opts))
			id, err := pglogrepl.IdentifySystem(t.Context(), conn)
			if err != nil {
				t.Fatal(err)
			}
			res, err := conn.Exec(t.Context(), "SELECT setting FROM pg_settings WHERE name = 'wal_sender_timeout'").ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join([]string{id.SystemID, string('0' + id.Timeline), id.DBName, string(res[0].Rows[0][0])}, " ")
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	refusal := &pgproto3.ErrorResponse{Severity: "ERROR", Code: "55006", Message: "busy"}
	conn := dial(t, Start(t, Options{StartError: refusal}))
	var pgErr *pgconn.PgError
	if _, err := conn.Exec(t.Context(), "SELECT 1").ReadAll(); !errors.As(err, &pgErr) || pgErr.Code != "42601" {
		t.Errorf("an unknown query: %v", err)
	}
	err := pglogrepl.StartReplication(t.Context(), conn, "s", 5, pglogrepl.StartReplicationOptions{})
	if !errors.As(err, &pgErr) || pgErr.Code != "55006" {
		t.Errorf("StartReplication = %v", err)
	}
}

func TestPlay(t *testing.T) {
	s := Start(t, Options{Play: func(c *Conn, n int) {
		c.Data(0x10, []byte{'B', byte('0' + n)})
		c.Keepalive(0x20, true)
		c.Notice("WARNING", "55000", "careful")
		c.Raw([]byte{'c', 0, 0, 0, 4})
		c.Error("57P01", "bye")
		c.Close()
	}})
	for n := range 2 {
		conn := stream(t, s)
		if got := receive(t, conn); got != string(AppendData(nil, 0x10, []byte{'B', byte('0' + n)})) {
			t.Errorf("data %q", got)
		}
		if got := receive(t, conn); got != string(AppendKeepalive(nil, 0x20, true)) {
			t.Errorf("keepalive %q", got)
		}
		if got := receive(t, conn); !strings.Contains(got, "VWARNING\x00") || !strings.Contains(got, "C55000\x00") || !strings.Contains(got, "Mcareful\x00") {
			t.Errorf("notice %q", got)
		}
		if got := receive(t, conn); got != "c\x00\x00\x00\x04" {
			t.Errorf("raw %q", got)
		}
		var pgErr *pgconn.PgError
		if _, err := conn.ReceiveMessage(t.Context()); !errors.As(err, &pgErr) || pgErr.Code != "57P01" {
			t.Errorf("error %v", err)
		}
	}
	if got := s.Starts(); len(got) != 2 || !strings.HasPrefix(got[1], "START_REPLICATION SLOT s LOGICAL 0/5") {
		t.Errorf("Starts = %q", got)
	}
}

// status is a standby status update on the wire.
func status(write, flush, apply uint64, micros int64, reply byte) []byte {
	b := binary.BigEndian.AppendUint64([]byte{'r'}, write)
	b = binary.BigEndian.AppendUint64(b, flush)
	b = binary.BigEndian.AppendUint64(b, apply)
	b = binary.BigEndian.AppendUint64(b, uint64(micros))
	return AppendCopyData(nil, append(b, reply))
}

func TestStatuses(t *testing.T) {
	s := Start(t, Options{Play: func(c *Conn, _ int) { c.Keepalive(9, false) }})
	conn := stream(t, s)
	receive(t, conn)
	for _, b := range [][]byte{status(3, 2, 1, 1_500_000, 0), status(6, 5, 4, 0, 1)} {
		if _, err := conn.Conn().Write(b); err != nil {
			t.Fatal(err)
		}
	}
	s.WaitStatus(t, func(st Status) bool { return st.Write == 6 && st.Flush == 5 && st.Apply == 4 && st.Reply })
	first := s.Statuses()[0]
	sent := time.Date(2000, time.January, 1, 0, 0, 1, 500_000_000, time.UTC)
	if first.Write != 3 || first.Flush != 2 || first.Apply != 1 || first.Reply || !first.Sent.Equal(sent) || time.Since(first.At) > time.Hour {
		t.Errorf("the first status is %+v", first)
	}
	if got := receive(t, conn); got != string(AppendKeepalive(nil, 9, false)) {
		t.Errorf("the answer is %q", got)
	}
	if _, err := conn.Conn().Write([]byte{'c', 0, 0, 0, 4}); err != nil {
		t.Fatal(err)
	}
	if got := receive(t, conn) + receive(t, conn)[:1] + receive(t, conn)[:1]; got != "c\x00\x00\x00\x04CZ" {
		t.Errorf("CopyDone is answered with %q", got)
	}
}

func TestMalformedStatusIsRefused(t *testing.T) {
	for _, b := range [][]byte{status(1, 1, 1, 0, 2), AppendCopyData(nil, []byte("r")), AppendCopyData(nil, nil)} {
		conn := stream(t, Start(t, Options{}))
		if _, err := conn.Conn().Write(b); err != nil {
			t.Fatal(err)
		}
		var pgErr *pgconn.PgError
		if _, err := conn.ReceiveMessage(t.Context()); !errors.As(err, &pgErr) || pgErr.Code != "08P01" {
			t.Errorf("%q: %v", b, err)
		}
	}
}

func TestFreeze(t *testing.T) {
	frozen := make(chan struct{})
	s := Start(t, Options{Play: func(c *Conn, _ int) {
		c.Freeze()
		close(frozen)
		<-c.Gone()
	}})
	conn := stream(t, s)
	<-frozen
	if _, err := conn.Conn().Write(status(1, 1, 1, 0, 1)); err != nil {
		t.Fatal(err)
	}
	if err := conn.Conn().SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	var timeout interface{ Timeout() bool }
	if _, err := conn.Conn().Read(make([]byte, 1)); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("it answered, or closed: %v", err)
	}
	if got := s.Statuses(); len(got) != 0 {
		t.Errorf("it has read %+v", got)
	}
}

func TestGoneWhenTheClientLeaves(t *testing.T) {
	gone := make(chan struct{})
	s := Start(t, Options{Play: func(c *Conn, _ int) {
		<-c.Gone()
		c.Data(1, []byte("nobody hears it"))
		close(gone)
	}})
	conn := stream(t, s)
	if err := conn.Conn().Close(); err != nil {
		t.Fatal(err)
	}
	<-gone
}

func TestEndClosesEveryConnection(t *testing.T) {
	var conn *pgconn.PgConn
	t.Run("server's life", func(t *testing.T) {
		s := Start(t, Options{})
		var err error
		if conn, err = pgconn.Connect(t.Context(), s.URL()); err != nil {
			t.Fatal(err)
		}
	})
	if _, err := conn.Conn().Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("Read = %v, want io.EOF", err)
	}
	_ = conn.Close(context.Background())
}
