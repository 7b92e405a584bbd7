package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
)

// Pool holds at most one server of each major for the tests of one package.
// A test package declares one as a package variable and hands its TestMain to
// Main, which closes the servers before goleak looks. Its methods may be called
// from any goroutine.
type Pool struct {
	opts Options

	mu      sync.Mutex // guards servers
	servers map[int]*Server
}

// NewPool returns a pool whose servers have the options; nothing is started
// yet. Options.Major is what NewDB takes.
func NewPool(opts Options) *Pool {
	return &Pool{opts: opts, servers: map[int]*Server{}}
}

// Server returns the pool's server of a major, started on first use; 0 means
// the pool's default. Tests must leave it running and configured as it was.
func (p *Pool) Server(tb testing.TB, major int) *Server {
	tb.Helper()
	if major == 0 {
		major = p.opts.Major
	}
	major, err := majorOrDefault(major)
	if err != nil {
		tb.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if server := p.servers[major]; server != nil {
		return server
	}
	opts := p.opts
	opts.Major = major
	ctx, cancel := context.WithTimeout(tb.Context(), fetchLimit)
	defer cancel()
	server, err := Start(ctx, opts)
	if err != nil {
		tb.Fatalf("start the shared PostgreSQL server: %v", err)
	}
	p.servers[major] = server
	return server
}

// NewDB returns a fresh database on the pool's default server.
func (p *Pool) NewDB(tb testing.TB) *DB {
	tb.Helper()
	return p.Server(tb, 0).NewDB(tb)
}

// Close closes all servers.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	errs := make([]error, 0, len(p.servers))
	for _, server := range p.servers {
		errs = append(errs, server.Close())
	}
	clear(p.servers)
	return errors.Join(errs...)
}

// Main wraps a *testing.M: it closes the pool after the tests, so
// goleak.VerifyTestMain(pool.Main(m)) finds nothing of it.
func (p *Pool) Main(m interface{ Run() int }) *Main {
	return &Main{pool: p, tests: m}
}

// Main runs a package's tests and then closes its Pool.
type Main struct {
	pool  *Pool
	tests interface{ Run() int }
}

// Run returns the exit code of the tests, or 1 if the pool cannot be closed.
func (m *Main) Run() int {
	code := m.tests.Run()
	if err := m.pool.Close(); err != nil {
		fmt.Fprintf(os.Stderr, "close the PostgreSQL servers: %v\n", err)
		return max(code, 1)
	}
	return code
}
