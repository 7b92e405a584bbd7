package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

var errClosed = errors.New("the sink is closed")

// Close implements sink.Sink. What a broker has not answered for when ctx ends
// gets a Retriable error; it may be stored nevertheless. Further calls do
// nothing.
func (s *Sink) Close(ctx context.Context) error {
	s.closeMu.Lock()
	again := s.closing
	s.closing = true
	s.closeMu.Unlock()
	if again {
		return nil
	}
	defer s.ending.Wait()
	client := s.producer.Load().client
	flushed := s.settle(ctx, client)
	undelivered := s.window.inFlight()
	s.fail(&sink.Error{
		Kind: sink.Retriable, Scope: sink.ScopeBatch, Sink: Name, Reason: reasonClosed, Err: errClosed,
	})
	// Closing the client kills its connections and then fails whatever is
	// left, idempotent records in flight included, which no context and no
	// timeout could cancel before. Their promises run on a goroutine of the
	// client, so that they may still be outstanding when it returns.
	client.Close()
	<-s.window.empty()
	if flushed != nil && undelivered > 0 && !errors.Is(flushed, errSettle) {
		return fmt.Errorf("close kafka sink: %d records without an answer: %w", undelivered, flushed)
	}
	return nil
}

// settleTime is what records in flight are given to get their true result
// after another one failed. Whatever has none by then is sent again.
const settleTime = time.Second

var errSettle = errors.New("the sink is done, not all records had an answer in time")

// settle waits for everything in flight. Once the sink is done, what the fence
// holds back can't settle any more, and so there is a limit.
func (s *Sink) settle(ctx context.Context, client *kgo.Client) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	flushed := make(chan error, 1)
	go func() {
		if client.Flush(ctx) != nil { // its error is the context's
			flushed <- context.Cause(ctx)
			return
		}
		flushed <- nil
	}()
	select {
	case err := <-flushed:
		return err
	case <-s.down:
	}
	timer := time.NewTimer(settleTime)
	defer timer.Stop()
	select {
	case err := <-flushed:
		return err
	case <-timer.C:
		cancel(errSettle)
		return <-flushed
	}
}

// giveUp ends the sink with e, from within the client, and then the client, after
// what can still be answered was: it may hold records for ever. One is that it may
// have sent before its login was refused; another is that of a topic it was just
// learning of when it failed all it knew to hold.
func (s *Sink) giveUp(e *sink.Error) {
	s.fail(e)
	s.closeMu.Lock()
	defer s.closeMu.Unlock()
	if s.closing || s.ended {
		return
	}
	s.ended = true
	s.ending.Go(func() {
		client := s.producer.Load().client
		_ = s.settle(context.Background(), client) // each record gets its own error
		client.Close()
	})
}

// refused gives up when a broker keeps refusing us while records wait for it.
// Without any, the next Send finds out by itself.
func (s *Sink) refused(address string, v verdict, err error) {
	if s.window.inFlight() > 0 {
		s.giveUp(v.error("", sink.ScopeBatch, fmt.Errorf("broker %s: %w", address, err)))
	}
}
