package pgrepl

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl/pgfake"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// script is one message of each kind that a stream can survive.
func script(tb testing.TB) []byte {
	tb.Helper()
	notice, err := (&pgproto3.NoticeResponse{Severity: "WARNUNG", SeverityUnlocalized: "WARNING", Code: "55000", Message: "m"}).Encode(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return slices.Concat(
		data(0x10, "first"),
		keepalive(0x20, true),
		message('S', []byte("TimeZone\x00UTC\x00")),
		notice,
		data(0, "R"),
		keepalive(0x30, false),
		message('S', []byte("x\x00y\x00")),
		data(0x1_0000_0040, "last"),
	)
}

func checkScript(t *testing.T, frames []Frame, err error) {
	t.Helper()
	if !errors.Is(err, io.EOF) {
		t.Errorf("ended with %v, want io.EOF", err)
	}
	var got []string
	for _, f := range frames {
		switch f.Kind {
		case FrameData:
			got = append(got, string(f.Data)+"@"+f.WALEnd.String())
		case FrameKeepalive:
			got = append(got, map[bool]string{true: "k!", false: "k"}[f.ReplyRequested]+"@"+f.WALEnd.String())
		case FrameNotice:
			got = append(got, f.Notice.SeverityUnlocalized+" "+f.Notice.Code+" "+f.Notice.Message)
		case FrameNone, FrameTooLarge:
			t.Errorf("unexpected frame %+v", f)
		}
	}
	want := []string{"first@0/10", "k!@0/20", "WARNING 55000 m", "R@0/0", "k@0/30", "last@1/40"}
	if !slices.Equal(got, want) {
		t.Errorf("frames %q, want %q", got, want)
	}
}

func TestFramesCutAnywhere(t *testing.T) {
	whole := script(t)
	for cut := range len(whole) + 1 {
		// The empty piece is a read that times out at the cut.
		frames, err := all(feedStream(slices.Clone(whole[:cut]), nil, slices.Clone(whole[cut:])))
		checkScript(t, frames, err)
		if t.Failed() {
			t.Fatalf("cut at byte %d", cut)
		}
	}
}

func TestFramesByteByByte(t *testing.T) {
	var pieces [][]byte
	for _, b := range script(t) {
		pieces = append(pieces, []byte{b}, nil)
	}
	frames, err := all(feedStream(pieces...))
	checkScript(t, frames, err)
}

func TestManyFramesInOneRead(t *testing.T) {
	const n = 40_000
	var wire []byte
	for i := range n {
		wire = pgfake.AppendData(wire, decoder.LSN(i), []byte{'I', byte(i), byte(i >> 8)})
	}
	frames, err := all(feedStream(wire))
	if !errors.Is(err, io.EOF) || len(frames) != n {
		t.Fatalf("%d frames, %v", len(frames), err)
	}
	for i, f := range frames {
		if f.WALEnd != decoder.LSN(i) || !bytes.Equal(f.Data, []byte{'I', byte(i), byte(i >> 8)}) {
			t.Fatalf("frame %d is %+v", i, f)
		}
	}
}

// TestSizesAroundTheBuffer crosses each bound of the buffer by a byte or so, in
// reads that leave messages lying across its end.
func TestSizesAroundTheBuffer(t *testing.T) {
	const head = msgHeader + xlogHeader
	sizes := []int{1, bufSize - head - 1, bufSize - head, bufSize - head + 1, 3, testMax - 1, testMax, 200_000, 200_000, 7}
	var wire []byte
	for i, size := range sizes {
		wire = pgfake.AppendData(wire, decoder.LSN(i), bytes.Repeat([]byte{byte('a' + i)}, size))
	}
	for _, read := range []int{1000, 4096, 65_537, 1 << 20} {
		frames, err := all(feedStream(slices.Collect(slices.Chunk(wire, read))...))
		if !errors.Is(err, io.EOF) || len(frames) != len(sizes) {
			t.Fatalf("reads of %d: %d frames, %v", read, len(frames), err)
		}
		for i, f := range frames {
			if f.Kind != FrameData || f.WALEnd != decoder.LSN(i) || !bytes.Equal(f.Data, bytes.Repeat([]byte{byte('a' + i)}, sizes[i])) {
				t.Errorf("reads of %d: frame %d of %d bytes differs", read, i, sizes[i])
			}
		}
	}
}

func TestTooLargeIsDiscardedButForItsHead(t *testing.T) {
	big := bytes.Repeat([]byte("0123456789abcdef"), 3*testMax/16)
	wire := slices.Concat(data(1, "before"), data(2, string(big)), data(3, "after"), data(4, string(big[:testMax+1])), keepalive(5, false))
	for _, read := range []int{999, 65_536, len(wire)} {
		s := feedStream(slices.Collect(slices.Chunk(wire, read))...)
		frames, err := all(s)
		if !errors.Is(err, io.EOF) || len(frames) != 5 {
			t.Fatalf("reads of %d: %d frames, %v", read, len(frames), err)
		}
		for i, size := range map[int]int{1: len(big), 3: testMax + 1} {
			f := frames[i]
			if f.Kind != FrameTooLarge || f.Size != size || f.WALEnd != decoder.LSN(i+1) || !bytes.Equal(f.Data, big[:headKept-xlogHeader]) {
				t.Errorf("reads of %d: frame %d: kind %d, size %d, %d bytes kept", read, i, f.Kind, f.Size, len(f.Data))
			}
		}
		if string(frames[0].Data) != "before" || string(frames[2].Data) != "after" || frames[4].Kind != FrameKeepalive {
			t.Errorf("reads of %d: the neighbours suffered", read)
		}
		if len(s.buf) != bufSize {
			t.Errorf("reads of %d: a message that is thrown away grew the buffer to %d", read, len(s.buf))
		}
	}
}

// TestDeadlineWithinALargeMessage: statuses must go on while one is read.
func TestDeadlineWithinALargeMessage(t *testing.T) {
	for name, size := range map[string]int{"kept": testMax, "thrown away": 4 * testMax} {
		t.Run(name, func(t *testing.T) {
			wire := data(1, strings.Repeat("x", size))
			var pieces [][]byte
			for piece := range slices.Chunk(wire, 10_000) {
				pieces = append(pieces, piece, nil)
			}
			s := feedStream(append(pieces, data(2, "after"))...)
			none := 0
			f, err := s.Next(soon())
			for ; err == nil && f.Kind == FrameNone; f, err = s.Next(soon()) {
				if none++; s.Buffered() {
					t.Fatal("Buffered in the middle of a message")
				}
			}
			if err != nil || none < size/10_000 || f.WALEnd != 1 {
				t.Fatalf("%d times FrameNone, then %v %v", none, f.Kind, err)
			}
			if f := next(t, s); string(f.Data) != "after" {
				t.Errorf("after it: %+v", f)
			}
		})
	}
}

// TestPassedDeadlineWithSteadyBytes: bytes that keep coming are no reason to
// miss the deadline.
func TestPassedDeadlineWithSteadyBytes(t *testing.T) {
	wire := data(1, strings.Repeat("x", 1000))
	s := feedStream(slices.Collect(slices.Chunk(wire, 1))...)
	past := time.Unix(1, 0)
	for i := range len(wire) - 1 {
		if f, err := s.Next(past); err != nil || f.Kind != FrameNone {
			t.Fatalf("byte %d: %+v, %v", i, f, err)
		}
	}
	if f, err := s.Next(past); err != nil || f.Kind != FrameData {
		t.Errorf("the last byte: %+v, %v", f, err)
	}
}

func TestLargeMessageLeavesTheBufferSmall(t *testing.T) {
	const limit = 8 * bufSize
	large, small := data(1, strings.Repeat("x", limit)), data(2, strings.Repeat("y", 1000))
	// No read ends where a message does, so the buffer is never empty.
	wire := bytes.Repeat(small, 3000)
	pieces := [][]byte{append(large, wire[:500]...)}
	for piece := range slices.Chunk(wire[500:], 5*len(small)) {
		pieces = append(pieces, piece)
	}
	s := (&feed{pieces: pieces}).stream(limit)
	if f := next(t, s); len(f.Data) != limit {
		t.Fatalf("got %d bytes", len(f.Data))
	}
	for range 2900 {
		next(t, s)
	}
	if len(s.buf) > 4*bufSize {
		t.Errorf("the buffer still has %d bytes", len(s.buf))
	}
	if frames, err := all(s); !errors.Is(err, io.EOF) || len(frames) != 100 {
		t.Errorf("then %d frames, %v", len(frames), err)
	}
}

func TestProtocolErrors(t *testing.T) {
	tests := map[string][]byte{
		"length 0":             header('d', 0),
		"length 3":             header('k', 3),
		"parameter, length 3":  header('S', 3),
		"length 4 of CopyData": header('d', 4),
		"CopyData of 1 GiB":    header('d', 1<<30+4),
		"CopyData of 2 GiB":    header('d', 1<<31),
		"CopyData of -1":       header('d', 0xffffffff),
		"error of 2 MiB":       header('E', 2<<20),
		"notice of 1 GiB":      header('N', 1<<30),
		"notice of -1":         header('N', 0xffffffff),
		"unknown CopyData":     pgfake.AppendCopyData(nil, []byte("zzz")),
		"data without message": message('d', append([]byte{'w'}, make([]byte, 24)...)),
		"data cut short":       message('d', []byte("w123")),
		"keepalive too short":  message('d', append([]byte{'k'}, make([]byte, 16)...)),
		"keepalive too long":   message('d', append([]byte{'k'}, make([]byte, 18)...)),
		"large unknown":        message('d', make([]byte, 2*testMax)),
		"large keepalive":      message('d', append([]byte{'k'}, make([]byte, 2*testMax)...)),
		"row description":      message('T', []byte{0, 0}),
		"copy in":              message('G', []byte{0, 0, 0}),
		"malformed error":      message('E', []byte("Cno end")),
		"malformed notice":     message('N', []byte("Cno end")),
		"type 0":               header(0, 4),
	}
	for name, wire := range tests {
		t.Run(name, func(t *testing.T) {
			s := feedStream(slices.Concat(data(1, "before"), wire, data(2, "after")))
			if f := next(t, s); string(f.Data) != "before" {
				t.Fatalf("first %+v", f)
			}
			f, err := s.Next(soon())
			if _, ok := errors.AsType[*ProtocolError](err); !ok {
				t.Fatalf("Next = %+v, %v; want a ProtocolError", f, err)
			}
			if !strings.HasPrefix(err.Error(), "replication protocol: message ") {
				t.Errorf("it reads %q", err)
			}
			if len(s.buf) != bufSize {
				t.Errorf("the buffer grew to %d", len(s.buf))
			}
		})
	}
}

// TestClaimedLengthIsNotAllocated: only what may be buffered is made room for,
// and what may not is not believed before it comes.
func TestClaimedLengthIsNotAllocated(t *testing.T) {
	for name, length := range map[string]uint32{"largest that is kept": testMax + xlogHeader + 4, "largest on the wire": 1<<30 + 3} {
		wire := append(header('d', length), 'w')
		s := feedStream(wire, make([]byte, bufSize/2), nil)
		if f, err := s.Next(soon()); err != nil || f.Kind != FrameNone {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
		if len(s.buf) > testMax+100 {
			t.Errorf("%s: the buffer has %d bytes", name, len(s.buf))
		}
	}
}

func TestServerErrors(t *testing.T) {
	fatal, err := (&pgproto3.ErrorResponse{Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: "57P01", Message: "terminating"}).Encode(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, joined := range map[string]bool{"then the end": false, "together with the end": true} {
		t.Run(name, func(t *testing.T) {
			f := &feed{pieces: [][]byte{slices.Concat(data(1, "before"), fatal)}, joined: joined}
			frames, err := all(f.stream(testMax))
			var pgErr *pgconn.PgError
			if len(frames) != 1 || !errors.As(err, &pgErr) || pgErr.Code != "57P01" || pgErr.SeverityUnlocalized != "FATAL" {
				t.Errorf("%d frames, %v; want the server's reason", len(frames), err)
			}
		})
	}
}

func TestEndOfStream(t *testing.T) {
	for _, wire := range [][]byte{header('c', 4), message('C', []byte("COPY 0\x00")), message('Z', []byte{'I'})} {
		frames, err := all(feedStream(data(1, "before"), wire))
		if len(frames) != 1 || !errors.Is(err, ErrServerDone) {
			t.Errorf("%q: %d frames, %v; want ErrServerDone", wire, len(frames), err)
		}
	}
	// However much of a message came, it ends as it ended, again and again.
	wire := data(1, "cut")
	for n := range wire {
		for _, joined := range []bool{true, false} {
			f := &feed{pieces: [][]byte{slices.Clone(wire[:n])}, joined: joined, end: io.ErrClosedPipe}
			if n == 0 {
				f.pieces = nil
			}
			s := f.stream(testMax)
			for range 2 {
				if f, err := s.Next(soon()); !errors.Is(err, io.ErrClosedPipe) {
					t.Errorf("%d bytes: %+v, %v", n, f, err)
				}
			}
		}
	}
}

func TestBuffered(t *testing.T) {
	parameter := message('S', []byte("a\x00b\x00"))
	tests := []struct {
		name string
		wire []byte
		want bool
	}{
		{"nothing", nil, false},
		{"part of a header", header('d', 100)[:4], false},
		{"header", header('d', 100), false},
		{"all but a byte", data(1, "msg")[:len(data(1, "msg"))-1], false},
		{"message", data(1, "msg"), true},
		{"control message", header('c', 4), true},
		{"bad length", header('d', 2), true},
		{"bad length of a parameter", header('S', 2), true},
		{"only what is passed over", slices.Concat(parameter, parameter), false},
		{"passed over and a part", slices.Concat(parameter, data(1, "msg")[:9]), false},
		{"passed over and a message", slices.Concat(parameter, data(1, "msg")), true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			conn := &feed{pieces: [][]byte{append(data(1, "first"), test.wire...)}}
			s := conn.stream(testMax)
			if s.Buffered() {
				t.Error("Buffered before anything was read")
			}
			if f := next(t, s); string(f.Data) != "first" {
				t.Fatalf("first %+v", f)
			}
			if got := s.Buffered(); got != test.want {
				t.Errorf("Buffered = %v, want %v", got, test.want)
			}
			errTouched := errors.New("the socket was read")
			conn.end = errTouched
			_, err := s.Next(soon())
			if touched := errors.Is(err, errTouched); touched == test.want {
				t.Errorf("Next read the socket: %v", touched)
			}
		})
	}
}

func TestFrameIsValidUntilTheNextCall(t *testing.T) {
	wire := slices.Concat(data(1, "one"), data(2, "two"))
	s := feedStream(wire, data(3, "three"))
	f := next(t, s)
	s.Buffered()
	if err := s.SendStatus(Status{Write: 1}); err != nil {
		t.Fatal(err)
	}
	if string(f.Data) != "one" {
		t.Errorf("the frame has become %q", f.Data)
	}
	if f.Data = append(f.Data, "overwritten"...); string(next(t, s).Data) != "two" {
		t.Error("appending to a frame wrote into the next one")
	}
}

func TestReceived(t *testing.T) {
	s := feedStream(nil, data(1, "x"))
	made := s.Received()
	if _, err := s.Next(soon()); err != nil || !s.Received().Equal(made) {
		t.Errorf("a timeout counted as a sign of life: %v", err)
	}
	next(t, s)
	if !s.Received().After(made) {
		t.Error("bytes did not count as a sign of life")
	}
}

func TestSameFramesWhateverTheCuts(t *testing.T) {
	wire := slices.Concat(script(t), data(7, strings.Repeat("b", testMax+50)), script(t))
	want, _ := all(feedStream(slices.Clone(wire)))
	for _, size := range []int{1, 2, 7, 100, 70_000} {
		if got, _ := all(feedStream(slices.Collect(slices.Chunk(wire, size))...)); !reflect.DeepEqual(got, want) {
			t.Errorf("pieces of %d: %d frames, want %d", size, len(got), len(want))
		}
	}
}
