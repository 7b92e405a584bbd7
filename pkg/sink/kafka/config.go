package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Defaults of Config's zero values.
const (
	DefaultClientID           = "outbox-cdc"
	DefaultCompression        = "lz4"
	DefaultRequestTimeout     = 10 * time.Second
	DefaultMaxBufferedRecords = 100_000
	DefaultMaxBufferedBytes   = 256 << 20
)

// minBatchBytes is the least that Config.BatchMaxBytes may be.
const minBatchBytes = 16 << 10

// Config is what a Sink is made from. The zero value of every field but
// Brokers is usable.
type Config struct {
	// Brokers are the seed brokers, "host:port".
	Brokers []string
	// ClientID names us to the brokers, in their logs and quotas; at most
	// 256 bytes. Default DefaultClientID.
	ClientID string
	// Compression is none, gzip, snappy, lz4 or zstd. Default
	// DefaultCompression.
	Compression string
	// Linger is how long a batch that is not full waits for more records.
	// Zero sends at once; batches then still grow while requests are in
	// flight.
	Linger time.Duration
	// BatchMaxBytes bounds a batch before compression, and so a record: one
	// larger than it is refused. Zero is the topic's max.message.bytes;
	// the smaller of the two holds.
	BatchMaxBytes int
	// RequestTimeout is how long a broker may take to answer before the
	// request is sent again. Default DefaultRequestTimeout.
	RequestTimeout time.Duration
	// MaxBufferedRecords and MaxBufferedBytes bound what Send has taken and
	// Results has not had yet; one larger record passes alone. They should
	// lie above the caller's own window, so that it is the caller's that
	// fills first. Bytes are keys, values and headers as they are encoded.
	MaxBufferedRecords int
	MaxBufferedBytes   int
	// Create, when set, creates topics that are missing. Nil leaves them
	// missing: nothing is created by itself.
	Create *Create
	// Logger receives what the client has to say from warnings up, each
	// line once a minute at most. Default: nothing is logged.
	Logger *slog.Logger
	// TLS secures connections. Nil is plain text.
	TLS *TLS
	// SASL is the login. Nil is none.
	SASL *SASL
	// Dial opens connections, over which TLS is laid. Default: TCP.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Options are applied after ours, for the needs of tests. They must set
	// neither a dialer nor a logger.
	Options []kgo.Opt
}

// withDefaults fills what was left zero and reports all that is wrong.
func (c Config) withDefaults() (Config, error) {
	if c.ClientID == "" {
		c.ClientID = DefaultClientID
	}
	if c.Compression == "" {
		c.Compression = DefaultCompression
	}
	if c.RequestTimeout == 0 {
		c.RequestTimeout = DefaultRequestTimeout
	}
	if c.MaxBufferedRecords == 0 {
		c.MaxBufferedRecords = DefaultMaxBufferedRecords
	}
	if c.MaxBufferedBytes == 0 {
		c.MaxBufferedBytes = DefaultMaxBufferedBytes
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, c.validate()
}

func (c Config) validate() error {
	var errs []error
	if len(c.Brokers) == 0 {
		errs = append(errs, errors.New("brokers: name at least one, such as broker:9092"))
	}
	if _, err := Codec(c.Compression); err != nil {
		errs = append(errs, err)
	}
	if c.BatchMaxBytes != 0 && c.BatchMaxBytes < minBatchBytes {
		errs = append(errs, fmt.Errorf("batch max bytes: must be at least %d, got %d", minBatchBytes, c.BatchMaxBytes))
	}
	if c.Linger < 0 || c.Linger > time.Minute {
		errs = append(errs, fmt.Errorf("linger: must be between 0s and 1m, got %v", c.Linger))
	}
	if c.RequestTimeout < 100*time.Millisecond {
		errs = append(errs, fmt.Errorf("request timeout: must be at least 100ms, got %v", c.RequestTimeout))
	}
	if c.MaxBufferedRecords < 0 || c.MaxBufferedBytes < 0 {
		errs = append(errs, errors.New("max buffered records and bytes: must not be negative"))
	}
	if k := c.Create; k != nil && (k.Partitions < 1 || k.Partitions > math.MaxInt32 || k.Replication < 1 || k.Replication > math.MaxInt16) {
		errs = append(errs, errors.New("create: partitions and replication must be positive"))
	}
	return errors.Join(errs...)
}

// Codec is the client's codec of this name: none, gzip, snappy, lz4 or zstd.
func Codec(name string) (kgo.CompressionCodec, error) {
	switch name {
	case "none":
		return kgo.NoCompression(), nil
	case "gzip":
		return kgo.GzipCompression(), nil
	case "snappy":
		return kgo.SnappyCompression(), nil
	case "lz4":
		return kgo.Lz4Compression(), nil
	case "zstd":
		return kgo.ZstdCompression(), nil
	}
	return kgo.NoCompression(), fmt.Errorf("compression %.32q: must be none, gzip, snappy, lz4 or zstd", name)
}
