package kafka

import (
	"context"
	"encoding/binary"
	"net"
	"time"
)

// A failed batch leaves a gap in the order: the client drops everything
// buffered for that partition, and from then on takes, and sends, whatever
// comes next. The promise that tells us runs on another goroutine, later; until
// then a quick caller has hundreds of records of the same key on the wire, and
// they are stored before the failed one is sent again. (Measured: two thousand.)
//
// So the failure is taken from where it happens (failureSignals, which the
// client logs under the partition's lock before it drops the batches), and from
// that moment no produce request leaves any connection. What can only be written
// after the batches were dropped is thereby never written. Answers are still
// read: what was on the wire before gets its true result.

// fencedConn holds produce requests back once down is closed.
type fencedConn struct {
	net.Conn

	down <-chan struct{}
	// dam is a pipe without a reader: a write to it waits for a deadline or
	// for Close, as one to a peer that has stopped reading does.
	dam net.Conn
}

// dialer dials, and fences what it dials.
func dialer(cfg Config, down <-chan struct{}) dialFunc {
	dial := cfg.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: cfg.RequestTimeout}).DialContext
	}
	if cfg.TLS != nil {
		dial = cfg.TLS.secured(dial, cfg.RequestTimeout)
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		dam, _ := net.Pipe()
		return &fencedConn{Conn: conn, down: down, dam: dam}, nil
	}
}

func (c *fencedConn) Write(b []byte) (int, error) {
	select {
	case <-c.down:
		if isProduce(b) {
			return c.dam.Write(b)
		}
	default:
	}
	return c.Conn.Write(b)
}

// isProduce tells whether b, which the client writes whole, is a produce
// request: a length of 4 bytes, then the API key, which is 0 for Produce.
func isProduce(b []byte) bool {
	return len(b) >= 6 && binary.BigEndian.Uint16(b[4:]) == 0
}

func (c *fencedConn) SetDeadline(t time.Time) error {
	_ = c.dam.SetWriteDeadline(t) // fails only after Close
	return c.Conn.SetDeadline(t)
}

func (c *fencedConn) SetWriteDeadline(t time.Time) error {
	_ = c.dam.SetWriteDeadline(t) // fails only after Close
	return c.Conn.SetWriteDeadline(t)
}

func (c *fencedConn) Close() error {
	_ = c.dam.Close() // a pipe's never fails
	return c.Conn.Close()
}
