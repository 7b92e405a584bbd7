package pipeline

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/format"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset"
	"github.com/outbox-cdc/outbox-cdc/pkg/router"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// fakeServer is a server and its slot: it accepts sessions and records what it
// is told.
type fakeServer struct {
	mu     sync.Mutex
	info   SessionInfo
	refuse error // answer of the next Connect
	// onConnect may change what a session is told.
	onConnect func(*SessionInfo) error
	started   []decoder.LSN
	statuses  []pgrepl.Status
	finished  bool
	mute      bool // does not answer a status that asks for it
	// asksAgain is where WAL ends for a server that shuts down: it answers
	// each status that does not say that all was written by asking again.
	asksAgain decoder.LSN
	session   *fakeSource
	arrived   chan *fakeSource
}

func newFakeServer() *fakeServer {
	return &fakeServer{
		info: SessionInfo{
			Identity: pgrepl.Identity{SystemID: "1", Timeline: 1, Database: "db", Flush: 1 << 48}, Slot: "s",
			PID: 7, SlotConfirmed: 100, SenderTimeout: 15 * time.Second,
		},
		arrived: make(chan *fakeSource, 100),
	}
}

func (s *fakeServer) connect(context.Context) (Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse != nil {
		return nil, s.refuse
	}
	info := s.info
	if s.onConnect != nil {
		if err := s.onConnect(&info); err != nil {
			return nil, err
		}
	}
	return &fakeSession{s, info}, nil
}

func (s *fakeServer) change(f func(*fakeServer)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s)
}

func (s *fakeServer) lastStatus() pgrepl.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.statuses) == 0 {
		return pgrepl.Status{}
	}
	return s.statuses[len(s.statuses)-1]
}

func (s *fakeServer) statusCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.statuses)
}

type fakeSession struct {
	s    *fakeServer
	info SessionInfo
}

func (f *fakeSession) Info() SessionInfo     { return f.info }
func (f *fakeSession) Close(context.Context) {}
func (f *fakeSession) Start(_ context.Context, at decoder.LSN) (Source, error) {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	f.s.started = append(f.s.started, at)
	src := &fakeSource{
		server: f.s, frames: make(chan any, 10_000), wake: make(chan struct{}, 1), received: time.Now(),
	}
	f.s.session = src
	f.s.arrived <- src
	return src, nil
}

// fakeSource is one stream; frames holds pgrepl.Frame or error.
type fakeSource struct {
	server   *fakeServer
	frames   chan any
	wake     chan struct{}
	received time.Time
}

func (f *fakeSource) send(msgs ...[]byte) {
	for _, m := range msgs {
		f.frames <- pgrepl.Frame{Kind: pgrepl.FrameData, Data: m}
	}
}

func (f *fakeSource) keepalive(end decoder.LSN, reply bool) {
	f.frames <- pgrepl.Frame{Kind: pgrepl.FrameKeepalive, WALEnd: end, ReplyRequested: reply}
}

// transaction sends a whole one with these rows.
func (f *fakeSource) transaction(at decoder.LSN, rows ...[]byte) {
	f.send(begin(at))
	f.send(relation(outboxOID, "outbox"))
	f.send(rows...)
	f.send(commit(at))
}

func (f *fakeSource) cut(err error) { f.frames <- err }

func (f *fakeSource) Next(deadline time.Time) (pgrepl.Frame, error) {
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case v := <-f.frames:
		return f.take(v)
	default:
	}
	select {
	case v := <-f.frames:
		return f.take(v)
	case <-timer.C:
	case <-f.wake:
	}
	return pgrepl.Frame{Kind: pgrepl.FrameNone}, nil
}

func (f *fakeSource) take(v any) (pgrepl.Frame, error) {
	f.received = time.Now()
	switch v := v.(type) {
	case error:
		return pgrepl.Frame{}, v
	case time.Duration:
		<-time.After(v)
		return pgrepl.Frame{Kind: pgrepl.FrameNone}, nil
	case pgrepl.Frame:
		return v, nil
	}
	panic("not a frame")
}

