package config

// The settings in this file are part of the contract, and none is in this
// version yet: Load refuses them by name, so that nobody believes in a setting
// that does nothing.

type sqsSettings struct {
	RoleARN         text     `env:"SQS_ROLE_ARN" later:"true" doc:"Role to assume."`
	AccountID       text     `env:"SQS_ACCOUNT_ID" later:"true" doc:"Owner of bare queue names."`
	Concurrency     integer  `env:"SQS_CONCURRENCY" envDefault:"16" range:"1..256" later:"true" doc:"Requests in flight."`
	Linger          duration `env:"SQS_LINGER" envDefault:"5ms" range:"0s..1s" later:"true" doc:"How long a batch waits to fill."`
	RequestTimeout  duration `env:"SQS_REQUEST_TIMEOUT" envDefault:"10s" range:"1s..2m" later:"true" doc:"Time a request may take."`
	StandardGroup   choice   `env:"SQS_STANDARD_GROUP" envDefault:"none" choices:"none key" later:"true" doc:"Fair queues: send the key as the message group."`
	AllowedHosts    list     `env:"HTTP_ALLOWED_HOSTS" later:"true" doc:"Hosts that rules may name, host[:port] or *.suffix."`
	AllowPlaintext  boolean  `env:"HTTP_ALLOW_PLAINTEXT" envDefault:"false" later:"true" doc:"Permit http:// off loopback."`
	HTTPTimeout     duration `env:"HTTP_TIMEOUT" envDefault:"10s" range:"1s..5m" later:"true" doc:"Time a request may take."`
	HTTPConcurrency integer  `env:"HTTP_CONCURRENCY" envDefault:"8" range:"1..256" later:"true" doc:"Requests in flight; one a key."`
	Authorization   text     `env:"HTTP_AUTHORIZATION" twin:"true" secret:"true" later:"true" doc:"Authorization header."`
	SigningSecret   text     `env:"HTTP_SIGNING_SECRET" twin:"true" secret:"true" later:"true" doc:"Key of the HMAC-SHA256 over the body."`
	TLSCAFile       text     `env:"HTTP_TLS_CA_FILE" shown:"system roots" later:"true" doc:"Certificates to trust, PEM."`
	TLSCertFile     text     `env:"HTTP_TLS_CERT_FILE" later:"true" doc:"Client certificate, PEM."`
	TLSKeyFile      text     `env:"HTTP_TLS_KEY_FILE" later:"true" doc:"Client key, PEM."`
}

type offsetSettings struct {
	Store        choice   `env:"OFFSET_STORE" envDefault:"table" choices:"table slot" doc:"Where the position is kept beside the slot: 'table' is a checkpoint in the same database, which 'setup' makes; 'slot' keeps nothing, and cannot notice that the slot was dropped and made again, nor that a crash of the server put it back."`
	Table        text     `env:"OFFSET_TABLE" envDefault:"outbox_cdc.checkpoint" doc:"The checkpoint table, with schema."`
	Interval     duration `env:"OFFSET_INTERVAL" envDefault:"10s" range:"1s..10m" doc:"Time between two checkpoints, as long as there is something new."`
	WALBudget    size     `env:"WAL_BUDGET" range:"1MiB..1PiB" shown:"never let go" later:"true" doc:"Retained WAL at which the slot is let go and the table is read instead."`
	CatchupBatch integer  `env:"CATCHUP_BATCH" envDefault:"1000" range:"1..100000" later:"true" doc:"Rows read at once while catching up."`
	AcceptGap    text     `env:"ACCEPT_GAP" doc:"'Go on in spite of the gap that starts here': the LSN that a hold names. It counts for exactly that gap."`
}

type watchSettings struct {
	Interval         duration `env:"MONITOR_INTERVAL" envDefault:"5s" range:"1s..1m" doc:"Time between two looks at the slot."`
	URL              text     `env:"MONITOR_DATABASE_URL" twin:"true" secret:"true" shown:"DATABASE_URL" later:"true" doc:"Another role for the watch, such as one with pg_monitor."`
	WALLimit         size     `env:"WAL_LIMIT" range:"1MiB..1PiB" shown:"max_slot_wal_keep_size" doc:"Retained WAL that the disk can bear."`
	LagWarning       text     `env:"SLOT_LAG_WARNING" shown:"25%, or 2GiB" later:"true" doc:"Percent of the limit, or a size."`
	LagCritical      text     `env:"SLOT_LAG_CRITICAL" shown:"60%, or 10GiB" later:"true" doc:"Percent of the limit, or a size."`
	StallAfter       duration `env:"STALL_AFTER" envDefault:"60s" range:"5s..1h" later:"true" doc:"Time without a confirmed move."`
	StallCritical    duration `env:"STALL_CRITICAL" envDefault:"5m" range:"5s..1h" later:"true" doc:"The same, critical."`
	StallBytes       size     `env:"STALL_BYTES" envDefault:"256MiB" range:"1MiB..1PiB" later:"true" doc:"WAL written without a confirmed move."`
	SinkStuckAfter   duration `env:"SINK_STUCK_AFTER" envDefault:"60s" range:"5s..1h" later:"true" doc:"Time without an acknowledgement."`
	SinkStuckCrit    duration `env:"SINK_STUCK_CRITICAL" envDefault:"10m" range:"5s..1h" later:"true" doc:"The same, critical."`
	TimeLeftWarning  duration `env:"WAL_TIME_LEFT_WARNING" envDefault:"6h" range:"1m..30d" later:"true" doc:"Time until the WAL limit is reached."`
	TimeLeftCritical duration `env:"WAL_TIME_LEFT_CRITICAL" envDefault:"1h" range:"1m..30d" later:"true" doc:"The same, critical."`
	InactiveAfter    duration `env:"INACTIVE_AFTER" envDefault:"90s" range:"5s..1h" later:"true" doc:"Time without anybody at the slot."`
	InactiveCritical duration `env:"INACTIVE_CRITICAL" envDefault:"5m" range:"5s..1h" later:"true" doc:"The same, critical."`
	CatalogXmin      integer  `env:"CATALOG_XMIN_WARNING" envDefault:"100000000" range:"1..2000000000" later:"true" doc:"Age of the slot's catalog_xmin, in transactions."`
	PinnedAfter      duration `env:"PINNED_AFTER" envDefault:"15m" range:"10s..7d" later:"true" doc:"Age of a transaction that pins WAL."`
	BlindAfter       duration `env:"BLIND_AFTER" envDefault:"2m" range:"10s..7d" later:"true" doc:"Time without a successful look."`
	WebhookURL       list     `env:"ALERT_WEBHOOK_URL" twin:"true" secret:"true" later:"true" doc:"Where alerts go; each gets every alert."`
	AlertFormat      choice   `env:"ALERT_FORMAT" envDefault:"alertmanager" choices:"alertmanager json" later:"true" doc:"Form of an alert."`
	AlertLabels      list     `env:"ALERT_LABELS" later:"true" doc:"Labels to add: 'team=pay,env=prod'."`
	AlertRepeat      duration `env:"ALERT_REPEAT" envDefault:"1m" range:"10s..1h" later:"true" doc:"Time between two sends of a firing alert."`
	AlertHold        duration `env:"ALERT_HOLD" envDefault:"15m" range:"30s..1d" later:"true" doc:"How long an alert lives without a new send; at least three repeats."`
	AlertAuth        text     `env:"ALERT_AUTHORIZATION" twin:"true" secret:"true" later:"true" doc:"Authorization header of the webhooks."`
	RunbookURL       text     `env:"ALERT_RUNBOOK_URL" later:"true" doc:"Base of the runbook links."`
}
