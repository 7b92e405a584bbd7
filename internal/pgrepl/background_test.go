package pgrepl

import (
	"bytes"
	"context"
	"net"
	"sync"
	"testing"

	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl/pgfake"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// slowWrites is a connection on which sending a query lasts until somebody
// reads, as if the server had no room for it.
type slowWrites struct {
	net.Conn

	mu      sync.Mutex // guards the fields below
	changed *sync.Cond
	readers int
	held    int
}

func (s *slowWrites) count(readers int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readers += readers
	s.changed.Broadcast()
}

func (s *slowWrites) Read(p []byte) (int, error) {
	s.count(1)
	defer s.count(-1)
	return s.Conn.Read(p)
}

func (s *slowWrites) Write(p []byte) (int, error) {
	// START_REPLICATION is sent without a reader in the background.
	if p[0] == 'Q' && !bytes.Contains(p, []byte("START_REPLICATION")) {
		s.mu.Lock()
		for s.readers == 0 {
			s.changed.Wait()
		}
		s.held++
		s.mu.Unlock()
	}
	return s.Conn.Write(p)
}

// TestReadInTheBackground: pgconn reads ahead, in a goroutine of its own, when
// a write of its takes long; the stream gets these bytes too, and its read
// deadlines still work.
func TestReadInTheBackground(t *testing.T) {
	server := pgfake.Start(t, pgfake.Options{Play: func(c *pgfake.Conn, _ int) {
		for n := range 1000 {
			c.Data(decoder.LSN(n), []byte("message"))
		}
	}})
	cfg := config(t, server.URL())
	slow := &slowWrites{}
	slow.changed = sync.NewCond(&slow.mu)
	cfg.Conn.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		var err error
		slow.Conn, err = (&net.Dialer{}).DialContext(ctx, network, address)
		return slow, err
	}
	s, err := connect(t, cfg).Start(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if slow.held != 3 {
		t.Errorf("%d queries were held up, want 3", slow.held)
	}
	for n := range 1000 {
		if f := next(t, s); f.WALEnd != decoder.LSN(n) || string(f.Data) != "message" {
			t.Fatalf("frame %d is %+v", n, f)
		}
	}
	s.Interrupt()
	if f, err := s.Next(soon()); err != nil || f.Kind != FrameNone {
		t.Errorf("interrupted: %+v, %v", f, err)
	}
}
