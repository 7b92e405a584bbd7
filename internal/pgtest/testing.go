package pgtest

import (
	"context"
	"testing"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/testserver"
)

// fetchLimit bounds a start in a test, a first download included.
const fetchLimit = 5 * time.Minute

// Run starts a server of the test's own, closes it at the test's end, and shows
// the end of the server's log when the test failed.
func Run(tb testing.TB, opts Options) *Server {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), fetchLimit)
	defer cancel()
	server, err := Start(ctx, opts)
	if err != nil {
		tb.Fatalf("start a PostgreSQL server: %v", err)
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Logf("the end of the log of postgres %s:\n%s", server.version, testserver.Tail(server.LogText(), 100))
		}
		if err := server.Close(); err != nil {
			tb.Errorf("close the PostgreSQL server: %v", err)
		}
	})
	return server
}

// RunPair starts a pair of the test's own as StartPair does, closes it at the
// test's end, and shows the ends of both logs when the test failed.
func RunPair(tb testing.TB, opts Options) *Pair {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), fetchLimit)
	defer cancel()
	pair, err := StartPair(ctx, opts)
	if err != nil {
		tb.Fatalf("start a pair of PostgreSQL servers: %v", err)
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Logf("the end of the primary's log:\n%s\nand of the standby's:\n%s",
				testserver.Tail(pair.Primary.LogText(), 100), testserver.Tail(pair.Standby.LogText(), 100))
		}
		if err := pair.Close(); err != nil {
			tb.Errorf("close the pair of PostgreSQL servers: %v", err)
		}
	})
	return pair
}
