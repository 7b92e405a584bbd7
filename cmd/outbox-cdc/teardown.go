package main

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/outbox-cdc/outbox-cdc/internal/app"
)

const teardownHelp = `Takes away what setup made: the replication slot, which holds up WAL as long as
it exists, then the publication if setup made it and nobody changed it since,
then the slot's checkpoint, and its table if no other slot's is in it. The outbox
tables, and the role with its rights, stay.

It shows what it will do and asks first; --yes goes ahead without a question. It
refuses while the slot is in use.

What was not delivered yet does not arrive after this by itself: a slot that
setup makes later begins with what is written then.

Exits with 0, 2 (configuration) or 3 (an operator must act).`

func teardownCommand(opts *options) *cobra.Command {
	yes := false
	cmd := &cobra.Command{
		Use:     "teardown",
		Short:   "Drop slot, publication and checkpoint",
		Long:    teardownHelp,
		Example: "  outbox-cdc teardown\n  outbox-cdc teardown --yes",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := opts.load()
			if err != nil {
				return err
			}
			confirm := func() bool {
				if yes {
					return true
				}
				cmd.PrintErr("Go ahead? Type yes: ")
				return confirmed(cmd)
			}
			if err := app.Teardown(cmd.Context(), cfg, cmd.OutOrStdout(), confirm); err != nil {
				return &operatorError{fmt.Errorf("teardown: %w", err)}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// confirmed reads the answer; the end of the input is a no.
func confirmed(cmd *cobra.Command) bool {
	line, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	return err == nil && strings.TrimSpace(line) == "yes"
}
