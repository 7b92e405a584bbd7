package app

import (
	"errors"
	"slices"

	"github.com/outbox-cdc/outbox-cdc/internal/config"
	"github.com/outbox-cdc/outbox-cdc/internal/pipeline"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/router"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink/kafka"
)

// Lint is the config.Validator of what the packages behind it understand:
// tables, columns, rules, and what the rules make necessary. It is all that can
// be found offline.
func Lint(cfg *config.Config) []error {
	return slices.Concat(lintTables(cfg), lintRoutes(cfg), lintFormats(cfg), lintKafka(cfg), lintOffsets(cfg), lintSkip(cfg))
}

func lintOffsets(cfg *config.Config) []error {
	_, errGap := acceptedGap(cfg)
	if cfg.OffsetTable == "" {
		return split("ACCEPT_GAP", errGap) // it has a default; only other faults hide it
	}
	_, errTable := checkpointTable(cfg)
	return append(split("OFFSET_TABLE", errTable), split("ACCEPT_GAP", errGap)...)
}

func lintSkip(cfg *config.Config) []error {
	_, err := pipeline.ParseSkip(cfg.Skip)
	return split("SKIP", err)
}

func lintFormats(cfg *config.Config) []error {
	_, err := headerRoles(cfg)
	return split("HEADERS", err)
}

func lintTables(cfg *config.Config) []error {
	mapping, errMapping := decoder.ParseMapping(cfg.Columns)
	faults := split("COLUMNS", errMapping)
	if cfg.Tables == "" {
		return faults // config says that they are required
	}
	names, err := decoder.ParseTables(cfg.Tables)
	faults = append(split("TABLES", err), faults...)
	if err == nil && errMapping == nil {
		_, err = decoder.NewTables(names, mapping)
		faults = append(faults, split("COLUMNS", err)...)
	}
	return faults
}

func lintRoutes(cfg *config.Config) []error {
	if cfg.Routes == "" {
		return nil
	}
	rules, err := router.New(cfg.Routes)
	if err != nil {
		return split("ROUTES", err)
	}
	if slices.Contains(rules.Sinks(), kafka.Name) && len(cfg.Kafka.Brokers) == 0 {
		return []error{config.Require("KAFKA_BROKERS", "a rule says kafka; set it to host:port of one or more brokers")}
	}
	return nil
}

// lintKafka reads the files of TLS as a connect would.
func lintKafka(cfg *config.Config) []error {
	k := &cfg.Kafka
	if !k.TLS() {
		return nil
	}
	var faults []error
	if err := (&kafka.TLS{CAFile: k.TLSCAFile}).Validate(); err != nil {
		faults = append(faults, config.Invalid("KAFKA_TLS_CA_FILE", err))
	}
	if k.TLSCertFile == "" || k.TLSKeyFile == "" {
		return faults // config says so
	}
	if err := (&kafka.TLS{CertFile: k.TLSCertFile, KeyFile: k.TLSKeyFile}).Validate(); err != nil {
		faults = append(faults, config.Invalid("KAFKA_TLS_CERT_FILE", err))
	}
	return faults
}

// split gives each of the joined errors as a fault of the setting.
func split(setting string, err error) []error {
	if err == nil {
		return nil
	}
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return []error{config.Invalid(setting, err)}
	}
	var faults []error
	for _, e := range joined.Unwrap() {
		faults = append(faults, split(setting, e)...)
	}
	return faults
}
