package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/outbox-cdc/outbox-cdc/internal/config"
	"github.com/outbox-cdc/outbox-cdc/internal/pipeline"
)

// The exit codes. Supervisors rely on them.
const (
	exitOK            = 0
	exitUnexpected    = 1
	exitConfiguration = 2
	exitOperator      = 3
)

func main() { os.Exit(run()) }

func run() int {
	ctx, release := untilSignal(context.Background())
	defer release()
	err := rootCommand().ExecuteContext(ctx)
	complain(os.Stderr, err)
	return exitCode(err)
}

// complain says what is wrong unless the command has done so.
func complain(w io.Writer, err error) {
	var said *saidError
	var faults *config.Error
	switch {
	case err == nil, errors.As(err, &said):
	case errors.As(err, &faults):
		say(w, "outbox-cdc: the configuration can't be used:")
		for _, f := range faults.Faults {
			say(w, "  "+f.Error())
		}
	default:
		say(w, "outbox-cdc: "+err.Error())
	}
}

// say writes a line to where a failed write can't be told either.
func say(w io.Writer, line string) { _, _ = fmt.Fprintln(w, line) }

// saidError ends a command whose output has told already what is wrong.
type saidError struct{ code int }

func (e *saidError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// usageError is a wrong command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }

func (e *usageError) Unwrap() error { return e.err }

// operatorError is what an operator must mend on a server.
type operatorError struct{ err error }

func (e *operatorError) Error() string { return e.err.Error() }

func (e *operatorError) Unwrap() error { return e.err }

func exitCode(err error) int {
	var (
		said     *saidError
		usage    *usageError
		operator *operatorError
		faults   *config.Error
		hold     *pipeline.HoldError
	)
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &said):
		return said.code
	case errors.As(err, &usage), errors.As(err, &faults):
		return exitConfiguration
	case errors.As(err, &operator), errors.As(err, &hold):
		return exitOperator
	}
	return exitUnexpected
}