func (f *fakeSource) Buffered() bool      { return len(f.frames) > 0 }
func (f *fakeSource) Received() time.Time { return f.received }
func (f *fakeSource) Close()              {}
func (f *fakeSource) Interrupt() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

func (f *fakeSource) SendStatus(st pgrepl.Status) error {
	f.server.mu.Lock()
	defer f.server.mu.Unlock()
	f.server.statuses = append(f.server.statuses, st)
	if end := f.server.asksAgain; end != 0 {
		if st.Flush == 0 && st.Write >= end {
			f.server.asksAgain = 0
			f.frames <- io.EOF
		} else {
			f.frames <- pgrepl.Frame{Kind: pgrepl.FrameKeepalive, WALEnd: end, ReplyRequested: true}
		}
		return nil
	}
	if st.Reply && !f.server.mute {
		select {
		case f.frames <- pgrepl.Frame{Kind: pgrepl.FrameKeepalive}:
		default:
		}
	}
	return nil
}

func (f *fakeSource) Finish(st pgrepl.Status, _ time.Time) error {
	f.server.mu.Lock()
	f.server.finished = true
	f.server.mu.Unlock()
	return f.SendStatus(st)
}

// rig is a running pipeline with everything around it faked.
type rig struct {
	t      *testing.T
	p      *Pipeline
	server *fakeServer
	sinks  chan *fakeSink
	holds  atomic.Bool // new sinks keep what they are sent
	stop   context.CancelFunc
	ended  chan error
}

const testRules = `order -> kafka:orders
debug -> drop`

// start runs a pipeline inside a synctest bubble.
func start(t *testing.T, change func(*Config)) *rig {
	t.Helper()
	names, err := decoder.ParseTables("public.outbox")
	if err != nil {
		t.Fatal(err)
	}
	tables, err := decoder.NewTables(names, decoder.Mapping{})
	if err != nil {
		t.Fatal(err)
	}
	rules, err := router.New(testRules)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, server: newFakeServer(), sinks: make(chan *fakeSink, 100), ended: make(chan error, 1)}
	cfg := Config{
		Log: testLog(t), Tables: tables, Router: rules, Formats: map[string]Formatter{"": format.NewRaw(format.Options{Source: "test"})},
		Limits:  offset.Limits{Records: 100, Bytes: 4 << 20},
		Connect: r.server.connect,
		OpenSinks: func(results sink.Results) (map[string]sink.Sink, error) {
			s := &fakeSink{results: results, changed: make(chan struct{}, 1), hold: r.holds.Load()}
			r.sinks <- s
			return map[string]sink.Sink{"kafka": s}, nil
		},
		StatusInterval: 250 * time.Millisecond, BackoffMax: 10 * time.Second, HoldRetry: 30 * time.Second,
		StandbyPoll: time.Second, ShutdownGrace: 20 * time.Second,
	}
	if change != nil {
		change(&cfg)
	}
	if r.p, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r.stop = cancel
	go func() { r.ended <- r.p.Run(ctx) }()
	t.Cleanup(cancel)
	return r
}

// session is the next session that streams.
func (r *rig) session() *fakeSource { return <-r.server.arrived }

// end stops the pipeline and waits for it.
func (r *rig) end() {
	r.t.Helper()
	r.stop()
	if err := <-r.ended; err != nil {
		r.t.Errorf("Run: %v", err)
	}
}

// settle lets everything happen that can happen now, and d of time pass.
func settle(d time.Duration) {
	if d > 0 {
		<-time.After(d)
	}
	synctest.Wait()
}

func (r *rig) wantFlush(want decoder.LSN) {
	r.t.Helper()
	if got := r.server.lastStatus().Flush; got != want {
		r.t.Errorf("flush %v, want %v", got, want)
	}
}

func (r *rig) wantState(want State) {
	r.t.Helper()
	if got := r.p.Status(); got.State != want {
		r.t.Errorf("state %v (%s), want %v", got.State, got.Reason, want)
	}
}

func wantIDs(t *testing.T, s *fakeSink, want ...string) {
	t.Helper()
	if got := fmt.Sprint(s.ids()); got != fmt.Sprint(want) {
		t.Errorf("stored %v, want %v", got, want)
	}
}
