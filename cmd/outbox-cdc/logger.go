package main

import (
	"io"
	"log/slog"
	"os"

	"golang.org/x/term"

	"github.com/outbox-cdc/outbox-cdc/internal/config"
)

// newLogger writes to w: JSON, unless the configuration or a terminal asks for
// text.
func newLogger(cfg *config.Config, w io.Writer) *slog.Logger {
	opts := &slog.HandlerOptions{Level: cfg.LogLevel}
	if cfg.LogFormat == "text" || cfg.LogFormat == "" && isTerminal(w) {
		return slog.New(slog.NewTextHandler(w, opts))
	}
	return slog.New(slog.NewJSONHandler(w, opts))
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
