package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// Name is the sink's name in errors, rules and metrics.
const Name = "kafka"

var (
	_ sink.Sink    = (*Sink)(nil)
	_ sink.Checker = (*Sink)(nil)
)

// Sink delivers to one Kafka cluster. Send is for one goroutine at a time;
// Check and Close may run beside it.
type Sink struct {
	cfg     Config
	results sink.Results
	log     *clientLog
	window  *window
	topics  *topics

	producer atomic.Pointer[producer]
	failure  atomic.Pointer[sink.Error] // why the sink is done
	down     chan struct{}              // closed together with failure being set
	downOnce sync.Once
	closing  atomic.Bool

	last         *topic    // the topic of the last Send; Send's goroutine only
	warnSettings sync.Once // says that topic settings can't be read
}

var errClosed = errors.New("the sink is closed")

// New makes a sink. It does not connect: that is Check's, or the first Send's.
// Results must not block, nor call the sink; a sink that is not needed any more
// must be closed.
func New(cfg Config, results sink.Results) (*Sink, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("kafka sink: %w", err)
	}
	s := &Sink{
		cfg:     cfg,
		results: results,
		topics:  newTopics(),
		down:    make(chan struct{}),
	}
	s.log = newClientLog(cfg.Logger, func(topic string, err error) { s.fail(failed(topic, err)) })
	s.window = newWindow(cfg.MaxBufferedRecords, cfg.MaxBufferedBytes, s.newMessage)
	p, err := newProducer(cfg, s.log, s.down, 0)
	if err != nil {
		return nil, fmt.Errorf("kafka sink: %w", err)
	}
	s.producer.Store(p)
	return s, nil
}

// Send implements sink.Sink. The first record of a topic waits until the
// brokers have described it, however long they are away.
func (s *Sink) Send(ctx context.Context, r *sink.Record) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if failure := s.failure.Load(); failure != nil {
		return failure
	}
	size := batchSize(r)
	if t := s.last; t == nil || t.stale.Load() || t.name != r.Destination || t.judge(r, size) != nil {
		if err := s.admit(ctx, r, size); err != nil {
			return err
		}
	}
	m, err := s.window.enter(ctx, s.down, size)
	if err != nil {
		return err
	}
	if failure := s.failure.Load(); failure != nil {
		if m != nil {
			s.window.leave(m, size)
		}
		return failure
	}
	m.fill(r, size)
	// Not ctx: the record would be cancelled with it after Send returned.
	s.producer.Load().client.Produce(context.Background(), &m.kafka, m.promise)
	return nil
}

// fail makes the sink refuse all further records with e, unless it is done
// already.
func (s *Sink) fail(e *sink.Error) {
	s.downOnce.Do(func() {
		s.failure.Store(e)
		close(s.down)
	})
}

// Close implements sink.Sink. What a broker has not answered for when ctx ends
// gets a Retriable error; it may be stored nevertheless. Further calls do
// nothing.
func (s *Sink) Close(ctx context.Context) error {
	if s.closing.Swap(true) {
		return nil
	}
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
