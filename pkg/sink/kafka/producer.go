package kafka

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// maxTopics bounds the topics that one client has to remember. Beyond it the
// client is replaced.
const maxTopics = 4096

// metadataMinAge is the pause between two looks at the cluster, and so between
// two tries of a batch that a broker could not store. unknownTopicRetries times
// that is how long a topic may be gone that was there when we looked, before its
// records fail: a broker that has just started does not know all topics.
const (
	metadataMinAge      = 250 * time.Millisecond
	unknownTopicRetries = 20
)

// requestBytes bounds a produce request, unless one topic takes larger batches.
// A request carries a batch of each partition: without the bound it, and the
// buffer that it is encoded into, would grow to all that is in flight, for no
// gain in speed.
const requestBytes = 2 << 20

// requestOverhead is room for a request's other fields with the longest topic
// and client id.
const requestOverhead = 1024

// producer is one client and the batch limits that it has been given.
type producer struct {
	client *kgo.Client
	// permitted is set once a broker has given out a producer id.
	permitted atomic.Bool
	// largest is the largest batch that fits the client's requests.
	largest int

	mu     sync.Mutex // guards limits
	limits map[string]int
}

// newProducer makes a client. It does no I/O. Once down is closed the client
// sends no more records. Its requests have room for batches of the given size.
func newProducer(cfg Config, log kgo.Logger, down <-chan struct{}, batch int) (*producer, error) {
	p := &producer{largest: max(batch, requestBytes-requestOverhead), limits: make(map[string]int)}
	compression, err := Codec(cfg.Compression)
	if err != nil {
		return nil, err
	}
	opts := []kgo.Opt{
		kgo.SeedBrokers(cfg.Brokers...),
		kgo.ClientID(cfg.ClientID),
		kgo.SoftwareNameAndVersion("outbox-cdc", "0"),
		kgo.WithLogger(log),
		kgo.Dialer(dialer(cfg, down)),
		// Load balancers without a broker behind them close at once, too.
		kgo.AlwaysRetryEOF(),
		// Telemetry would hold Close for a second when a broker is frozen.
		kgo.DisableClientMetrics(),

		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.RecordPartitioner(kgo.StickyKeyPartitioner(nil)),
		kgo.StopProducerOnDataLossDetected(),
		kgo.UnknownTopicRetries(unknownTopicRetries),
		kgo.MetadataMinAge(metadataMinAge),

		kgo.ProducerBatchCompression(compression, kgo.NoCompression()), // none where a broker is too old for it
		kgo.ProducerLinger(cfg.Linger),
		kgo.ProducerBatchMaxBytesFn(p.batchMaxBytes),
		kgo.BrokerMaxWriteBytes(int32(p.largest + requestOverhead)), //nolint:gosec // capped at maxRequestBytes
		// Our own window blocks first: the client's can only be left by
		// a context that would then cancel the record later on as well.
		kgo.MaxBufferedRecords(2*cfg.MaxBufferedRecords + 1024),

		kgo.ProduceRequestTimeout(cfg.RequestTimeout),
		kgo.RequestTimeoutOverhead(min(cfg.RequestTimeout, 15*time.Minute)),
		kgo.RetryTimeout(cfg.RequestTimeout),
		// Below the idle limits of common load balancers (350 s), above
		// what would make every second event pay for a new connection.
		kgo.ConnIdleTimeout(4 * time.Minute),
	}
	p.client, err = kgo.NewClient(append(opts, cfg.Options...)...)
	if err != nil {
		return nil, fmt.Errorf("make kafka client: %w", err)
	}
	return p, nil
}

// batchMaxBytes is asked by the client once a partition; it keeps the answer.
func (p *producer) batchMaxBytes(topic string) int32 {
	if n, ok := p.limit(topic); ok {
		return int32(n) //nolint:gosec // capped at maxRequestBytes
	}
	return fallbackMaxMessageBytes
}

// limit is the batch limit that the client has for this topic.
func (p *producer) limit(topic string) (n int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n, ok = p.limits[topic]
	return n, ok
}

// adopt gives the client a topic's limit. It is false when the client has
// another one already, no room for one more topic, or requests that are too
// small: it must be replaced.
func (p *producer) adopt(topic string, limit int) bool {
	if limit > p.largest {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if n, ok := p.limits[topic]; ok {
		return n == limit
	}
	if len(p.limits) >= maxTopics {
		return false
	}
	p.limits[topic] = limit
	return true
}
