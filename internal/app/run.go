package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/outbox-cdc/outbox-cdc/internal/config"
	"github.com/outbox-cdc/outbox-cdc/internal/httpapi"
	"github.com/outbox-cdc/outbox-cdc/internal/metrics"
	"github.com/outbox-cdc/outbox-cdc/internal/monitor"
	"github.com/outbox-cdc/outbox-cdc/internal/pipeline"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset"
	"github.com/outbox-cdc/outbox-cdc/pkg/router"
)

// errStreamEnded ends the listener when the pipeline has.
var errStreamEnded = errors.New("the stream has ended")

// RunOptions are what only the command line says.
type RunOptions struct {
	// FromSlot begins at a slot that stands below its checkpoint.
	FromSlot bool
}

// Run streams until ctx ends. The error is a *pipeline.HoldError where an
// operator must act and OUTBOX_CDC_ON_FATAL=exit says so.
func Run(ctx context.Context, cfg *config.Config, log *slog.Logger, version Version, opts RunOptions) error {
	rules, err := router.New(cfg.Routes)
	if err != nil {
		return fmt.Errorf("OUTBOX_CDC_ROUTES: %w", err)
	}
	want, err := wanted(cfg)
	if err != nil {
		return err
	}
	want.ApplicationName = applicationName(cfg)
	conn := &connector{cfg: cfg, want: want}
	store := openOffsets(conn)
	gap, err := acceptedGap(cfg)
	if err != nil {
		return fmt.Errorf("OUTBOX_CDC_ACCEPT_GAP: %w", err)
	}
	layouts, err := formats(cfg, rules)
	if err != nil {
		return err
	}
	skip, err := pipeline.ParseSkip(cfg.Skip)
	if err != nil {
		return fmt.Errorf("OUTBOX_CDC_SKIP: %w", err)
	}
	pc := pipeline.Config{
		Log: log, Tables: want.Tables, Router: rules, Formats: layouts,
		Limits:         offset.Limits{Records: int64(cfg.MaxInFlightEvents), Bytes: int64(cfg.MaxInFlightBytes)},
		Connect:        conn.connect,
		OwnsSlot:       conn.ownsSlot,
		WALEnd:         conn.walEnd,
		ServerStopping: conn.serverStopping,
		OpenSinks:      (&sinkOpener{cfg: cfg, log: log, kinds: rules.Sinks()}).open,
		StatusInterval: cfg.Database.StatusInterval, BackoffMax: cfg.Database.ReconnectBackoffMax,
		HoldRetry: cfg.HoldRetry, StandbyPoll: cfg.StandbyPoll, ShutdownGrace: cfg.ShutdownGrace,
		ExitOnHold: cfg.ExitOnFatal, NoStandby: !cfg.Standby,
		AcceptGap: gap, Skip: skip, FromSlot: opts.FromSlot, OffsetInterval: cfg.OffsetInterval,
	}
	if store != nil {
		defer func() { _ = store.Close(context.WithoutCancel(ctx)) }()
		pc.Checkpoint, pc.NewerRows, pc.Decoded = store, store.newerRows, conn.decoded
	}
	p, err := pipeline.New(pc)
	if err != nil {
		return err
	}
	limitMemory(cfg)
	watch := monitor.New(monitor.Config{
		Dial: conn.dial, Slot: cfg.Slot, Interval: cfg.MonitorInterval, Limit: int64(cfg.WALLimit), Log: log,
	})
	registry := prometheus.NewRegistry()
	labels := metrics.Labels{Source: cfg.Name, Slot: cfg.Slot}
	if err := metrics.Register(registry, p, watch.Last, labels, metrics.Build{Version: version.Version, Revision: version.Revision}); err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	server, err := httpapi.Listen(ctx, httpapi.Config{
		Address: cfg.ListenAddress, Metrics: registry, Pprof: cfg.Pprof, Log: log,
		Status: func() httpapi.Status { return snapshot(cfg, version, p, watch.Last()) },
	})
	if err != nil {
		return err
	}
	greet(log, cfg, want.Tables, rules, version, server.Address())
	return runAll(ctx, p, watch, server)
}

// runAll keeps monitor and listener up until the pipeline has ended.
func runAll(ctx context.Context, p *pipeline.Pipeline, watch *monitor.Monitor, server *httpapi.Server) error {
	// The listener outlives ctx: health must be told while the rest drains.
	serving, stopServing := context.WithCancelCause(context.WithoutCancel(ctx))
	streaming, stopStreaming := context.WithCancel(ctx)
	defer stopStreaming()
	var g errgroup.Group
	g.Go(func() error {
		defer stopServing(errStreamEnded)
		return p.Run(streaming)
	})
	g.Go(func() error {
		defer stopStreaming()
		return server.Serve(serving)
	})
	g.Go(func() error {
		watch.Run(serving)
		return nil
	})
	return g.Wait()
}

// greet is the one line that says what this process will do.
func greet(log *slog.Logger, cfg *config.Config, tables *decoder.Tables, rules *router.Router, v Version, address string) {
	names := make([]string, 0, len(tables.Names()))
	for _, n := range tables.Names() {
		names = append(names, n.String())
	}
	labels := make([]string, 0, len(rules.Rules()))
	for _, r := range rules.Rules() {
		labels = append(labels, r.Name)
	}
	log.Info("outbox-cdc starts", "version", v.Version, "name", cfg.Name, "slot", cfg.Slot,
		"publication", cfg.Publication, "tables", names, "routes", labels, "listen", address)
	for _, w := range cfg.Warnings {
		log.Warn(w)
	}
}
