package config

// Prefix starts the name of every setting.
const Prefix = "OUTBOX_CDC_"

// The kinds of a setting. All are strings, because the parse errors of
// caarlos0/env name Go fields and repeat values: it only fills the struct, and
// parser.go does the rest.
type (
	text     string
	duration string
	size     string
	integer  string
	boolean  string
	list     string
	choice   string
)

// settings is the whole contract. The tags of a field:
//
//   - env, envDefault: name without prefix, and default
//   - shown: the default as the documentation words it, when it is not a value
//   - range: lowest..highest; zero:"true" allows 0 besides
//   - choices: the values of a choice; built: those that this version has
//   - twin: the value may come from the file that NAME_FILE names
//   - secret: the value is never printed
//   - later: known, but not in this version
//   - required: Load refuses an empty value
//   - doc: the meaning, for docs/configuration.md
//   - title: heads a group there
//
// A name must never end in _PORT: Kubernetes injects such names.
type settings struct {
	Database databaseSettings `title:"Identity and database"`
	Slot     slotSettings     `title:"Slot, publication, tables"`
	Routing  routingSettings  `title:"Routing, formats, bounds"`
	Kafka    kafkaSettings    `title:"Kafka"`
	SQS      sqsSettings      `title:"SQS and HTTP"`
	Offsets  offsetSettings   `title:"Offsets and WAL budget"`
	Watch    watchSettings    `title:"Watch and alerts"`
	Process  processSettings  `title:"HTTP listener, logging, process"`
}

type databaseSettings struct {
	Name            text     `env:"NAME" shown:"the slot's name" doc:"Label 'source' of events and metrics, Kafka client id, application_name: [a-z0-9_-], up to 40 characters. A longer slot name needs it set."`
	URL             text     `env:"DATABASE_URL" twin:"true" secret:"true" shown:"the PG* variables" doc:"libpq URL or keyword string; several hosts are allowed. The _FILE form is read again at each connect, so that a password can change without a restart."`
	Auth            choice   `env:"DATABASE_AUTH" envDefault:"password" choices:"password rds-iam" later:"true" doc:"How a password is had; rds-iam makes a token for each connect."`
	ConnectTimeout  duration `env:"DATABASE_CONNECT_TIMEOUT" envDefault:"10s" range:"1s..5m" doc:"Time to connect to one host."`
	WALSender       duration `env:"WAL_SENDER_TIMEOUT" envDefault:"15s" range:"2s..10m" zero:"true" doc:"wal_sender_timeout of our session; bounds how long the slot stays taken after a host is lost. 0 leaves the server's."`
	StatusInterval  duration `env:"STATUS_INTERVAL" envDefault:"250ms" range:"50ms..10m" doc:"At most one status message for confirmed progress in this time."`
	ReconnectMax    duration `env:"RECONNECT_BACKOFF_MAX" envDefault:"30s" range:"1s..5m" doc:"Longest pause between two attempts to connect."`
	DecodingWorkMem size     `env:"DECODING_WORK_MEM" range:"64KiB..2TiB" shown:"the server's" doc:"logical_decoding_work_mem of our session."`
}

type slotSettings struct {
	Slot        text   `env:"SLOT" envDefault:"outbox_cdc" doc:"Replication slot: [a-z0-9_], up to 63 characters. 'run' never creates it, which would hide a gap; 'setup' does."`
	Failover    choice `env:"SLOT_FAILOVER" envDefault:"auto" choices:"auto true false" doc:"Whether 'setup' makes a failover slot, which standbys keep in step (PostgreSQL 17 and later; 'auto': where the server knows them)."`
	Publication text   `env:"PUBLICATION" envDefault:"outbox_cdc" doc:"Publication: one name, as it is in the catalog; we quote it."`
	Tables      list   `env:"TABLES" required:"true" doc:"Outbox tables, with schema: 'public.outbox,\"Billing\".\"Outbox\"'."`
	Columns     text   `env:"COLUMNS" twin:"true" shown:"by name" doc:"Columns of the roles: 'id=event_id,type=kind|event_type; billing.outbox: id=eid'. The first part is for all tables, then one part a table."`
}

