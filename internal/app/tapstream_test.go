package app

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/config"
	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl"
	"github.com/outbox-cdc/outbox-cdc/internal/pipeline"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/format"
	"github.com/outbox-cdc/outbox-cdc/pkg/router"
)

// played is a stream of given frames; after them the server is silent.
type played struct {
	frames   []pgrepl.Frame
	received time.Time
	statuses []pgrepl.Status
	at       []time.Time // of the statuses
	closed   bool
	refuse   error // of a status
}

var _ pipeline.Source = (*played)(nil)

func (p *played) Next(deadline time.Time) (pgrepl.Frame, error) {
	if len(p.frames) == 0 {
		<-time.After(time.Until(deadline))
		return pgrepl.Frame{Kind: pgrepl.FrameNone}, nil
	}
	f := p.frames[0]
	p.frames = p.frames[1:]
	p.received = time.Now()
	return f, nil
}

func (p *played) Buffered() bool      { return len(p.frames) > 0 }
func (p *played) Received() time.Time { return p.received }
func (p *played) Interrupt()          {}
func (p *played) Close()              { p.closed = true }

func (p *played) SendStatus(st pgrepl.Status) error {
	p.statuses, p.at = append(p.statuses, st), append(p.at, time.Now())
	return p.refuse
}

func (p *played) Finish(st pgrepl.Status, _ time.Time) error {
	p.closed = true
	return p.SendStatus(st)
}

func begin(final uint64) pgrepl.Frame {
	return pgrepl.Frame{Kind: pgrepl.FrameData, Data: append(binary.BigEndian.AppendUint64([]byte{'B'}, final), make([]byte, 12)...)}
}

func commit(final, end uint64) pgrepl.Frame {
	b := binary.BigEndian.AppendUint64([]byte{'C', 0}, final)
	return pgrepl.Frame{Kind: pgrepl.FrameData, Data: append(binary.BigEndian.AppendUint64(b, end), make([]byte, 8)...)}
}

func keepalive(end decoder.LSN, reply bool) pgrepl.Frame {
	return pgrepl.Frame{Kind: pgrepl.FrameKeepalive, WALEnd: end, ReplyRequested: reply}
}

// fakeTap is a tap without a table that matters.
func fakeTap(t *testing.T, out, notes io.Writer) *tap {
	t.Helper()
	rules, err := router.New("* -> stdout")
	if err != nil {
		t.Fatal(err)
	}
	tables, err := outboxTables(&config.Config{Tables: "public.outbox"})
	if err != nil {
		t.Fatal(err)
	}
	return newTap(map[string]pipeline.Formatter{"": format.NewRaw(format.Options{Source: "n"})}, rules, decoder.New(tables), TapOptions{}, out, notes)
}

const fakeTimeout = 15 * time.Second

// TestTapLetsItsSlotGo: the slot of the tap moves with what was shown, and not
// within a transaction.
func TestTapLetsItsSlotGo(t *testing.T) {
	for _, tc := range []struct {
		title  string
		frames []pgrepl.Frame
		want   pgrepl.Status
	}{
		{"nothing came", nil, pgrepl.Status{Reply: true}},
		{"idle", []pgrepl.Frame{keepalive(70, false)}, pgrepl.Status{Write: 70, Flush: 70, Reply: true}},
		{"within", []pgrepl.Frame{begin(100), keepalive(150, false)}, pgrepl.Status{Write: 150, Reply: true}},
		{"after", []pgrepl.Frame{begin(100), commit(100, 120)}, pgrepl.Status{Write: 120, Flush: 120, Reply: true}},
		{"beyond", []pgrepl.Frame{begin(100), commit(100, 120), keepalive(200, false)}, pgrepl.Status{Write: 200, Flush: 200, Reply: true}},
	} {
		synctest.Test(t, func(t *testing.T) {
			src := &played{frames: tc.frames, received: time.Now()}
			if err := fakeTap(t, io.Discard, io.Discard).run(t.Context(), src, fakeTimeout); !errors.Is(err, pgrepl.ErrSilent) || !src.closed {
				t.Errorf("%s: a silent server ends it with %v, closed %v", tc.title, err, src.closed)
			}
			if got := src.statuses[len(src.statuses)-1]; got != tc.want {
				t.Errorf("%s: status %+v, want %+v", tc.title, got, tc.want)
			}
			for i := range src.at[1:] {
				if gap := src.at[i+1].Sub(src.at[i]); gap != fakeTimeout/3 {
					t.Errorf("%s: %v between two statuses", tc.title, gap)
				}
			}
		})
	}
}

// TestTapAnswers at once, but not without end.
func TestTapAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &played{received: time.Now()}
		for range 50 {
			src.frames = append(src.frames, keepalive(70, true))
		}
		if err := fakeTap(t, io.Discard, io.Discard).run(t.Context(), src, fakeTimeout); !errors.Is(err, pgrepl.ErrSilent) {
			t.Error(err)
		}
		if len(src.at) < 2 || src.at[1].Sub(src.at[0]) != tapReplyPace || len(src.at) > 6 {
			t.Errorf("statuses at %v", src.at)
		}
	})
}

// brokenPipe refuses to be written to.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestTapEndsWithWhatItTalksTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("gone")
		src := &played{refuse: gone}
		if err := fakeTap(t, io.Discard, io.Discard).run(t.Context(), src, fakeTimeout); !errors.Is(err, gone) || !src.closed {
			t.Errorf("a status that can't be sent: %v", err)
		}
		tp := fakeTap(t, brokenPipe{}, io.Discard)
		if _, err := tp.out.WriteString("a record\n"); err != nil {
			t.Fatal(err)
		}
		src = &played{}
		if err := tp.run(t.Context(), src, fakeTimeout); !errors.Is(err, io.ErrClosedPipe) || !src.closed {
			t.Errorf("output that is closed: %v", err)
		}
		undecodable := pgrepl.Frame{Kind: pgrepl.FrameData, Data: []byte{'C'}}
		src = &played{frames: []pgrepl.Frame{undecodable}}
		if err := fakeTap(t, io.Discard, io.Discard).run(t.Context(), src, fakeTimeout); err == nil || !src.closed {
			t.Errorf("bytes that can't be decoded: %v", err)
		}
	})
}

// TestTapNotesComeInOrder: a note stands behind the records that came before.
func TestTapNotesComeInOrder(t *testing.T) {
	var both bytes.Buffer
	tp := fakeTap(t, &both, &both)
	if _, err := tp.out.WriteString("a record\n"); err != nil {
		t.Fatal(err)
	}
	if err := tp.summary(); err != nil {
		t.Fatal(err)
	}
	if want := "a record\ntap: 0 records of 0 events; 0 events dropped by a rule, 0 that can't be delivered\n"; both.String() != want {
		t.Errorf("got %q, want %q", both.String(), want)
	}
}
