package app

import (
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/outbox-cdc/outbox-cdc/internal/config"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink/kafka"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink/stdout"
)

// sinkOpener makes the sinks that the routes name. It is the only place that
// knows them.
type sinkOpener struct {
	cfg   *config.Config
	log   *slog.Logger
	kinds []string
	// readOnly sinks create nothing.
	readOnly bool
}

var errUnknownSink = errors.New("no sink of this kind")

func (o *sinkOpener) open(results sink.Results) (map[string]sink.Sink, error) {
	sinks := map[string]sink.Sink{}
	for _, kind := range o.kinds {
		s, err := o.one(kind, results)
		if err != nil {
			return nil, fmt.Errorf("sink %q: %w", kind, err)
		}
		sinks[kind] = s
	}
	return sinks, nil
}

func (o *sinkOpener) one(kind string, results sink.Results) (sink.Sink, error) {
	switch kind {
	case kafka.Name:
		c := kafkaConfig(o.cfg, o.log)
		if o.readOnly {
			c.Create = nil
		}
		return kafka.New(c, results)
	case stdout.Name:
		return stdout.New(os.Stdout, results), nil
	}
	return nil, errUnknownSink
}

// kafkaConfig makes the client's window wider than the ledger's, so that it is
// the ledger that holds the reader back: it knows about the session.
func kafkaConfig(cfg *config.Config, log *slog.Logger) kafka.Config {
	k := cfg.Kafka
	c := kafka.Config{
		Brokers: k.Brokers, ClientID: "outbox-cdc-" + cfg.Name, Compression: k.Compression, Linger: k.Linger,
		BatchMaxBytes: int(k.BatchMaxBytes), RequestTimeout: k.RequestTimeout,
		MaxBufferedRecords: 2 * cfg.MaxInFlightEvents,
		MaxBufferedBytes:   2 * int(max(cfg.MaxInFlightBytes, cfg.MaxEventBytes)),
		Logger:             log,
	}
	if k.CreateTopics {
		c.Create = &kafka.Create{Partitions: k.CreatePartitions, Replication: k.CreateReplication}
	}
	if k.TLS() {
		c.TLS = &kafka.TLS{CAFile: k.TLSCAFile, CertFile: k.TLSCertFile, KeyFile: k.TLSKeyFile, ServerName: k.TLSServerName}
	}
	if k.SASL() {
		c.SASL = &kafka.SASL{
			Mechanism: k.SASLMechanism, Username: k.SASLUsername, Password: k.SASLPassword.Read,
			OAuth: kafka.OAuth{TokenURL: k.OAuthTokenURL, ClientID: k.OAuthClientID, ClientSecret: k.OAuthClientSecret.Read, Scope: k.OAuthScope},
			AWS:   (&awsChain{}).credentials,
		}
	}
	return c
}
