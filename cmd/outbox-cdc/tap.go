package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/outbox-cdc/outbox-cdc/internal/app"
)

const tapHelp = `Shows what would be delivered: every row that is inserted from now on, after the
rules, as a line of JSON with route, destination, key, headers and value. It is a
safe first contact: nothing is delivered, and the slot that outbox-cdc run reads
is not touched and need not exist.

It reads a temporary slot of its own, which goes with it, however it ends. Making
the slot waits for running transactions, at most 30 s. Output that blocks for
longer than the session's wal_sender_timeout ends it, so that a forgotten
terminal holds no WAL.

An event that a stream would halt at is told on standard error, and passed over.
The lines hold payloads: mind who sees them. It needs the publication and a role
with REPLICATION.

Exits with 0 (also after Ctrl-C), 2 (configuration) or 3 (an operator must act).`

var errNegative = errors.New("--limit and --for can't be negative")

func tapCommand(opts *options) *cobra.Command {
	var limit int
	var lasting time.Duration
	cmd := &cobra.Command{
		Use:     "tap",
		Short:   "Show what would be delivered, and leave nothing behind",
		Long:    tapHelp,
		Example: "  outbox-cdc tap --limit 10\n  outbox-cdc tap --for 30s | jq -c '[.route, .destination, .key]'",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 0 || lasting < 0 {
				return &usageError{errNegative}
			}
			cfg, err := opts.load()
			if err != nil {
				return err
			}
			err = app.Tap(cmd.Context(), cfg, app.TapOptions{Limit: limit, For: lasting}, cmd.OutOrStdout(), cmd.ErrOrStderr())
			if err != nil {
				return &operatorError{fmt.Errorf("tap: %w", err)}
			}
			return nil
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 0, "end after this many records (default: no limit)")
	cmd.Flags().DurationVar(&lasting, "for", 0, "end after this time, such as 30s (default: no limit)")
	return cmd
}
