package config

import (
	"errors"
	"slices"

	"github.com/caarlos0/env/v11"
)

// Validator checks what config does not understand: tables, columns, rules.
// It is also called when the rest of c is at fault, so that everything is
// reported at once; texts that are missing are "" then.
type Validator func(c *Config) []error

// Load reads environ, in the form of os.Environ, and checks all of it. It reads
// the files that _FILE twins name, and libpq's own files (service, password,
// certificates), but nothing else; the PG* variables are looked up by pgconn in
// the process's environment. The error is an *Error with every fault.
func Load(environ []string, validators ...Validator) (*Config, error) {
	known := Settings()
	e := readEnvironment(environ, known)
	p, err := fill(e, known)
	if err != nil {
		return nil, err
	}
	c := build(p, e)
	c.effective = effective(known, p, e)
	faults := slices.Concat(e.faults, p.faults)
	for _, v := range validators {
		faults = append(faults, v(c)...)
	}
	if len(faults) > 0 {
		return nil, &Error{Faults: faults}
	}
	return c, nil
}

// fill lets caarlos0/env put environment and defaults together, and refuses
// what is not in this version.
func fill(e *environment, known []Setting) (*parser, error) {
	p := &parser{
		settings: make(map[string]Setting, len(known)),
		values:   make(map[string]string, len(known)),
		explicit: make(map[string]bool, len(known)),
		files:    e.files,
	}
	var raw settings
	err := env.ParseWithOptions(&raw, env.Options{
		Prefix:      Prefix,
		Environment: e.vars,
		OnSet: func(name string, value any, isDefault bool) {
			p.values[name], _ = value.(string)
			p.explicit[name] = !isDefault && value != ""
		},
	})
	if err != nil {
		// Only a wrong struct tag gets here: every field is a string.
		return nil, errors.New("config: the settings struct can't be filled")
	}
	for _, s := range known {
		p.settings[s.Name] = s
		if s.Later && p.explicit[s.Name] {
			p.fault(s, "not in this version")
		}
	}
	return p, nil
}

func build(p *parser, e *environment) *Config {
	c := &Config{
		Slot:              p.text("SLOT"),
		Publication:       p.text("PUBLICATION"),
		SlotFailover:      p.choice("SLOT_FAILOVER"),
		Tables:            p.text("TABLES"),
		Columns:           p.text("COLUMNS"),
		Routes:            p.text("ROUTES"),
		Unrouted:          p.choice("UNROUTED"),
		OnPoison:          p.choice("ON_POISON"),
		NullPayload:       p.choice("NULL_PAYLOAD"),
		Skip:              p.text("SKIP"),
		Format:            p.choice("FORMAT"),
		Headers:           p.list("HEADERS"),
		MaxInFlightBytes:  p.size("MAX_IN_FLIGHT_BYTES"),
		MaxInFlightEvents: p.integer("MAX_IN_FLIGHT_EVENTS"),
		MaxEventBytes:     p.size("MAX_EVENT_BYTES"),
		Kafka:             buildKafka(p, e),
		OffsetStore:       p.choice("OFFSET_STORE"),
		OffsetTable:       p.text("OFFSET_TABLE"),
		OffsetInterval:    p.duration("OFFSET_INTERVAL"),
		AcceptGap:         p.text("ACCEPT_GAP"),
		MonitorInterval:   p.duration("MONITOR_INTERVAL"),
		WALLimit:          p.size("WAL_LIMIT"),
		Standby:           p.boolean("STANDBY"),
		StandbyPoll:       p.duration("STANDBY_POLL"),
		ListenAddress:     p.text("LISTEN_ADDRESS"),
		Pprof:             p.boolean("LISTEN_PPROF"),
		LogFormat:         p.choice("LOG_FORMAT"),
		ShutdownGrace:     p.duration("SHUTDOWN_GRACE"),
		ExitOnFatal:       p.choice("ON_FATAL") == "exit",
		HoldRetry:         p.duration("HOLD_RETRY"),
	}
	_ = c.LogLevel.UnmarshalText([]byte(p.choice("LOG_LEVEL"))) // every choice is a slog name
	c.Name = p.text("NAME")
	checkNames(p, c)
	checkListen(p, c)
	c.Database = buildDatabase(p, e, c.Name)
	c.Warnings = append(p.checkDatabase(&c.Database), checkKafka(p, &c.Kafka)...)
	return c
}

// effective lists what this version has.
func effective(known []Setting, p *parser, e *environment) []Effective {
	var all []Effective
	for _, s := range known {
		if s.Later {
			continue
		}
		one := Effective{Name: s.Name, Value: p.values[s.Name], Source: "default"}
		_, fromFile := e.files[s.Name]
		switch {
		case fromFile:
			one.Source = "file"
		case p.explicit[s.Name]:
			one.Source = "environment"
		}
		if s.Secret && one.Value != "" {
			one.Value = masked
		}
		all = append(all, one)
	}
	return all
}

// Require is the fault of a setting that something else makes necessary, for
// validators: Require("KAFKA_BROKERS", "a rule says kafka").
func Require(name, because string) error {
	return &SettingError{Setting: Prefix + name, Problem: "required, because " + because}
}

// Invalid is the fault of a setting that another package parsed. The error
// must hold no secret.
func Invalid(name string, err error) error {
	return &SettingError{Setting: Prefix + name, Problem: err.Error()}
}

// ListenAddress is LISTEN_ADDRESS alone, or its default, for those who only ask
// a running connector.
func ListenAddress(environ []string) string {
	known := Settings()
	for _, s := range known {
		if s.Name != Prefix+"LISTEN_ADDRESS" {
			continue
		}
		if v := readEnvironment(environ, known).vars[s.Name]; v != "" {
			return v
		}
		return s.Default
	}
	return ""
}
