package app

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/outbox-cdc/outbox-cdc/internal/catalog"
	"github.com/outbox-cdc/outbox-cdc/internal/config"
	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl"
	"github.com/outbox-cdc/outbox-cdc/internal/pipeline"
	"github.com/outbox-cdc/outbox-cdc/pkg/router"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// CheckResult is what check found; its JSON form is fixed.
type CheckResult struct {
	// OK is false when a check failed; warnings leave it true.
	OK      bool              `json:"ok"`
	Version string            `json:"version"`
	Checks  []catalog.Finding `json:"checks"`
}

func (r *CheckResult) add(fs ...catalog.Finding) {
	for _, f := range fs {
		r.OK = r.OK && f.Status != catalog.Fail
		r.Checks = append(r.Checks, f)
	}
}

// NewCheckResult has no checks and is OK.
func NewCheckResult(version string) *CheckResult {
	return &CheckResult{OK: true, Version: version, Checks: []catalog.Finding{}}
}

// CheckFaults is the result for a configuration that can't be used: nothing
// was asked over the network.
func CheckFaults(err error, version string) *CheckResult {
	r := NewCheckResult(version)
	faults := []error{err}
	if all, ok := errors.AsType[*config.Error](err); ok {
		faults = all.Faults
	}
	for _, e := range faults {
		f := catalog.Finding{Name: "config", Status: catalog.Fail, Message: e.Error()}
		if fault, ok := errors.AsType[*config.SettingError](e); ok {
			f.Subject, f.Message = fault.Setting, fault.Problem
		}
		r.add(f)
	}
	return r
}

// sinkTimeout bounds what is asked of the destinations.
const sinkTimeout = 30 * time.Second

// Check does everything that a start would refuse, changes nothing, and
// reports all of it at once. cfg has passed Lint.
func Check(ctx context.Context, cfg *config.Config, log *slog.Logger, version string) (*CheckResult, error) {
	want, err := wanted(cfg)
	if err != nil {
		return nil, err
	}
	want.CountRows, want.ApplicationName = true, applicationName(cfg)
	rules, err := router.New(cfg.Routes)
	if err != nil {
		return nil, err
	}
	r := NewCheckResult(version)
	r.add(catalog.Finding{Name: "config", Status: catalog.OK, Message: "the configuration is valid"})
	for _, w := range cfg.Warnings {
		r.add(catalog.Finding{Name: "config", Status: catalog.Warn, Message: w})
	}
	r.add(checkDatabase(ctx, cfg, want)...)
	r.add(checkSinks(ctx, cfg, log, rules)...)
	return r, nil
}

func checkDatabase(ctx context.Context, cfg *config.Config, want catalog.Want) []catalog.Finding {
	ctx, cancel := context.WithTimeout(ctx, inspectTimeout)
	defer cancel()
	const name = "database.connection"
	cc, err := cfg.Database.ConnConfig()
	if err != nil {
		return []catalog.Finding{failed(name, "", err)}
	}
	conn, err := pgx.ConnectConfig(ctx, cc)
	if err != nil {
		return []catalog.Finding{failed(name, cc.Host, pipeline.JudgeConnect(err, cfg.Slot))}
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	fs := []catalog.Finding{{Name: name, Status: catalog.OK, Subject: cc.Host, Message: "connected as " + cc.User}}
	report, err := catalog.Inspect(ctx, conn, want)
	if err != nil {
		return append(fs, failed("database.catalog", cc.Host, err))
	}
	fs = append(fs, report.Findings...)
	return append(fs, checkReplication(ctx, cc, cfg))
}

// checkReplication opens a replication connection: pg_hba.conf has lines of its
// own for those, and a pooler in between can't carry them.
func checkReplication(ctx context.Context, cc *pgx.ConnConfig, cfg *config.Config) catalog.Finding {
	const name = "database.replication_connection"
	s, err := pgrepl.Connect(ctx, pgrepl.Config{
		Conn: &cc.Config, Slot: cfg.Slot, Publication: cfg.Publication, ApplicationName: applicationName(cfg),
		SenderTimeout:   cfg.Database.WALSenderTimeout,
		DecodingWorkMem: int64(cfg.Database.DecodingWorkMem),
		MaxMessage:      int(cfg.MaxEventBytes),
	})
	if err != nil {
		return failed(name, cc.Host, pipeline.JudgeConnect(err, cfg.Slot))
	}
	_ = s.Close(context.WithoutCancel(ctx))
	return catalog.Finding{Name: name, Status: catalog.OK, Subject: cc.Host, Message: "opened; system " + s.Identity.SystemID}
}

// failed is a finding from an error; a HoldError brings its remedy along.
func failed(name, subject string, err error) catalog.Finding {
	f := catalog.Finding{
		Name: name, Status: catalog.Fail, Subject: subject, Message: oneLine(err.Error()),
		Remedy: "check address, network and credentials",
	}
	if hold, ok := errors.AsType[*pipeline.HoldError](err); ok {
		f.Message, f.Remedy = oneLine(hold.Reason), hold.Remedy
	}
	var refused *sink.Error
	if errors.As(err, &refused) && refused.Err != nil {
		f.Message, f.Remedy = oneLine(refused.Err.Error()), refused.Remedy
	}
	return f
}
