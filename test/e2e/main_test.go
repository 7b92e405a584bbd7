package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/outbox-cdc/outbox-cdc/internal/kafkatest"
	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
)

// pool holds the server of the tests that leave it as it is.
var pool = pgtest.NewPool(pgtest.Options{})

// brokers holds the real Kafka of the tests that leave it as it is.
var brokers kafkatest.Pool

// binaries are built before the first test.
var binaries built

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	dir, err := os.MkdirTemp("", "e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if binaries, err = build(ctx, dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := brokers.Main(pool.Main(m)).Run()
	http.DefaultClient.CloseIdleConnections()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}
