package main

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/outbox-cdc/outbox-cdc/internal/config"
	"github.com/outbox-cdc/outbox-cdc/internal/pipeline"
)

func TestExitCodes(t *testing.T) {
	faults := &config.Error{Faults: []error{errors.New("a"), errors.New("b")}}
	for _, tc := range []struct {
		err  error
		want int
		said string
	}{
		{nil, 0, ""},
		{errors.New("broken"), 1, "outbox-cdc: broken\n"},
		{faults, 2, "outbox-cdc: the configuration can't be used:\n  a\n  b\n"},
		{fmt.Errorf("load: %w", faults), 2, "outbox-cdc: the configuration can't be used:\n  a\n  b\n"},
		{&usageError{errors.New("unknown flag")}, 2, "outbox-cdc: unknown flag\n"},
		{&operatorError{errors.New("no table")}, 3, "outbox-cdc: no table\n"},
		{fmt.Errorf("stream: %w", &pipeline.HoldError{Reason: "slot lost", Remedy: "make it anew"}), 3, "outbox-cdc: stream: slot lost; make it anew\n"},
		{&saidError{2}, 2, ""},
		{&saidError{3}, 3, ""},
	} {
		var b bytes.Buffer
		complain(&b, tc.err)
		if got := exitCode(tc.err); got != tc.want || b.String() != tc.said {
			t.Errorf("%v: code %d, %q, want %d, %q", tc.err, got, b.String(), tc.want, tc.said)
		}
	}
	inner := errors.New("inner")
	for _, err := range []error{&usageError{inner}, &operatorError{inner}} {
		if !errors.Is(err, inner) || err.Error() != "inner" {
			t.Errorf("%T hides its cause", err)
		}
	}
	if got := (&saidError{3}).Error(); got != "exit code 3" {
		t.Errorf("got %q", got)
	}
}

func TestLogger(t *testing.T) {
	for _, tc := range []struct {
		cfg  config.Config
		want string
	}{
		{config.Config{}, `{"time":`},
		{config.Config{LogFormat: "json"}, `{"time":`},
		{config.Config{LogFormat: "text"}, `time=`},
		{config.Config{LogLevel: slog.LevelWarn}, ""},
	} {
		var b bytes.Buffer
		newLogger(&tc.cfg, &b).Info("hello")
		if !strings.HasPrefix(b.String(), tc.want) || (tc.want == "") != (b.Len() == 0) {
			t.Errorf("%+v: %q", tc.cfg, b.String())
		}
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	if isTerminal(f) {
		t.Error("a file is no terminal")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestEnvQuote: what --print shows is what --env-file reads.
func TestEnvQuote(t *testing.T) {
	for _, v := range []string{"a", "a b # c", " a", "a ", `"a"`, "'a", "it's ", `x"y`} {
		path := filepath.Join(t.TempDir(), "env")
		if err := os.WriteFile(path, []byte("A="+envQuote(v)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := config.ReadEnvFile(path)
		if err != nil || len(got) != 1 || got[0] != "A="+v {
			t.Errorf("%q became %q, %v", v, got, err)
		}
	}
}

func TestBuildVersion(t *testing.T) {
	if buildVersion() == "" {
		t.Error("no version")
	}
}
