package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/outbox-cdc/outbox-cdc/internal/catalog"
	"github.com/outbox-cdc/outbox-cdc/internal/config"
	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl"
	"github.com/outbox-cdc/outbox-cdc/internal/pipeline"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/router"
)

// TapOptions are what only the command line says.
type TapOptions struct {
	// Limit ends it after so many records; 0 is no limit.
	Limit int
	// For ends it so long after the slot was made; 0 is no limit.
	For time.Duration
}

// tapSilence is the wal_sender_timeout of a tap where the configuration leaves
// the server's. It must have one: a terminal that nobody reads on would else
// hold WAL for ever.
const tapSilence = 15 * time.Second

// Tap shows on out, a line a record, what the rules make of every row that is
// inserted from now on, until ctx ends or an option says so. It reads a
// temporary slot of its own, delivers nothing, confirms nothing to any other
// slot and leaves nothing behind. What is worth knowing beside the records goes
// to notes. Errors are for an operator; they hold neither URL nor password.
func Tap(ctx context.Context, cfg *config.Config, opts TapOptions, out, notes io.Writer) error {
	rules, err := router.New(cfg.Routes)
	if err != nil {
		return fmt.Errorf("OUTBOX_CDC_ROUTES: %w", err)
	}
	tables, err := outboxTables(cfg)
	if err != nil {
		return err
	}
	layouts, err := formats(cfg, rules)
	if err != nil {
		return err
	}
	slot := "outbox_cdc_tap_" + strings.ToLower(rand.Text()[:12])
	s, err := openTap(ctx, cfg, tables, slot)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil // who stops it while it waits wants no more of it
	default:
		return err
	}
	t := newTap(layouts, rules, decoder.New(tables), opts, out, notes)
	_, err = fmt.Fprintf(notes, "tap: rows of publication %q inserted from now on, through the temporary slot %s; nothing is delivered; end it with Ctrl-C\n", cfg.Publication, slot)
	if err != nil {
		s.stream.Close()
		return err
	}
	if opts.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, opts.For)
		defer cancel()
	}
	if err := t.run(ctx, s.stream, s.timeout); err != nil {
		return pipeline.JudgeConnect(err, slot)
	}
	return t.summary()
}

// tapStream is a started stream and the wal_sender_timeout in force.
type tapStream struct {
	stream  *pgrepl.Stream
	timeout time.Duration
}

// openTap checks the server and starts a stream from a temporary slot.
func openTap(ctx context.Context, cfg *config.Config, tables *decoder.Tables, slot string) (*tapStream, error) {
	cc, err := cfg.Database.ConnConfig()
	if err != nil {
		return nil, err
	}
	if err := inspectForTap(ctx, cc, catalog.Want{
		Slot: slot, Publication: cfg.Publication, Tables: tables, ApplicationName: applicationName(cfg),
	}); err != nil {
		return nil, err
	}
	s, err := pgrepl.Connect(ctx, pgrepl.Config{
		Conn: &cc.Config, Slot: slot, Publication: cfg.Publication, ApplicationName: applicationName(cfg),
		SenderTimeout:   cmp.Or(cfg.Database.WALSenderTimeout, tapSilence),
		DecodingWorkMem: int64(cfg.Database.DecodingWorkMem),
		MaxMessage:      int(cfg.MaxEventBytes),
	})
	if err != nil {
		return nil, pipeline.JudgeConnect(err, slot)
	}
	if err := makeTapSlot(ctx, s, cc, setupWait); err != nil {
		_ = s.Close(context.WithoutCancel(ctx))
		return nil, pipeline.JudgeConnect(err, slot)
	}
	stream, err := s.Start(ctx, 0)
	if err != nil {
		return nil, pipeline.JudgeConnect(err, slot)
	}
	return &tapStream{stream, s.SenderTimeout}, nil
}

// inspectForTap reports what a start would refuse, but for the slot, which is
// not there yet.
func inspectForTap(ctx context.Context, cc *pgx.ConnConfig, want catalog.Want) error {
	ctx, cancel := context.WithTimeout(ctx, inspectTimeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, cc)
	if err != nil {
		return pipeline.JudgeConnect(err, want.Slot)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	report, err := catalog.Inspect(ctx, conn, want)
	if err != nil {
		return fmt.Errorf("inspect the server: %w", err)
	}
	report.Findings = slices.DeleteFunc(report.Findings, func(f catalog.Finding) bool { return strings.HasPrefix(f.Name, "slot.") })
	if err := report.Err(); err != nil {
		return holdFor(err)
	}
	return nil
}

// makeTapSlot waits for running transactions, at most for the given time, and
// then names who holds it up.
func makeTapSlot(ctx context.Context, s *pgrepl.Session, cc *pgx.ConnConfig, wait time.Duration) error {
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	_, err := s.CreateTemporarySlot(waiting)
	if err == nil || ctx.Err() != nil || waiting.Err() == nil {
		return err
	}
	who := "who they are could not be read"
	asking, cancel := context.WithTimeout(ctx, inspectTimeout)
	defer cancel()
	if conn, err := pgx.ConnectConfig(asking, cc); err == nil {
		who = catalog.Blockers(asking, conn)
		_ = conn.Close(asking)
	}
	return errors.New("make the temporary slot: running transactions did not end within " + wait.String() + ": " + who)
}
