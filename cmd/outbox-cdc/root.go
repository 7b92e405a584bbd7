package main

import (
	"github.com/spf13/cobra"
)

const rootHelp = `Reads a PostgreSQL logical replication slot, takes the INSERTs on outbox tables,
and delivers them to Kafka: every committed row at least once, in order for each
key. PostgreSQL is told that a position is done only after the destination has
stored everything up to it.

Settings are environment variables named OUTBOX_CDC_...; docs/configuration.md
lists them. Without a command it does "run".

Exit codes: 0 stopped, 1 unexpected, 2 configuration, 3 an operator must act.`

const rootExample = `  export OUTBOX_CDC_DATABASE_URL='postgres://cdc@db.internal/shop'
  export OUTBOX_CDC_TABLES='public.outbox'
  export OUTBOX_CDC_ROUTES='* -> kafka:outbox.events'
  export OUTBOX_CDC_KAFKA_BROKERS='localhost:9092'
  outbox-cdc lint && outbox-cdc setup && outbox-cdc check
  outbox-cdc`

func rootCommand() *cobra.Command {
	opts := new(options)
	stream := runCommand(opts)
	root := &cobra.Command{
		Use:           "outbox-cdc",
		Short:         "Deliver outbox tables from PostgreSQL to Kafka",
		Long:          rootHelp,
		Example:       rootExample,
		Args:          noArguments,
		RunE:          stream.RunE,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.PersistentFlags().StringVar(&opts.envFile, "env-file", "", "read NAME=value lines from this file; the real environment wins")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err} })
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(stream, checkCommand(opts), lintCommand(opts), setupCommand(opts), statusCommand(opts), tapCommand(opts), teardownCommand(opts), versionCommand())
	return root
}

// noArguments refuses what is no command, naming the nearest ones.
func noArguments(cmd *cobra.Command, args []string) error {
	if err := cobra.NoArgs(cmd, args); err != nil {
		return &usageError{err}
	}
	return nil
}
