package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/outbox-cdc/outbox-cdc/internal/app"
)

const runHelp = `Streams until SIGTERM or SIGINT; then it stops taking rows, waits up to
OUTBOX_CDC_SHUTDOWN_GRACE for what is in flight, confirms it, and exits with 0.
A second signal ends it at once. This is what outbox-cdc does without a command.

A database or broker that is down is tried again without end. What an operator
must mend (a lost slot, a missing topic, denied access) holds the stream: the
process stays up, unready, says what is wrong at /readyz, /status and in the
log, and looks again every OUTBOX_CDC_HOLD_RETRY. With OUTBOX_CDC_ON_FATAL=exit
it ends with code 3 instead.`

func runCommand(opts *options) *cobra.Command {
	var from string
	cmd := &cobra.Command{
		Use:     "run",
		Short:   "Stream (the default command)",
		Long:    runHelp,
		Example: "  outbox-cdc run --env-file /etc/outbox-cdc.env",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if from != "" && from != "slot" {
				return &usageError{fmt.Errorf("--from=%.32q: want slot, or leave it out", from)}
			}
			cfg, err := opts.load()
			if err != nil {
				return err
			}
			version := app.Version{Version: buildVersion(), Revision: buildRevision()}
			return app.Run(cmd.Context(), cfg, newLogger(cfg, cmd.ErrOrStderr()), version, app.RunOptions{FromSlot: from == "slot"})
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "'slot' begins at the slot's own position and ignores the checkpoint, after you have moved the slot back")
	return cmd
}
