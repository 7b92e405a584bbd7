package kafka

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

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
	told     atomic.Bool                // a result was an error
	down     chan struct{}              // closed together with failure being set
	downOnce sync.Once

	closeMu sync.Mutex // guards closing and ended, and orders ending.Go before ending.Wait
	closing bool
	ended   bool
	ending  sync.WaitGroup

	last         *topic    // the topic of the last Send; Send's goroutine only
	warnSettings sync.Once // says that topic settings can't be read
}

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
	s.log = newClientLog(cfg.Logger, func(topic string, err error) { s.giveUp(failed(topic, err)) })
	s.window = newWindow(cfg.MaxBufferedRecords, cfg.MaxBufferedBytes, s.newMessage)
	if err := s.connect(); err != nil {
		return nil, fmt.Errorf("kafka sink: %w", err)
	}
	p, err := newProducer(s.cfg, s.log, s.down, 0)
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

// connect sets up the login and the eye on connections for all clients to come.
func (s *Sink) connect() error {
	watch := &connections{refused: s.refused}
	opts := []kgo.Opt{kgo.WithHooks(watch)}
	if s.cfg.SASL != nil {
		l, err := newLogin(&s.cfg)
		if err != nil {
			return err
		}
		if l.tokens != nil {
			watch.rejected = l.tokens.drop
		}
		opts = append(opts, kgo.SASL(l))
	}
	s.cfg.Options = append(opts, s.cfg.Options...)
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
