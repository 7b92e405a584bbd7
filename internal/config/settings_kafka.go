package config

type kafkaSettings struct {
	Brokers           list     `env:"KAFKA_BROKERS" doc:"Bootstrap brokers, 'host:port,host:port'. Required if a rule says kafka."`
	SecurityProtocol  choice   `env:"KAFKA_SECURITY_PROTOCOL" choices:"PLAINTEXT SSL SASL_PLAINTEXT SASL_SSL" shown:"PLAINTEXT on loopback" doc:"How the brokers' listener is spoken to: TLS with 'SSL' and 'SASL_SSL', a login with the last two. Must be said when a broker is not on this machine."`
	TLSCAFile         text     `env:"KAFKA_TLS_CA_FILE" shown:"system roots" doc:"Certificates to trust, PEM. The brokers' certificates are always verified. Read again at each connect, as the next two are."`
	TLSCertFile       text     `env:"KAFKA_TLS_CERT_FILE" doc:"Client certificate with its chain, PEM."`
	TLSKeyFile        text     `env:"KAFKA_TLS_KEY_FILE" doc:"Key of the client certificate, PEM, not encrypted."`
	TLSServerName     text     `env:"KAFKA_TLS_SERVER_NAME" shown:"each broker's host" doc:"Name to expect in the brokers' certificates."`
	SASLMechanism     choice   `env:"KAFKA_SASL_MECHANISM" choices:"PLAIN SCRAM-SHA-256 SCRAM-SHA-512 OAUTHBEARER AWS_MSK_IAM" doc:"How we log in. Without TLS, off loopback, only SCRAM is accepted."`
	SASLUsername      text     `env:"KAFKA_SASL_USERNAME" doc:"User name for PLAIN and SCRAM."`
	SASLPassword      text     `env:"KAFKA_SASL_PASSWORD" twin:"true" secret:"true" doc:"Password for PLAIN and SCRAM. The _FILE form is read again at each login."`
	OAuthTokenURL     text     `env:"KAFKA_OAUTH_TOKEN_URL" doc:"Token endpoint for OAUTHBEARER (grant of client credentials); https, off loopback."`
	OAuthClientID     text     `env:"KAFKA_OAUTH_CLIENT_ID" doc:"Client id for OAUTHBEARER."`
	OAuthClientSecret text     `env:"KAFKA_OAUTH_CLIENT_SECRET" twin:"true" secret:"true" doc:"Client secret for OAUTHBEARER. The _FILE form is read again for each token."`
	OAuthScope        text     `env:"KAFKA_OAUTH_SCOPE" doc:"Scopes to ask for, separated by spaces."`
	Compression       choice   `env:"KAFKA_COMPRESSION" envDefault:"lz4" choices:"none gzip snappy lz4 zstd" doc:"Compression of batches."`
	Linger            duration `env:"KAFKA_LINGER" envDefault:"1ms" range:"0s..1s" doc:"How long a batch waits to fill."`
	BatchMaxBytes     size     `env:"KAFKA_BATCH_MAX_BYTES" range:"16KiB..1GiB" shown:"the topic's max.message.bytes" doc:"Largest batch."`
	RequestTimeout    duration `env:"KAFKA_REQUEST_TIMEOUT" envDefault:"10s" range:"1s..2m" doc:"Time a broker has to answer."`
	CreateTopics      boolean  `env:"KAFKA_CREATE_TOPICS" envDefault:"false" doc:"Create missing topics: literal ones at start, others when they are first used."`
	CreatePartitions  integer  `env:"KAFKA_CREATE_PARTITIONS" envDefault:"6" range:"1..10000" doc:"Partitions of a created topic."`
	CreateReplication integer  `env:"KAFKA_CREATE_REPLICATION" envDefault:"3" range:"1..100" doc:"Replicas of a created topic."`
}
