package pgtest

import (
	"context"
	"fmt"
	"io"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// holdEnv makes the test binary a program that starts a server, prints its
// port, and holds it until its standard input ends.
const holdEnv = "PGTEST_HOLD"

var pool = NewPool(Options{})

func TestMain(m *testing.M) {
	if os.Getenv(holdEnv) != "" {
		os.Exit(hold())
	}
	goleak.VerifyTestMain(pool.Main(m))
}

func hold() int {
	server, err := Start(context.Background(), Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if _, err := fmt.Fprintln(os.Stdout, os.Getuid(), server.Port(), server.DataDir()); err != nil {
		return 1
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return 1
	}
	if err := server.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// openDir returns a folder that other users can enter, which t.TempDir is not:
// its parent is private.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "pgtest-") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
