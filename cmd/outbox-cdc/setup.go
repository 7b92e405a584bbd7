package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/outbox-cdc/outbox-cdc/internal/app"
)

const setupHelp = `Makes what is missing: the REPLICATION attribute of the role, the checkpoint
table with the role's rights on it, the publication, and last the replication
slot. What is there already is left as it is, so it can be run again; teardown
takes it away. It blocks no writer. Making the slot waits for running
transactions, at most 30 s; then it names who holds it up and leaves nothing
half-made.

Rows that are in the tables before the slot is made never arrive by themselves;
setup says how many there are.

It needs the owner of the tables with CREATE on the database, and REPLICATION.
With --print it shows the SQL for a DBA and connects to nothing.

Exits with 0, 2 (configuration) or 3 (something is left to do).`

func setupCommand(opts *options) *cobra.Command {
	role, show := "", false
	cmd := &cobra.Command{
		Use:     "setup",
		Short:   "Make publication, checkpoint table and slot",
		Long:    setupHelp,
		Example: "  outbox-cdc setup --role outbox_cdc\n  outbox-cdc setup --print | psql ...",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := opts.load()
			if err != nil {
				return err
			}
			if show {
				script, err := app.SetupScript(cfg, role)
				if err == nil {
					_, err = fmt.Fprint(cmd.OutOrStdout(), script)
				}
				return err
			}
			if err := app.Setup(cmd.Context(), cfg, role, cmd.OutOrStdout()); err != nil {
				return &operatorError{err}
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "ready: outbox-cdc check looks at the rest, outbox-cdc run streams")
			return err
		},
	}
	cmd.Flags().StringVar(&role, "role", "", "the role that will stream (default: the current user)")
	cmd.Flags().BoolVar(&show, "print", false, "show the SQL instead of running it")
	return cmd
}
