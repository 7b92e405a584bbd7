package stdout

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// Name is the sink's name in errors, rules and metrics.
const Name = "stdout"

// maxBuffered is how many bytes may wait for the write under way before Send
// does.
const maxBuffered = 1 << 20

var _ sink.Sink = (*Sink)(nil)

var errClosed = errors.New("the sink is closed")

// Sink writes records to one io.Writer in the order of Send, whatever their
// keys. Send is for one goroutine at a time; Close may run beside it.
type Sink struct {
	w       io.Writer
	results sink.Results
	room    chan struct{} // capacity 1: wakes a Send that waits
	down    chan struct{} // closed when failure is set

	mu      sync.Mutex // guards what follows
	waiting *batch     // for the next write
	spare   *batch
	writing *batch        // in the writer's hands, until it or Close takes it out to answer
	running bool          // a writer goroutine is there; it ends when nothing waits
	idle    chan struct{} // if not nil, closed by the writer at its end
	failure *sink.Error   // why no further record is taken
	dropped bool          // what waits is answered with failure, not written
}

// New makes a sink. The writer stays the caller's: Close does not close it.
func New(w io.Writer, results sink.Results) *Sink {
	return &Sink{
		w: w, results: results, room: make(chan struct{}, 1), down: make(chan struct{}),
		waiting: new(batch), spare: new(batch),
	}
}

// Send implements sink.Sink.
func (s *Sink) Send(ctx context.Context, r *sink.Record) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if taken, err := s.take(r); taken || err != nil {
			return err
		}
		select {
		case <-s.room:
		case <-s.down:
		case <-ctx.Done():
		}
	}
}

// take queues the record if there is room, and sees to it that a writer runs.
func (s *Sink) take(r *sink.Record) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure != nil {
		return false, s.failure
	}
	if len(s.waiting.lines) >= maxBuffered {
		return false, nil
	}
	s.waiting.add(r)
	if !s.running {
		s.running = true
		go s.write()
	}
	return true, nil
}

// write writes what has come since the last write, until nothing has.
func (s *Sink) write() {
	for {
		b := s.begin()
		if b == nil {
			return
		}
		n, err := s.w.Write(b.lines)
		if !s.claim(b) {
			continue // Close has answered for it
		}
		var failure error
		if err != nil {
			failure = s.fail(sink.Fatal, "write_failed", fmt.Errorf("write: %w", err))
		} else {
			n = len(b.lines)
		}
		b.answer(s.results, n, failure)
		s.recycle(b)
	}
}

// begin takes the batch that waits. It is nil when there is none: the writer's
// end. What is dropped is answered without being written.
func (s *Sink) begin() *batch {
	for {
		s.mu.Lock()
		b := s.waiting
		if len(b.records) == 0 {
			s.running = false
			if s.idle != nil {
				close(s.idle)
				s.idle = nil
			}
			s.mu.Unlock()
			return nil
		}
		s.waiting = s.spare
		s.spare = nil
		if s.waiting == nil {
			s.waiting = new(batch)
		}
		failure := s.failure
		if !s.dropped {
			s.writing = b
			s.mu.Unlock()
			select {
			case s.room <- struct{}{}:
			default:
			}
			return b
		}
		s.mu.Unlock()
		b.answer(s.results, 0, failure)
	}
}

// claim takes a batch out to answer for it; false if it was taken already.
func (s *Sink) claim(b *batch) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writing != b {
		return false
	}
	s.writing = nil
	return true
}

func (s *Sink) recycle(b *batch) {
	b.reset()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spare = b
}

const reasonClosed = "closed"

// fail makes the sink refuse all further records, and gives the reason why. The
// first failure stays, but for a mere end.
func (s *Sink) fail(kind sink.Kind, reason string, err error) *sink.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropped = s.dropped || kind == sink.Fatal
	if s.failure != nil && s.failure.Reason != reasonClosed {
		return s.failure
	}
	if s.failure == nil {
		close(s.down)
	}
	s.failure = &sink.Error{Kind: kind, Scope: sink.ScopeBatch, Sink: Name, Destination: Name, Reason: reason, Err: err}
	if kind == sink.Fatal {
		s.failure.Remedy = "look at what reads the standard output"
	}
	return s.failure
}

// Close implements sink.Sink. A write that blocks can't be ended: its records
// get their Retriable error now, and its goroutine stays until the write
// returns.
func (s *Sink) Close(ctx context.Context) error {
	failure := s.fail(sink.Retriable, reasonClosed, errClosed)
	idle := s.whenIdle()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	s.dropped = true
	unwritten := []*batch{s.writing, s.waiting}
	answering := s.writing == nil
	n := len(s.waiting.records)
	if !answering {
		n += len(s.writing.records)
		s.writing, s.waiting = nil, new(batch)
	}
	s.mu.Unlock()
	if answering { // the writer does not block: it has not begun, or its write has returned
		<-idle
	} else {
		for _, b := range unwritten {
			b.answer(s.results, 0, failure)
		}
	}
	if n == 0 {
		return nil
	}
	return fmt.Errorf("close stdout sink: %d records not written: %w", n, context.Cause(ctx))
}

// whenIdle is closed when no writer runs.
func (s *Sink) whenIdle() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running && s.idle != nil {
		return s.idle
	}
	idle := make(chan struct{})
	if s.running {
		s.idle = idle
	} else {
		close(idle)
	}
	return idle
}
