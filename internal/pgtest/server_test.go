package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

func TestServersOfAllMajorsDecode(t *testing.T) {
	for _, major := range Majors() {
		t.Run(strconv.Itoa(major), func(t *testing.T) {
			t.Parallel()
			begin := time.Now()
			server := Run(t, Options{Major: major})
			t.Logf("postgres %s started in %v", server.version, time.Since(begin))
			db := server.NewDB(t)
			if got := db.Text(t, "current_setting('server_version_num')::int / 10000"); got != strconv.Itoa(major) {
				t.Errorf("major = %s, want %d", got, major)
			}
			db.Exec(t, "CREATE TABLE outbox (id int); CREATE PUBLICATION p FOR TABLE outbox")
			db.Exec(t, "SELECT pg_create_logical_replication_slot('s_"+db.Name+"', 'pgoutput')")
			db.Exec(t, "INSERT INTO outbox VALUES (1), (2)")
			got := db.Text(t, "SELECT count(*) FROM pg_logical_slot_get_binary_changes('s_"+db.Name+
				"', NULL, NULL, 'proto_version', '1', 'publication_names', 'p')")
			if got != "5" { // Begin, Relation, Insert, Insert, Commit
				t.Errorf("pgoutput gave %s messages, want 5", got)
			}
		})
	}
}

func TestServerKeepsDataAndPortOverEveryEnd(t *testing.T) {
	server := Run(t, Options{})
	db := server.NewDB(t)
	db.Exec(t, "CREATE TABLE kept (n int)")
	port := server.Port()
	ends := map[string]func() error{
		"fast":      func() error { return server.Stop(t.Context(), Fast) },
		"immediate": func() error { return server.Stop(t.Context(), Immediate) },
		"smart":     func() error { return server.Stop(t.Context(), Smart) },
		"kill":      func() error { return server.Kill(t.Context()) },
		"restart":   func() error { return server.Restart(t.Context(), Fast) },
	}
	for name, end := range ends {
		db.Exec(t, "INSERT INTO kept VALUES (1)")
		before := server.PID()
		if err := end(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if name != "restart" && server.PID() != 0 {
			t.Errorf("%s: the server is still up", name)
		}
		if err := server.Start(t.Context()); err != nil {
			t.Fatalf("start after %s: %v", name, err)
		}
		if server.Port() != port || server.PID() == before || server.PID() == 0 {
			t.Errorf("after %s: port %d, pid %d; want port %d and a pid other than %d", name, server.Port(), server.PID(), port, before)
		}
	}
	if got := db.Text(t, "SELECT count(*) FROM kept"); got != strconv.Itoa(len(ends)) {
		t.Errorf("%s rows were kept, want %d", got, len(ends))
	}
}

func TestKillAfterStopAndStopTwiceAreNothing(t *testing.T) {
	server := Run(t, Options{})
	for range 2 {
		if err := errors.Join(server.Stop(t.Context(), Fast), server.Kill(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	if err := server.Stop(t.Context(), Mode(0)); err == nil {
		t.Error("an unknown mode was accepted")
	}
}

func TestStopGivesUpWithItsContext(t *testing.T) {
	server := Run(t, Options{})
	(&DB{Server: server, Name: "postgres"}).Conn(t) // a smart shutdown waits for this session
	gone := errors.New("no more patience")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	if err := server.Stop(ctx, Smart); !errors.Is(err, gone) {
		t.Errorf("Stop = %v, want %v", err, gone)
	}
	if server.PID() == 0 {
		t.Error("the server stopped although a session was open")
	}
}

func TestOptions(t *testing.T) {
	server := Run(t, Options{
		Settings:    map[string]string{"wal_sender_timeout": "3s", "search_path": `"it's", public`},
		Password:    "o'clock",
		Socket:      true,
		OwnSystemID: true,
		Files:       map[string][]byte{"note.txt": []byte("hello")},
	})
	db := server.NewDB(t)
	if got := db.Text(t, "current_setting('wal_sender_timeout')"); got != "3s" {
		t.Errorf("wal_sender_timeout = %s, want 3s", got)
	}
	if got := db.Text(t, "current_setting('search_path')"); got != `"it's", public` {
		t.Errorf("search_path = %s", got)
	}
	if got := db.Text(t, "pg_read_file('note.txt')"); got != "hello" {
		t.Errorf("note.txt = %q, want hello", got)
	}
	shared := pool.NewDB(t).Text(t, "SELECT system_identifier FROM pg_control_system()")
	if own := db.Text(t, "SELECT system_identifier FROM pg_control_system()"); own == shared {
		t.Errorf("the system identifier %s is the template's", own)
	}
	_, err := pgx.Connect(t.Context(), fmt.Sprintf("postgres://postgres:wrong@127.0.0.1:%d/postgres?sslmode=disable", server.Port()))
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); !ok || pgErr.Code != "28P01" {
		t.Errorf("a wrong password gave %v, want SQLSTATE 28P01", err)
	}
	bySocket, err := pgx.Connect(t.Context(), fmt.Sprintf(`host=%s port=%d user=postgres password='o\'clock' dbname=postgres`,
		server.SocketDir(), server.Port()))
	if err != nil {
		t.Fatalf("connect by the socket: %v", err)
	}
	if err := bySocket.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestDirIsFoundAgain(t *testing.T) {
	dir := openDir(t)
	for round := range 2 {
		server, err := Start(t.Context(), Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Start(t.Context(), Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "in use") {
			t.Errorf("a second server in the same folder: %v, want it to be in use", err)
		}
		db := DB{Server: server, Name: "postgres"}
		db.Exec(t, "CREATE TABLE IF NOT EXISTS kept (n int); INSERT INTO kept VALUES (1)")
		if got := db.Text(t, "SELECT count(*) FROM kept"); got != strconv.Itoa(round+1) {
			t.Errorf("round %d: %s rows, want %d", round, got, round+1)
		}
		if err := errors.Join(server.Close(), server.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTakenPort(t *testing.T) {
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := taken.Close(); err != nil {
			t.Error(err)
		}
	})
	addr, ok := taken.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("unexpected address %v", taken.Addr())
	}
	server, err := Start(t.Context(), Options{Port: addr.Port})
	if !errors.Is(err, errPortTaken) {
		t.Errorf("Start on a taken port = %v, %v; want %v", server, err, errPortTaken)
	}
}

func TestStartShowsWhyTheServerRefused(t *testing.T) {
	_, err := Start(t.Context(), Options{Settings: map[string]string{"wal_level": "nonsense"}})
	if err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("Start = %v, want the server's own words", err)
	}
	if _, err := Start(t.Context(), Options{Major: 13}); err == nil {
		t.Error("major 13 was accepted")
	}
}

func TestCloseRemovesEverything(t *testing.T) {
	server, err := Start(t.Context(), Options{Socket: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Dir(server.DataDir()), server.SocketDir()} {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", path, err)
		}
	}
}
