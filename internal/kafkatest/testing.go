package kafkatest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/testserver"
)

// fetchLimit bounds a start in a test, a first download included.
const fetchLimit = 5 * time.Minute

// Run starts a broker of the test's own, closes it at the test's end, and shows
// the end of its log when the test failed.
func Run(tb testing.TB, opts ...Option) *Broker {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), fetchLimit)
	defer cancel()
	b, err := Start(ctx, opts...)
	if err != nil {
		tb.Fatalf("start Kafka: %v", err)
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Logf("the end of Kafka's log:\n%s", testserver.Tail(b.LogText(), 100))
		}
		if err := b.Close(); err != nil {
			tb.Errorf("close Kafka: %v", err)
		}
	})
	return b
}

// Pool is the broker that the tests of a package share. It starts when the
// first test asks for it. The zero value is ready; it may be used from any
// goroutine.
type Pool struct {
	mu     sync.Mutex
	broker *Broker
}

// Broker returns the shared broker. Tests use topics of their own, and leave
// the broker as it is.
func (p *Pool) Broker(tb testing.TB) *Broker {
	tb.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broker == nil {
		ctx, cancel := context.WithTimeout(tb.Context(), fetchLimit)
		defer cancel()
		b, err := Start(ctx)
		if err != nil {
			tb.Fatalf("start Kafka: %v", err)
		}
		p.broker = b
	}
	return p.broker
}

// Main wraps a *testing.M: it closes the broker after the tests, so
// goleak.VerifyTestMain(pool.Main(m)) finds nothing of it.
func (p *Pool) Main(m interface{ Run() int }) *Main { return &Main{pool: p, tests: m} }

// Main runs a package's tests and then closes its Pool.
type Main struct {
	pool  *Pool
	tests interface{ Run() int }
}

// Run returns the exit code of the tests, or 1 if the broker cannot be closed.
func (m *Main) Run() int {
	code := m.tests.Run()
	if m.pool.broker == nil {
		return code
	}
	if err := m.pool.broker.Close(); err != nil {
		fmt.Fprintf(os.Stderr, "close Kafka: %v\n", err)
		return max(code, 1)
	}
	return code
}
