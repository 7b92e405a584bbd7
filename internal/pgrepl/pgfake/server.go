package pgfake

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// waitLimit bounds every wait for the client.
const waitLimit = 20 * time.Second

// Options say what the server tells about itself, and what it plays. The zero
// value streams nothing.
type Options struct {
	// SystemID defaults to 7000000000000000001, Timeline to 1, Database to db.
	SystemID string
	Timeline int32
	Database string
	// History is the timeline history file's content; empty means that the
	// server has none.
	History string
	// SenderTimeout is the wal_sender_timeout it tells; 0 means off.
	SenderTimeout time.Duration
	// Slot is where every slot stands; 0 means that there is none to be seen.
	Slot decoder.LSN
	// StartError, when set, answers START_REPLICATION.
	StartError *pgproto3.ErrorResponse
	// Play sends the stream of one connection, in a goroutine of its own; n
	// counts the streams from 0. When it returns the connection stays open
	// until the client leaves.
	Play func(c *Conn, n int)
}

// Status is a standby status update as it arrived.
type Status struct {
	Write, Flush, Apply decoder.LSN
	// Sent is the client's own time in the message.
	Sent  time.Time
	Reply bool
	// At is when it arrived.
	At time.Time
}

// Server is a running fake. Its methods may be called from any goroutine.
type Server struct {
	opts     Options
	listener net.Listener
	done     chan struct{} // closed at the end
	running  sync.WaitGroup

	mu       sync.Mutex // guards the fields below
	conns    []net.Conn
	starts   []string
	statuses []Status
	changed  chan struct{} // closed and renewed with each status
}

// Start starts a server on a free port, and ends it with the test.
func Start(tb testing.TB, opts Options) *Server {
	tb.Helper()
	listener, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	s := &Server{opts: opts, listener: listener, done: make(chan struct{}), changed: make(chan struct{})}
	s.running.Go(s.accept)
	tb.Cleanup(s.close)
	return s
}

// URL is what a client connects to.
func (s *Server) URL() string {
	return fmt.Sprintf("postgres://user@%s/db?sslmode=disable", s.listener.Addr())
}

// Starts returns the START_REPLICATION commands, oldest first.
func (s *Server) Starts() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.starts)
}

// Statuses returns all status updates of all connections, oldest first.
func (s *Server) Statuses() []Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.statuses)
}

// WaitStatus returns the first status update that satisfies the condition, and
// fails the test when none comes.
func (s *Server) WaitStatus(tb testing.TB, ok func(Status) bool) Status {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), waitLimit)
	defer cancel()
	for {
		s.mu.Lock()
		i, changed := slices.IndexFunc(s.statuses, ok), s.changed
		if i >= 0 {
			defer s.mu.Unlock()
			return s.statuses[i]
		}
		s.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			tb.Fatalf("no such status in %+v", s.Statuses())
		}
	}
}

func (s *Server) accept() {
	for {
		nc, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns = append(s.conns, nc)
		s.mu.Unlock()
		s.running.Go(func() { s.serve(nc) })
		// close may have passed over it.
		select {
		case <-s.done:
			_ = nc.Close()
		default:
		}
	}
}

func (s *Server) close() {
	close(s.done)
	_ = s.listener.Close()
	s.mu.Lock()
	for _, nc := range s.conns {
		_ = nc.Close()
	}
	s.mu.Unlock()
	s.running.Wait()
}

func (s *Server) record(st Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.statuses = append(s.statuses, st)
	close(s.changed)
	s.changed = make(chan struct{})
}

// started notes the command and says how many came before.
func (s *Server) started(command string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.starts = append(s.starts, command)
	return len(s.starts) - 1
}
