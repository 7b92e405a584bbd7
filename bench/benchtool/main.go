// Command benchtool is what the scripts of bench measure with: it makes topics,
// watches drains, accounts for every id on a topic, inserts at a fixed rate, and
// sums up series of runs. Its results are JSON lines on standard output.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// command is one of the tool's programs. It parses its own arguments and writes
// its result to out.
type command struct {
	name string
	run  func(ctx context.Context, args []string, out io.Writer) error
}

func commands() []command {
	return []command{
		{"wait", waitBroker},
		{"topic", recreateTopic},
		{"watch", watch},
		{"verify", verify},
		{"produce", produce},
		{"recv", recv},
		{"latency", latency},
		{"report", report},
		{"ratio", ratio},
	}
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run returns the exit code: 1 for a failure, 2 for a call that makes no sense.
func run(args []string, out, errs io.Writer) int {
	names := make([]string, 0, len(commands()))
	for _, c := range commands() {
		names = append(names, c.name)
		if len(args) == 0 || args[0] != c.name {
			continue
		}
		err := c.run(context.Background(), args[1:], out)
		if err == nil {
			return 0
		}
		_, _ = fmt.Fprintf(errs, "benchtool %s: %v\n", c.name, err)
		if errors.Is(err, flag.ErrHelp) {
			return 2
		}
		return 1
	}
	_, _ = fmt.Fprintf(errs, "usage: benchtool %s [flags]\n", strings.Join(names, "|"))
	return 2
}
