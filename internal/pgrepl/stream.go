package pgrepl

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"
)

const (
	// bufSize is the read buffer: large enough that one read takes what the
	// walsender wrote since the last one.
	bufSize = 256 << 10
)

// Stream reads a started replication session. It belongs to one goroutine.
type Stream struct {
	conn     net.Conn
	r        io.Reader
	buf      []byte
	rd, wr   int // unread bytes are buf[rd:wr]
	max      int // largest body that is buffered
	skip     int // bytes of an oversized message still to be thrown away
	kept     Frame
	deadline time.Time // as set on conn
	received time.Time // when the last bytes came
	load     coalescer
	pause    func(time.Duration) // before a read under load
	failed   error               // came with the last bytes; returned once they are used up
	wake     atomic.Bool         // set by Interrupt
	out      [msgHeader + statusLen]byte
}

func newStream(conn net.Conn, r io.Reader, maxMessage int) *Stream {
	return &Stream{
		conn: conn, r: r, buf: make([]byte, bufSize),
		max: max(maxMessage+xlogHeader, headKept), received: time.Now(), pause: pause,
	}
}

// Received is when the server last sent anything.
func (s *Stream) Received() time.Time { return s.received }

// Buffered tells that Next will return without reading from the socket.
func (s *Stream) Buffered() bool {
	for s.skip == 0 {
		b := s.buf[s.rd:s.wr]
		if len(b) < msgHeader || int64(len(b)-1) < int64(binary.BigEndian.Uint32(b[1:])) {
			return false
		}
		if b[0] != typeParameterStatus || binary.BigEndian.Uint32(b[1:]) < 4 {
			return true
		}
		// Next would pass over it and go on to the socket.
		s.rd += 1 + int(binary.BigEndian.Uint32(b[1:]))
	}
	return false
}

// Next returns the next frame, or a FrameNone once the deadline has passed,
// also while a large message is still arriving. An error ends the stream:
// *pgconn.PgError from the server, *ProtocolError, or the connection's own.
func (s *Stream) Next(deadline time.Time) (Frame, error) {
	for {
		f, ok, err := s.parse()
		if ok || err != nil {
			return f, err
		}
		late, err := s.fill(deadline)
		if err != nil {
			return Frame{}, err
		}
		if late && !s.Buffered() {
			return Frame{Kind: FrameNone}, nil
		}
	}
}

// Interrupt makes a Next that waits, or the next one that would, return a
// FrameNone. It may be called from any goroutine.
func (s *Stream) Interrupt() {
	s.wake.Store(true)
	_ = s.conn.SetReadDeadline(time.Unix(1, 0))
}

// parse takes one message from the buffer. Not ok: more bytes are needed.
func (s *Stream) parse() (Frame, bool, error) {
	for {
		if s.skip > 0 {
			n := min(s.skip, s.wr-s.rd)
			s.rd += n
			if s.skip -= n; s.skip > 0 {
				return Frame{}, false, nil
			}
			return s.kept, true, nil
		}
		b := s.buf[s.rd:s.wr]
		if len(b) < msgHeader {
			return Frame{}, false, nil
		}
		typ, size := b[0], int64(binary.BigEndian.Uint32(b[1:]))-4
		switch {
		case size < 0:
			return Frame{}, false, &ProtocolError{typ, "length below 4"}
		case typ != 'd' && size > controlMax, size > copyDataMax:
			return Frame{}, false, &ProtocolError{typ, fmt.Sprintf("%d bytes are too many", size)}
		case typ == 'd' && size > int64(s.max):
			if len(b) < msgHeader+headKept {
				s.reserve(msgHeader + headKept)
				return Frame{}, false, nil
			}
			if err := s.discard(b[msgHeader:msgHeader+headKept], int(size)); err != nil {
				return Frame{}, false, err
			}
			continue
		case len(b) < msgHeader+int(size):
			s.reserve(msgHeader + int(size))
			return Frame{}, false, nil
		}
		end := msgHeader + int(size)
		body := b[msgHeader:end:end] // appending to a frame must not reach the next one
		s.rd += end
		if typ == 'd' {
			f, err := parseCopyData(body)
			return f, err == nil, err
		}
		f, ok, err := parseControl(typ, body)
		if ok || err != nil {
			return f, ok, err
		}
	}
}

// discard keeps the beginning of an oversized message, and has the rest thrown
// away as it arrives.
func (s *Stream) discard(head []byte, size int) error {
	f, err := parseCopyData(append([]byte(nil), head...))
	if err != nil {
		return err
	}
	f.Kind, f.Size = FrameTooLarge, size-xlogHeader
	s.kept, s.skip = f, msgHeader+size
	return nil
}

// reserve makes room in the buffer for a message of n bytes that starts at rd.
func (s *Stream) reserve(n int) {
	switch {
	case n > len(s.buf):
		// Grown only for as long as a large message needs it.
		s.resize(n + msgHeader)
	case n <= bufSize && len(s.buf) > 4*bufSize:
		s.resize(bufSize)
	case s.rd+n > len(s.buf):
		s.wr = copy(s.buf, s.buf[s.rd:s.wr])
		s.rd = 0
	}
}

// resize moves the unread bytes to a new buffer.
func (s *Stream) resize(n int) {
	buf := make([]byte, n)
	s.wr = copy(buf, s.buf[s.rd:s.wr])
	s.buf, s.rd = buf, 0
}

// fill reads once. late: the deadline has passed, whether or not bytes came.
func (s *Stream) fill(deadline time.Time) (late bool, err error) {
	if s.failed != nil {
		return false, s.failed
	}
	switch {
	case s.rd == s.wr:
		s.rd, s.wr = 0, 0
		if len(s.buf) > 4*bufSize {
			s.buf = make([]byte, bufSize)
		}
	case s.wr == len(s.buf):
		s.wr = copy(s.buf, s.buf[s.rd:s.wr])
		s.rd = 0
	}
	if s.load.busy() {
		s.pause(coalesce)
	}
	if !deadline.Equal(s.deadline) {
		if err := s.conn.SetReadDeadline(deadline); err != nil {
			return false, fmt.Errorf("read the replication stream: %w", err)
		}
		s.deadline = deadline
	}
	// Interrupt stores first and moves the deadline then: either the store is
	// seen here, or its deadline comes after ours and ends the read.
	if s.wake.Swap(false) {
		s.deadline = time.Time{}
		return true, nil
	}
	began := time.Now()
	n, err := s.r.Read(s.buf[s.wr:])
	now := time.Now()
	s.wr += n
	if n > 0 { // a read that was interrupted is no sign of load
		s.load.read(now.Sub(began))
		s.received = now
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		s.deadline = time.Time{} // it may have been Interrupt's
		return true, nil
	}
	if err != nil {
		// TLS hands out the last bytes and the end of the stream together; the
		// server's reason is in these bytes.
		s.failed = fmt.Errorf("read the replication stream: %w", err)
	}
	return !now.Before(deadline), nil
}
