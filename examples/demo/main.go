// Command demo shows outbox-cdc at work, on servers of its own: a throw-away
// PostgreSQL, a Kafka inside this process, and the real binary between them.
// Writers write, the connector is killed and started again, a quiet stretch
// passes, and every event is accounted for.
//
// It reads DEMO_FOR (how long to write, 20s), DEMO_CONNECTOR (a binary to run
// instead of building one) and NO_COLOR.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// The exit codes. A demo that is interrupted while the writers write accounts
// for what they wrote, and ends like any other.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130 // as shells say it of SIGINT
)

func main() { os.Exit(start()) }

func start() int {
	// The first signal ends the demo early, with everything put away; with the
	// handler gone, a second one ends it at once.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	opts, err := readOptions(os.Getenv)
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		return exitUsage
	}
	return show(ctx, opts, os.Stdout)
}

// show runs the demo. The last line that it writes is the verdict, when all
// processes have ended and all files are gone.
func show(ctx context.Context, opts options, out io.Writer) int {
	s := newScreen(out, opts.noColor)
	d := &demo{opts: opts, screen: s, checker: newChecker()}
	err := d.run(ctx)
	s.end()
	books := d.checker.tally()
	if ctx.Err() != nil && (!d.performing || books.sent == 0) {
		s.line("demo: interrupted before anything was written")
		return exitInterrupted
	}
	line, code := verdict(books, err)
	s.line(line)
	return code
}