type routingSettings struct {
	Routes            text    `env:"ROUTES" twin:"true" required:"true" doc:"Routing rules, one a line or separated by ';': '* -> kafka:outbox.event.{aggregate_type}'."`
	Unrouted          choice  `env:"UNROUTED" envDefault:"halt" choices:"halt dead_letter" built:"halt" doc:"What an event does that no rule matches."`
	OnPoison          choice  `env:"ON_POISON" envDefault:"halt" choices:"halt dead_letter" built:"halt" doc:"What an event does that its destination can never store."`
	DeadLetter        text    `env:"DEAD_LETTER" later:"true" doc:"Default dead-letter destination."`
	NullPayload       choice  `env:"NULL_PAYLOAD" envDefault:"halt" choices:"halt tombstone" built:"halt" doc:"What a row without a payload does."`
	Skip              list    `env:"SKIP" doc:"Events that are given up, as LSN:ordinal:event-id, separated by commas: all three must be the event's. A halt shows the whole setting for its event."`
	Format            choice  `env:"FORMAT" envDefault:"raw" choices:"raw envelope debezium cloudevents" built:"raw envelope" doc:"How an event is laid out: 'raw' is the payload's own bytes, 'envelope' a JSON object with the event's columns and the payload. A rule's option format= has its own."`
	Headers           list    `env:"HEADERS" shown:"all present" doc:"The roles that become headers, such as 'id,type,tenant'; 'headers' are the row's own ones. 'position' and 'source' are always there."`
	CloudEventsSource text    `env:"CLOUDEVENTS_SOURCE" shown:"/outbox-cdc/NAME" later:"true" doc:"The 'source' attribute, a URI reference."`
	DebeziumKey       choice  `env:"DEBEZIUM_KEY_CONVERTER" envDefault:"string" choices:"string json json-schema" later:"true" doc:"Debezium's key converter."`
	DebeziumValue     choice  `env:"DEBEZIUM_VALUE_CONVERTER" envDefault:"string" choices:"string json json-schema" later:"true" doc:"Debezium's value converter."`
	DebeziumHeader    choice  `env:"DEBEZIUM_HEADER_CONVERTER" envDefault:"simple" choices:"simple json json-schema" later:"true" doc:"Debezium's header converter."`
	MaxInFlightBytes  size    `env:"MAX_IN_FLIGHT_BYTES" envDefault:"16MiB" range:"1MiB..4GiB" doc:"Bytes of events handed to destinations and not yet acknowledged. One event larger than this passes alone."`
	MaxInFlightEvents integer `env:"MAX_IN_FLIGHT_EVENTS" envDefault:"20000" range:"1..1000000" doc:"Events handed over and not yet confirmed."`
	MaxEventBytes     size    `env:"MAX_EVENT_BYTES" envDefault:"16MiB" range:"1KiB..1GiB" doc:"A larger row halts the stream; it is never held in memory."`
}

type processSettings struct {
	ListenAddress   text     `env:"LISTEN_ADDRESS" envDefault:"127.0.0.1:9855" doc:"Where /metrics, /healthz, /readyz and /status are served. The image says 0.0.0.0:9855."`
	WebConfigFile   text     `env:"LISTEN_WEB_CONFIG_FILE" later:"true" doc:"TLS and basic auth, in the Prometheus exporters' web configuration format."`
	Pprof           boolean  `env:"LISTEN_PPROF" envDefault:"false" doc:"Serve /debug/pprof/ there too."`
	LogLevel        choice   `env:"LOG_LEVEL" envDefault:"info" choices:"debug info warn error" doc:"Least severe level that is logged."`
	LogFormat       choice   `env:"LOG_FORMAT" choices:"json text" shown:"json; text on a terminal" doc:"Form of log lines."`
	ShutdownGrace   duration `env:"SHUTDOWN_GRACE" envDefault:"20s" range:"1s..10m" doc:"After SIGTERM: time to settle what is in flight."`
	OnFatal         choice   `env:"ON_FATAL" envDefault:"hold" choices:"hold exit" doc:"What an operator must mend keeps the process up, unready and alerting (hold), or ends it with code 3 (exit)."`
	HoldRetry       duration `env:"HOLD_RETRY" envDefault:"30s" range:"1s..10m" doc:"Time between two looks whether a hold is over."`
	Standby         boolean  `env:"STANDBY" envDefault:"true" doc:"Wait, ready to take over, while another instance has the slot; 'false' holds instead."`
	StandbyPoll     duration `env:"STANDBY_POLL" envDefault:"1s" range:"100ms..1m" doc:"Time between two looks whether the slot is free."`
	StandbyExpected boolean  `env:"STANDBY_EXPECTED" envDefault:"false" later:"true" doc:"Arms the alert StandbyMissing."`
}
