package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// stage is a writer that keeps everything and calls cue when a text appears.
type stage struct {
	mu   sync.Mutex
	text strings.Builder
	on   string
	cue  func()
}

func (s *stage) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cue != nil && strings.Contains(string(p), s.on) {
		s.cue()
	}
	return s.text.Write(p)
}

func (s *stage) lines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Split(strings.TrimSpace(s.text.String()), "\n")
}

// mustBuild builds the connector where everybody may run it.
func mustBuild(t *testing.T) string {
	t.Helper()
	binary, err := build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

var success = regexp.MustCompile(`^demo: sent ([1-9]\d*), received ([1-9]\d*), lost 0, out of order 0, rolled back and absent \d+$`)

// mustBeWell checks exit code and last line.
func mustBeWell(t *testing.T, code int, lines []string) {
	t.Helper()
	found := success.FindStringSubmatch(lines[len(lines)-1])
	if code != exitOK || found == nil || found[1] != found[2] {
		t.Fatalf("exit code %d, output:\n%s", code, strings.Join(lines, "\n"))
	}
}

// mustBeGone checks that nothing is left: no file, nobody who listens.
func mustBeGone(t *testing.T, temporary string, lines []string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(temporary, "outbox-cdc-demo-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	addresses := regexp.MustCompile(`127\.0\.0\.1:\d+`).FindAllString(strings.Join(lines, "\n"), -1)
	if len(addresses) < 3 {
		t.Fatalf("only the addresses %v are shown", addresses)
	}
	for _, address := range addresses {
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(t.Context(), "tcp", address)
		if err == nil {
			t.Errorf("somebody still listens on %s", address)
			_ = conn.Close()
		}
	}
}

func TestDemo(t *testing.T) {
	temporary := t.TempDir()
	binary := mustBuild(t)
	t.Setenv("TMPDIR", temporary)

	t.Run("to its end", func(t *testing.T) {
		out := &stage{}
		code := show(t.Context(), options{length: 3 * time.Second, binary: binary}, out)
		lines := out.lines()
		mustBeWell(t, code, lines)
		mustBeGone(t, temporary, lines)
		all := strings.Join(lines, "\n")
		for _, want := range []string{
			"outbox-cdc setup --role outbox_cdc", "export OUTBOX_CDC_TABLES='orders.outbox'",
			"killed;", "started again", "duplicates", "the slot moved on from", "payments           2", "ended with 0",
		} {
			if !strings.Contains(all, want) {
				t.Errorf("%q is missing in:\n%s", want, all)
			}
		}
	})

	t.Run("interrupted while it writes", func(t *testing.T) {
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		out := &stage{on: "event-id", cue: interrupt}
		code := show(ctx, options{length: 10 * time.Minute, binary: binary}, out)
		lines := out.lines()
		mustBeWell(t, code, lines)
		mustBeGone(t, temporary, lines)
	})

	t.Run("interrupted while it starts", func(t *testing.T) {
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		out := &stage{on: "1. Throw-away servers", cue: interrupt}
		code := show(ctx, options{length: time.Second, binary: binary}, out)
		lines := out.lines()
		if code != exitInterrupted || !strings.HasPrefix(lines[len(lines)-1], "demo: interrupted") {
			t.Errorf("exit code %d, output:\n%s", code, strings.Join(lines, "\n"))
		}
		if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})

	t.Run("a connector that does not work", func(t *testing.T) {
		out := &stage{}
		code := show(t.Context(), options{length: time.Second, binary: filepath.Join(temporary, "missing")}, out)
		lines := out.lines()
		if last := lines[len(lines)-1]; code != exitFailed || !strings.HasPrefix(last, "demo: FAILED: sent 0") || !strings.Contains(last, "outbox-cdc setup") {
			t.Errorf("exit code %d, output:\n%s", code, strings.Join(lines, "\n"))
		}
	})
}
