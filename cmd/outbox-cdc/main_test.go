package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/twmb/franz-go/pkg/kfake"
	"go.uber.org/goleak"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
)

var pool = pgtest.NewPool(pgtest.Options{Settings: map[string]string{"max_slot_wal_keep_size": "1GB"}})

// suite runs the tests, closes the pool and looks for goroutines that are left.
type suite struct{ tests *pgtest.Main }

func (s suite) Run() int {
	code := s.tests.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func TestMain(m *testing.M) {
	testscript.Main(suite{pool.Main(m)}, map[string]func(){"outbox-cdc": main})
}

// TestScripts runs the scripts against a database and a broker of their own:
// $DB is a superuser's URL, $PLAIN that of a role with LOGIN and nothing more,
// $SLOT a slot name, $BROKER a broker with the topic "events".
func TestScripts(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "events"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	// Roles are the server's; scripts that run at once must not make it twice.
	pool.NewDB(t).Exec(t, "DROP ROLE IF EXISTS plain; CREATE ROLE plain LOGIN")
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			db := pool.NewDB(t)
			env.Setenv("DB", db.URL())
			env.Setenv("PLAIN", db.Server.URL(db.Name, "plain"))
			env.Setenv("SLOT", "s_"+db.Name)
			env.Setenv("BROKER", cluster.ListenAddrs()[0])
			env.Values["db"] = db
			env.Values["t"] = t
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "sql": sql, "until": until},
	})
}

// exits CODE PROGRAM ARGS... demands the exit code; output goes where exec's does.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var failed *exec.ExitError
		if !errors.As(err, &failed) {
			ts.Fatalf("%v", err)
		}
		code = failed.ExitCode()
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// until VALUE QUERY waits until the query yields the value.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until VALUE QUERY...")
	}
	db, _ := ts.Value("db").(*pgtest.DB)
	t, _ := ts.Value("t").(*testing.T)
	query := strings.Join(args[1:], " ")
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	end := time.After(30 * time.Second)
	for got := db.Text(t, query); got != args[0]; got = db.Text(t, query) {
		select {
		case <-tick.C:
		case <-end:
			ts.Fatalf("%s stays %q, want %q", query, got, args[0])
		}
	}
}

// sql STATEMENTS runs them as superuser in the script's database.
func sql(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: sql STATEMENT...")
	}
	db, _ := ts.Value("db").(*pgtest.DB)
	t, _ := ts.Value("t").(*testing.T)
	db.Exec(t, strings.Join(args, " "))
}
