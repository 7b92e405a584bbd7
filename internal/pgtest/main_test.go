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
	fmt.Fprintln(os.Stdout, os.Getuid(), server.Port(), server.DataDir())
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return 1
	}
	if err := server.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
