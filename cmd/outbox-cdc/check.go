package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/outbox-cdc/outbox-cdc/internal/app"
	"github.com/outbox-cdc/outbox-cdc/internal/catalog"
	"github.com/outbox-cdc/outbox-cdc/internal/config"
)

const checkHelp = `Looks at everything that a start would refuse, and at what is worth a warning:
configuration, server version and settings, role, publication, tables and their
columns, slot, rows that the slot does not cover, topics. It changes nothing,
and all faults are reported at once, each with what mends it.

Exits with 0 (warnings too), 2 (configuration) or 3 (an operator must act).`

func checkCommand(opts *options) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:     "check",
		Short:   "Check configuration, database and destinations",
		Long:    checkHelp,
		Example: "  outbox-cdc check\n  outbox-cdc check --json | jq '.checks[] | select(.status==\"fail\")'",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			show := showChecks
			if asJSON {
				show = showJSON
			}
			cfg, err := opts.load()
			if _, ok := errors.AsType[*config.Error](err); ok {
				return answer(cmd.OutOrStdout(), app.CheckFaults(err, buildVersion()), show, exitConfiguration)
			}
			if err != nil {
				return err
			}
			return check(cmd.Context(), cmd, cfg, show)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

func check(ctx context.Context, cmd *cobra.Command, cfg *config.Config, show func(io.Writer, *app.CheckResult) error) error {
	result, err := app.Check(ctx, cfg, newLogger(cfg, cmd.ErrOrStderr()), buildVersion())
	if err != nil {
		return err
	}
	return answer(cmd.OutOrStdout(), result, show, exitOperator)
}

// answer shows the result; code is what a failure exits with.
func answer(w io.Writer, r *app.CheckResult, show func(io.Writer, *app.CheckResult) error, code int) error {
	if err := show(w, r); err != nil {
		return err
	}
	if !r.OK {
		return &saidError{code}
	}
	return nil
}

func showJSON(w io.Writer, r *app.CheckResult) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// showChecks writes a line a check, its remedy below it, and a summary.
func showChecks(w io.Writer, r *app.CheckResult) error {
	var b strings.Builder
	counts := map[catalog.Status]int{}
	for _, f := range r.Checks {
		counts[f.Status]++
		subject := f.Subject
		if subject != "" {
			subject = " " + subject
		}
		fmt.Fprintf(&b, "%-4s  %s%s: %s\n", f.Status, f.Name, subject, f.Message)
		if f.Remedy != "" && f.Status != catalog.OK {
			fmt.Fprintf(&b, "      -> %s\n", f.Remedy)
		}
	}
	fmt.Fprintf(&b, "%d failed, %d warnings, %d skipped, %d ok\n",
		counts[catalog.Fail], counts[catalog.Warn], counts[catalog.Skip], counts[catalog.OK])
	_, err := io.WriteString(w, b.String())
	return err
}
