package config

import (
	"log/slog"
	"time"
)

// Config is the effective configuration. It does not change after Load, so
// goroutines may share it.
type Config struct {
	// Name labels this instance: "source" of events and metrics, Kafka
	// client id, application_name.
	Name     string
	Database Database

	// Slot and Publication are raw catalog names, unquoted.
	Slot        string
	Publication string
	// SlotFailover is auto, true or false.
	SlotFailover string
	// Tables, Columns and Routes are texts; the packages that own their
	// grammar parse them (decoder.ParseTables, decoder.ParseMapping and
	// router.New), usually in a Validator.
	Tables  string
	Columns string
	Routes  string

	// Skip is a text; pipeline.ParseSkip knows it.
	Skip string

	Unrouted    string // "halt"
	OnPoison    string // "halt"
	NullPayload string // "halt"
	Format      string // "raw" or "envelope"
	// Headers are the names of the roles that become headers; nil for all.
	Headers []string

	MaxInFlightBytes  Bytes
	MaxInFlightEvents int
	MaxEventBytes     Bytes

	Kafka Kafka

	OffsetStore string // "table" or "slot"
	// OffsetTable and AcceptGap are texts; the decoder's parsers know them.
	OffsetTable    string
	OffsetInterval time.Duration
	AcceptGap      string

	// MonitorInterval is the time between two looks at the slot.
	MonitorInterval time.Duration
	// WALLimit is 0 for the server's max_slot_wal_keep_size.
	WALLimit Bytes

	// Standby is whether a slot that is in use is waited for.
	Standby     bool
	StandbyPoll time.Duration

	// ListenAddress is host:port of the HTTP listener.
	ListenAddress string
	Pprof         bool

	LogLevel slog.Level
	// LogFormat is "json", "text", or "" for text on a terminal, else json.
	LogFormat string

	ShutdownGrace time.Duration
	// ExitOnFatal is ON_FATAL=exit: end with code 3 instead of holding.
	ExitOnFatal bool
	HoldRetry   time.Duration

	// Warnings are legal choices that an operator should hear about, one
	// line each. They hold no secret.
	Warnings []string

	effective []Effective
}

// Effective is one setting as "lint --print" shows it.
type Effective struct {
	// Name is the full variable name.
	Name string
	// Value is masked for secrets and "" for what is unset.
	Value string
	// Source is "default", "environment" or "file".
	Source string
}

// Effective lists the settings of this version in the documentation's order,
// secrets masked. The caller must not change it.
func (c *Config) Effective() []Effective { return c.effective }
