package main

import (
	"slices"
	"strings"
	"testing"
)

func TestAssignQuotes(t *testing.T) {
	got := setting{"A", "it's $HOME; `x`"}.assign()
	if want := `A='it'\''s $HOME; ` + "`x`'"; got != want {
		t.Errorf("assign = %s, want %s", got, want)
	}
}

func TestEnvironLeavesTheCallersSettingsOut(t *testing.T) {
	t.Setenv("OUTBOX_CDC_SLOT", "production")
	t.Setenv("PGHOST", "production")
	t.Setenv("DEMO_TEST_KEPT", "yes")
	env := environ(settings("postgres://x", "b:1", "l:2"))
	for _, kv := range env {
		if strings.Contains(kv, "production") {
			t.Errorf("%s reaches the connector", kv)
		}
	}
	for _, want := range []string{"DEMO_TEST_KEPT=yes", "OUTBOX_CDC_DATABASE_URL=postgres://x", "OUTBOX_CDC_KAFKA_BROKERS=b:1"} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is missing", want)
		}
	}
}
