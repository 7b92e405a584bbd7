package pgrepl

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl/pgfake"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

const (
	testMax  = 300 << 10
	longWait = 20 * time.Second
)

// feed is a connection that hands out the given pieces, one a read, and then
// io.EOF. An empty piece is a read that times out. It takes writes in silence.
type feed struct {
	net.Conn
	pieces [][]byte
	end    error // instead of io.EOF
	joined bool  // the end comes together with the last bytes, as in TLS
	sent   bytes.Buffer
}

func (f *feed) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, errors.New("a read without room")
	}
	end := f.end
	if end == nil {
		end = io.EOF
	}
	if len(f.pieces) == 0 {
		return 0, end
	}
	piece := f.pieces[0]
	if len(piece) == 0 {
		f.pieces = f.pieces[1:]
		return 0, os.ErrDeadlineExceeded
	}
	n := copy(p, piece)
	if n < len(piece) {
		f.pieces[0] = piece[n:]
		return n, nil
	}
	f.pieces = f.pieces[1:]
	if f.joined && len(f.pieces) == 0 {
		return n, end
	}
	return n, nil
}

func (f *feed) Write(p []byte) (int, error)      { return f.sent.Write(p) }
func (f *feed) SetReadDeadline(time.Time) error  { return nil }
func (f *feed) SetWriteDeadline(time.Time) error { return nil }
func (f *feed) Close() error                     { return nil }

// feedStream is a stream over pieces.
func feedStream(pieces ...[]byte) *Stream {
	return (&feed{pieces: pieces}).stream(testMax)
}

// stream reads from the feed without the pauses under load, which are many when
// the pieces are small.
func (f *feed) stream(maxMessage int) *Stream {
	s := newStream(f, f, maxMessage)
	s.pause = func(time.Duration) {}
	return s
}

func soon() time.Time { return time.Now().Add(longWait) }

// next returns the next frame but FrameNone.
func next(tb testing.TB, s *Stream) Frame {
	tb.Helper()
	deadline := soon()
	for time.Now().Before(deadline) {
		f, err := s.Next(deadline)
		if err != nil {
			tb.Fatalf("Next: %v", err)
		}
		if f.Kind != FrameNone {
			return f
		}
	}
	tb.Fatal("no frame came")
	return Frame{}
}

// all reads to the end of the stream, keeping copies, and passes over FrameNone.
func all(s *Stream) ([]Frame, error) {
	var frames []Frame
	for {
		f, err := s.Next(soon())
		if err != nil {
			return frames, err
		}
		if f.Kind == FrameNone {
			continue
		}
		f.Data = bytes.Clone(f.Data)
		frames = append(frames, f)
	}
}

// message is one message with its true length.
func message(typ byte, body []byte) []byte {
	return append(header(typ, uint32(4+len(body))), body...)
}

// header is the start of a message that claims a length.
func header(typ byte, length uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{typ}, length)
}

func data(walEnd decoder.LSN, msg string) []byte { return pgfake.AppendData(nil, walEnd, []byte(msg)) }

func keepalive(walEnd decoder.LSN, reply bool) []byte {
	return pgfake.AppendKeepalive(nil, walEnd, reply)
}

// config is a replication session's on the URL.
func config(tb testing.TB, url string) Config {
	tb.Helper()
	conn, err := pgconn.ParseConfig(url)
	if err != nil {
		tb.Fatal(err)
	}
	return Config{Conn: conn, Slot: "s", Publication: "p", ApplicationName: "outbox-cdc test", MaxMessage: testMax}
}

// connect opens a session that is closed at the test's end.
func connect(tb testing.TB, cfg Config) *Session {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), longWait)
	defer cancel()
	s, err := Connect(ctx, cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), longWait)
		defer cancel()
		_ = s.Close(ctx)
	})
	return s
}

// start streams from the position, until the test's end.
func start(tb testing.TB, cfg Config, at decoder.LSN) *Stream {
	tb.Helper()
	session := connect(tb, cfg)
	ctx, cancel := context.WithTimeout(tb.Context(), longWait)
	defer cancel()
	s, err := session.Start(ctx, at)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	return s
}

// fake streams what a fake server plays.
func fake(tb testing.TB, play func(*pgfake.Conn)) (*Stream, *pgfake.Server) {
	tb.Helper()
	server := pgfake.Start(tb, pgfake.Options{Play: func(c *pgfake.Conn, _ int) { play(c) }})
	return start(tb, config(tb, server.URL()), 0), server
}
