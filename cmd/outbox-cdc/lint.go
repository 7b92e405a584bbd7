package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/outbox-cdc/outbox-cdc/internal/config"
)

const lintHelp = `Checks the environment, the tables, the columns and the rules without any
connection, and reports every fault at once. Exits with 0 or 2.

With --print it shows the effective configuration as an env file: defaults
included, secrets masked.`

func lintCommand(opts *options) *cobra.Command {
	show := false
	cmd := &cobra.Command{
		Use:     "lint",
		Short:   "Check the configuration offline",
		Long:    lintHelp,
		Example: "  outbox-cdc lint\n  outbox-cdc lint --print --env-file prod.env",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := opts.load()
			if err != nil {
				return err
			}
			for _, w := range cfg.Warnings {
				cmd.PrintErrln("warning:", w)
			}
			if show {
				return printEffective(cmd.OutOrStdout(), cfg)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "the configuration is valid")
			return err
		},
	}
	cmd.Flags().BoolVar(&show, "print", false, "show the effective configuration, secrets masked")
	return cmd
}

// printEffective writes what --env-file reads, but for the masked secrets and
// for values of several lines, which are shown quoted.
func printEffective(w io.Writer, cfg *config.Config) error {
	var b strings.Builder
	for _, e := range cfg.Effective() {
		switch {
		case e.Value == "":
			fmt.Fprintf(&b, "#%s=\n", e.Name)
		case strings.ContainsAny(e.Value, "\n\r"):
			fmt.Fprintf(&b, "# from %s, several lines:\n#%s=%s\n", e.Source, e.Name, strconv.Quote(e.Value))
		case e.Source != "default":
			fmt.Fprintf(&b, "# from %s:\n%s=%s\n", e.Source, e.Name, envQuote(e.Value))
		default:
			fmt.Fprintf(&b, "%s=%s\n", e.Name, envQuote(e.Value))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// envQuote quotes values that begin with a quote or end in space; others are
// read as they stand.
func envQuote(v string) string {
	if strings.TrimSpace(v) == v && v[0] != '\'' && v[0] != '"' {
		return v
	}
	if strings.Contains(v, "'") {
		return `"` + v + `"`
	}
	return "'" + v + "'"
}
