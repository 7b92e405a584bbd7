package pgtest

import (
	"testing"
)

func TestPoolSharesAServerButNoDatabase(t *testing.T) {
	first, second := pool.NewDB(t), pool.NewDB(t)
	if first.Server != second.Server {
		t.Error("two servers were started")
	}
	if first.Name == second.Name {
		t.Error("two tests got one database")
	}
	if pool.Server(t, first.Server.Major()) != first.Server {
		t.Error("the default server is not found by its major")
	}
}

func TestMajorEnvChoosesTheDefault(t *testing.T) {
	t.Setenv(MajorEnv, "15")
	if got, err := majorOrDefault(0); got != 15 || err != nil {
		t.Errorf("majorOrDefault(0) = %d, %v; want 15", got, err)
	}
	if got, err := majorOrDefault(14); got != 14 || err != nil {
		t.Errorf("majorOrDefault(14) = %d, %v; want 14", got, err)
	}
	t.Setenv(MajorEnv, "new")
	if _, err := majorOrDefault(0); err == nil {
		t.Error("a word was accepted as a major")
	}
}

func TestDatabaseGoesWithItsSlotsAndSessions(t *testing.T) {
	var name string
	t.Run("a test that leaves things behind", func(t *testing.T) {
		db := pool.NewDB(t)
		name = db.Name
		db.Exec(t, "SELECT pg_create_logical_replication_slot('s_"+name+"', 'test_decoding')")
		db.Conn(t)
	})
	db := pool.NewDB(t)
	if got := db.Text(t, "SELECT count(*) FROM pg_database WHERE datname = '"+name+"'"); got != "0" {
		t.Errorf("%s databases are left, want 0", got)
	}
	if got := db.Text(t, "SELECT count(*) FROM pg_replication_slots WHERE database = '"+name+"'"); got != "0" {
		t.Errorf("%s slots are left, want 0", got)
	}
}

func TestTextOfNull(t *testing.T) {
	if got := pool.NewDB(t).Text(t, "NULL"); got != "" {
		t.Errorf("NULL = %q, want an empty text", got)
	}
}

type exitCode int

func (c exitCode) Run() int { return int(c) }

func TestMainClosesThePoolAndKeepsTheCode(t *testing.T) {
	own := NewPool(Options{})
	server := own.Server(t, 0)
	if got := own.Main(exitCode(3)).Run(); got != 3 {
		t.Errorf("exit code = %d, want 3", got)
	}
	if server.PID() != 0 {
		t.Error("the pool's server is still up")
	}
}
