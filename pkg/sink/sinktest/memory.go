package sinktest

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// Memory is a sink that keeps what it gets, for the tests of those who use
// sinks. It answers at once, in Send, unless Hold is in force. Safe for any
// number of goroutines.
type Memory struct {
	results sink.Results

	mu      sync.Mutex // guards what follows
	stored  []sink.Record
	held    []*sink.Record
	holding bool
	closed  bool
	refuse  error // the result of the next record
	failure error // why the sink is done
}

var _ sink.Sink = (*Memory)(nil)

var errMemoryClosed = errors.New("the sink is closed")

// NewMemory makes an empty Memory.
func NewMemory(results sink.Results) *Memory { return &Memory{results: results} }

// Hold makes the sink keep records without an answer, until Release.
func (m *Memory) Hold() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.holding = true
}

// Release ends Hold, and stores and answers what was held, in order.
func (m *Memory) Release() {
	m.mu.Lock()
	held := m.held
	m.holding, m.held = false, nil
	errs := make([]error, len(held))
	for i, r := range held {
		errs[i] = m.store(r)
	}
	m.mu.Unlock()
	for i, r := range held {
		m.results(r, errs[i])
	}
}

// Refuse makes err the result of the next record that would be stored.
func (m *Memory) Refuse(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refuse = err
}

// Stored gives copies of all records stored so far, in order.
func (m *Memory) Stored() []sink.Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.stored)
}

// Send implements sink.Sink.
func (m *Memory) Send(ctx context.Context, r *sink.Record) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	m.mu.Lock()
	switch {
	case m.closed:
		m.mu.Unlock()
		return memoryError(sink.Retriable, "closed", errMemoryClosed)
	case m.failure != nil:
		defer m.mu.Unlock()
		return m.failure
	case m.holding:
		m.held = append(m.held, r)
		m.mu.Unlock()
		return nil
	}
	err := m.store(r)
	m.mu.Unlock()
	m.results(r, err)
	return nil
}

// store is called with mu held and gives the record's result.
func (m *Memory) store(r *sink.Record) error {
	if m.failure == nil && m.refuse != nil {
		m.failure, m.refuse = m.refuse, nil
	}
	if m.failure == nil {
		m.stored = append(m.stored, clone(r))
	}
	return m.failure
}

// Close implements sink.Sink. Held records get a Retriable error: Memory does
// not wait for Release.
func (m *Memory) Close(context.Context) error {
	m.mu.Lock()
	held := m.held
	m.held, m.closed = nil, true
	m.mu.Unlock()
	for _, r := range held {
		m.results(r, memoryError(sink.Retriable, "closed", errMemoryClosed))
	}
	if len(held) > 0 {
		return errMemoryClosed
	}
	return nil
}

func memoryError(kind sink.Kind, reason string, err error) *sink.Error {
	return &sink.Error{Kind: kind, Scope: sink.ScopeRecord, Sink: "memory", Reason: reason, Err: err}
}
