// Command gendoc writes docs/configuration.md from the settings struct.
package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/outbox-cdc/outbox-cdc/internal/config"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gendoc:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("want the output file, got %d arguments", len(args))
	}
	var b bytes.Buffer
	if err := config.WriteMarkdown(&b); err != nil {
		return err
	}
	return os.WriteFile(args[0], b.Bytes(), 0o644) //nolint:gosec // a public document
}
