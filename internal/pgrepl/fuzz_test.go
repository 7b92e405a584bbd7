package pgrepl

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// fuzzMax makes small inputs reach the path of oversized messages.
const fuzzMax = headKept

// cutBy cuts wire into pieces whose sizes come from cuts; a size of 0 is a read
// that times out.
func cutBy(wire, cuts []byte) [][]byte {
	var pieces [][]byte
	for _, c := range cuts {
		n := min(int(c)*int(c), len(wire))
		pieces = append(pieces, slices.Clone(wire[:n]))
		wire = wire[n:]
	}
	if len(wire) > 0 {
		pieces = append(pieces, slices.Clone(wire))
	}
	return pieces
}

// outcome is an error without what may differ.
func outcome(err error) string {
	var pgErr *pgconn.PgError
	var protocol *ProtocolError
	switch {
	case errors.As(err, &pgErr):
		return "server: " + pgErr.Code + pgErr.Message
	case errors.As(err, &protocol):
		return protocol.Error()
	}
	return err.Error()
}

// FuzzStream feeds what no server would send, in pieces of any size: there is
// no panic, no buffer beyond the bound, and the pieces decide nothing.
func FuzzStream(f *testing.F) {
	f.Add(script(f), []byte{1, 0, 2, 3, 0, 9}, uint8(0))
	f.Add(header('d', 1<<31), []byte{2}, uint8(0))
	f.Add(header('d', 1<<30+3), []byte{2}, uint8(3))
	f.Add(header('E', 1<<20), []byte{}, uint8(1))
	f.Add(slices.Concat(data(1, string(make([]byte, 100))), header('c', 4)), []byte{5, 5, 5, 0, 5}, uint8(2))
	f.Fuzz(func(t *testing.T, wire, cuts []byte, large uint8) {
		if large %= 8; large > 0 { // a message of up to 448 KiB in the middle
			at := len(wire) / 2
			body := make([]byte, xlogHeader+int(large)<<16)
			body[0] = 'w'
			binary.BigEndian.PutUint64(body[9:], uint64(large))
			wire = slices.Concat(wire[:at], message('d', body), wire[at:])
		}
		whole := &feed{pieces: [][]byte{slices.Clone(wire)}}
		want, wantErr := all(whole.stream(fuzzMax))
		parts := &feed{pieces: cutBy(wire, cuts), joined: len(cuts)%2 == 0}
		s := parts.stream(fuzzMax)
		got, gotErr := all(s)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d frames, %d without cuts", len(got), len(want))
		}
		if outcome(gotErr) != outcome(wantErr) {
			t.Errorf("ended with %v, without cuts %v", gotErr, wantErr)
		}
		if len(s.buf) > max(bufSize, controlMax+2*msgHeader) {
			t.Errorf("the buffer has %d bytes", len(s.buf))
		}
		total := 0
		for _, frame := range got {
			total += len(frame.Data)
			if frame.Kind == FrameTooLarge && frame.Size <= len(frame.Data) {
				t.Errorf("a frame of %d bytes was cut to %d", frame.Size, len(frame.Data))
			}
		}
		if total > len(wire) {
			t.Errorf("%d bytes made of %d", total, len(wire))
		}
	})
}

// repeat is a server that sends the same messages for ever.
type repeat struct {
	feed

	wire []byte
	at   int
}

func (r *repeat) Read(p []byte) (int, error) {
	n := copy(p[:min(len(p), 7<<10)], r.wire[r.at:])
	r.at = (r.at + n) % len(r.wire)
	return n, nil
}

func hotStream() (*Stream, *repeat) {
	r := &repeat{wire: slices.Concat(
		data(1, string(bytes.Repeat([]byte{'x'}, 450))), keepalive(2, false), data(3, string(make([]byte, 700))))}
	s := newStream(r, r, testMax)
	s.pause = func(time.Duration) {}
	return s, r
}

func TestFramesAreReadWithoutAllocations(t *testing.T) {
	s, _ := hotStream()
	deadline := soon()
	perFrame := testing.AllocsPerRun(50_000, func() {
		if f, err := s.Next(deadline); err != nil || f.Kind == FrameNone {
			t.Fatalf("Next = %+v, %v", f, err)
		}
	})
	if perFrame != 0 {
		t.Errorf("%v allocations a frame", perFrame)
	}
	conn := &feed{}
	conn.sent.Grow(1 << 20)
	s = newStream(conn, conn, testMax)
	perStatus := testing.AllocsPerRun(1000, func() {
		if err := s.SendStatus(Status{Write: 1}); err != nil {
			t.Fatal(err)
		}
	})
	if perStatus != 0 {
		t.Errorf("%v allocations a status", perStatus)
	}
}

func BenchmarkNext(b *testing.B) {
	s, r := hotStream()
	deadline := soon()
	b.SetBytes(int64(len(r.wire)) / 3)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Next(deadline); err != nil && !errors.Is(err, io.EOF) {
			b.Fatal(err)
		}
	}
}
