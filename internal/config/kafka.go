package config

import "time"

// Kafka holds the settings of the Kafka sink.
type Kafka struct {
	// Brokers are host:port; empty when KAFKA_BROKERS is unset.
	Brokers          []string
	SecurityProtocol string // PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL
	// TLSCAFile, TLSCertFile and TLSKeyFile are paths; "" is the system's
	// roots and no client certificate. Nothing here reads them.
	TLSCAFile, TLSCertFile, TLSKeyFile string
	// TLSServerName is "" for each broker's own host.
	TLSServerName string

	SASLMechanism string // "" without a login
	SASLUsername  string
	SASLPassword  SecretSource

	OAuthTokenURL     string
	OAuthClientID     string
	OAuthClientSecret SecretSource
	OAuthScope        string

	Compression string // none, gzip, snappy, lz4, zstd
	Linger      time.Duration
	// BatchMaxBytes is 0 for the topic's max.message.bytes.
	BatchMaxBytes  Bytes
	RequestTimeout time.Duration

	CreateTopics                        bool
	CreatePartitions, CreateReplication int
}

// TLS tells whether the brokers are spoken to through TLS.
func (k *Kafka) TLS() bool { return k.SecurityProtocol == "SSL" || k.SecurityProtocol == "SASL_SSL" }

// SASL tells whether there is a login.
func (k *Kafka) SASL() bool {
	return k.SecurityProtocol == "SASL_PLAINTEXT" || k.SecurityProtocol == "SASL_SSL"
}

func buildKafka(p *parser, e *environment) Kafka {
	return Kafka{
		Brokers:           p.list("KAFKA_BROKERS"),
		SecurityProtocol:  p.choice("KAFKA_SECURITY_PROTOCOL"),
		TLSCAFile:         p.text("KAFKA_TLS_CA_FILE"),
		TLSCertFile:       p.text("KAFKA_TLS_CERT_FILE"),
		TLSKeyFile:        p.text("KAFKA_TLS_KEY_FILE"),
		TLSServerName:     p.text("KAFKA_TLS_SERVER_NAME"),
		SASLMechanism:     p.choice("KAFKA_SASL_MECHANISM"),
		SASLUsername:      p.text("KAFKA_SASL_USERNAME"),
		SASLPassword:      secretSource(p, e, "KAFKA_SASL_PASSWORD"),
		OAuthTokenURL:     p.text("KAFKA_OAUTH_TOKEN_URL"),
		OAuthClientID:     p.text("KAFKA_OAUTH_CLIENT_ID"),
		OAuthClientSecret: secretSource(p, e, "KAFKA_OAUTH_CLIENT_SECRET"),
		OAuthScope:        p.text("KAFKA_OAUTH_SCOPE"),
		Compression:       p.choice("KAFKA_COMPRESSION"),
		Linger:            p.duration("KAFKA_LINGER"),
		BatchMaxBytes:     p.size("KAFKA_BATCH_MAX_BYTES"),
		RequestTimeout:    p.duration("KAFKA_REQUEST_TIMEOUT"),
		CreateTopics:      p.boolean("KAFKA_CREATE_TOPICS"),
		CreatePartitions:  p.integer("KAFKA_CREATE_PARTITIONS"),
		CreateReplication: p.integer("KAFKA_CREATE_REPLICATION"),
	}
}
