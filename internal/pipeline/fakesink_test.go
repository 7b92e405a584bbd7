package pipeline

import (
	"context"
	"errors"
	"sync"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// fakeSink stores or holds what it is sent.
type fakeSink struct {
	results sink.Results

	mu      sync.Mutex
	hold    bool // keep records without a result
	refuse  func(*sink.Record) error
	held    []*sink.Record
	stored  []string // event ids
	failure error
	closed  bool
	changed chan struct{} // a held record had its result
}

func (s *fakeSink) Send(_ context.Context, r *sink.Record) error {
	s.mu.Lock()
	if s.failure != nil {
		defer s.mu.Unlock()
		return s.failure
	}
	if s.refuse != nil {
		if err := s.refuse(r); err != nil {
			defer s.mu.Unlock()
			return err
		}
	}
	if s.hold {
		s.held = append(s.held, r)
		s.mu.Unlock()
		return nil
	}
	s.stored = append(s.stored, idOf(r))
	s.mu.Unlock()
	s.results(r, nil)
	return nil
}

func idOf(r *sink.Record) string { return string(r.Headers[0].Value) }

// ack stores the i-th held record.
func (s *fakeSink) ack(i int) {
	s.mu.Lock()
	r := s.held[i]
	s.held = append(s.held[:i:i], s.held[i+1:]...)
	s.stored = append(s.stored, idOf(r))
	s.mu.Unlock()
	s.results(r, nil)
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

func (s *fakeSink) ackAll() {
	for s.holding() > 0 {
		s.ack(0)
	}
}

func (s *fakeSink) holding() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.held)
}

func (s *fakeSink) ids() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.stored...)
}

func (s *fakeSink) set(f func(*fakeSink)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s)
}

// failOldest gives the oldest held record a bad result.
func (s *fakeSink) failOldest(err error) {
	s.mu.Lock()
	s.failure = err
	r := s.held[0]
	s.held = s.held[1:]
	s.mu.Unlock()
	s.results(r, err)
}

var errFakeClosed = &sink.Error{Kind: sink.Retriable, Scope: sink.ScopeBatch, Sink: "kafka", Err: errors.New("closed")}

// Close waits for held records until ctx ends.
func (s *fakeSink) Close(ctx context.Context) error {
	for s.holding() > 0 && ctx.Err() == nil {
		select {
		case <-s.changed:
		case <-ctx.Done():
		}
	}
	s.mu.Lock()
	left := s.held
	s.held, s.closed = nil, true
	s.mu.Unlock()
	for _, r := range left {
		s.results(r, errFakeClosed)
	}
	return nil
}
