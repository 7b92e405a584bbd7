package kafka

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// missingTries is how often a topic must be reported missing, over about a
// second, before we believe it: a broker may learn of a new topic late.
const missingTries = 3

// admit is the slow path of Send: the record's topic is not the last one's, or
// the record would be refused. When it returns nil, s.last is the topic and the
// client has the topic's limit. Only Send's goroutine calls it.
func (s *Sink) admit(ctx context.Context, r *sink.Record, size int) error {
	t := s.topics.get(r.Destination)
	if t == nil {
		var err error
		if t, err = s.load(ctx, r.Destination); err != nil {
			return err
		}
	}
	if refused := t.judge(r, size); refused != nil {
		if time.Since(t.asked) < recheckAfter {
			return refused
		}
		// Before a record is refused, ask whether the reason still
		// holds: the operator may have mended the topic.
		var err error
		if t, err = s.load(ctx, r.Destination); err != nil {
			return err
		}
		if refused := t.judge(r, size); refused != nil {
			return refused
		}
	}
	if !s.producer.Load().adopt(t.name, t.limit) {
		if err := s.renew(ctx, t.limit); err != nil {
			return err
		}
		s.producer.Load().adopt(t.name, t.limit)
	}
	s.last = t
	return nil
}

// load asks about a topic until there is an answer or ctx ends.
func (s *Sink) load(ctx context.Context, name string) (*topic, error) {
	for try := 1; ; try++ {
		a := s.provide(ctx, []string{name})[0]
		switch {
		case a.err == nil:
			s.topics.put(a.topic)
			return a.topic, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case a.err.Kind == sink.Retriable:
			s.log.warn("a topic can't be looked up, trying on", "topic", name, "error", a.err.Err)
		case a.err.Reason != reasonTopicMissing || try >= missingTries:
			s.topics.drop(name)
			// Nothing was sent, and the sink can take records of other
			// topics: only this record waits.
			a.err.Scope = sink.ScopeRecord
			return nil, a.err
		}
		if err := s.pause(ctx, try); err != nil {
			return nil, err
		}
	}
}

// pause waits before the next try: 0.1 s doubling to 5 s, with jitter.
func (s *Sink) pause(ctx context.Context, try int) error {
	d := min(100*time.Millisecond<<min(try, 10), 5*time.Second)
	d = d/2 + rand.N(d/2) //nolint:gosec // jitter needs no secrecy
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-s.down:
		return s.failure.Load()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// renew replaces the client. The old one's promises have all run before: two
// clients with records of one key in flight would keep no order.
func (s *Sink) renew(ctx context.Context, batch int) error {
	select {
	case <-s.window.empty():
	case <-s.down:
		return s.failure.Load()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	// Nor smaller requests than before, or two topics would take turns.
	p, err := newProducer(s.cfg, s.log, s.down, max(batch, s.producer.Load().largest))
	if err != nil {
		return err
	}
	s.producer.Swap(p).client.Close()
	return nil
}
