// Command capture writes down what real servers of all majors send through
// pgoutput: the golden frames of pkg/decoder. For each major it makes one file,
// with every SQL statement of the script above the messages that it led to.
//
// Run it with "go generate ./pkg/decoder". The files differ from run to run in
// LSNs, times and ids, so that they are renewed only when the script changes.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
)

// limit bounds a whole run, downloads of servers included.
const limit = 10 * time.Minute

func main() {
	out := flag.String("out", "testdata/golden", "folder to write pgNN.txt into")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	for _, major := range pgtest.Majors() {
		if err := captureMajor(ctx, major, *out); err != nil {
			cancel()
			fmt.Fprintf(os.Stderr, "capture: PostgreSQL %d: %v\n", major, err)
			os.Exit(1) //nolint:gocritic // the deferred cancel has been called.
		}
	}
}

// captureMajor runs the script on a server of its own.
func captureMajor(ctx context.Context, major int, out string) (err error) {
	server, err := pgtest.Start(ctx, pgtest.Options{Major: major})
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := server.Close(); err == nil {
			err = closeErr
		}
	}()
	text, err := play(ctx, server.URL("postgres", ""))
	if err != nil {
		return err
	}
	header := fmt.Sprintf("# What PostgreSQL %d sent; made by internal/pgtest/capture.\n", major)
	return os.WriteFile(filepath.Join(out, fmt.Sprintf("pg%d.txt", major)), append([]byte(header), text...), 0o644)
}
