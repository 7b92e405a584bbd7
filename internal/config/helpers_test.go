package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// minimal is the least environment that Load accepts.
func minimal() map[string]string {
	return map[string]string{
		"OUTBOX_CDC_DATABASE_URL": "postgres://u:p@127.0.0.1/app",
		"OUTBOX_CDC_TABLES":       "public.outbox",
		"OUTBOX_CDC_ROUTES":       "* -> kafka:events",
	}
}

// environOf is minimal with changes on top: "NAME=value" without the prefix
// for our own variables, or PG*; an empty value removes.
func environOf(changes ...string) []string {
	vars := minimal()
	for _, kv := range changes {
		name, value, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, "PG") && !strings.HasPrefix(name, Prefix) {
			name = Prefix + name
		}
		if value == "" {
			delete(vars, name)
		} else {
			vars[name] = value
		}
	}
	var environ []string
	for name, value := range vars {
		environ = append(environ, name+"="+value)
	}
	return environ
}

// noLibpq hides the PG* variables of whoever runs the tests.
func noLibpq(t *testing.T) {
	t.Helper()
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "PG") {
			t.Setenv(name, "")
		}
	}
}

func mustLoad(t *testing.T, changes ...string) *Config {
	t.Helper()
	c, err := Load(environOf(changes...))
	if err != nil {
		t.Fatalf("Load(%q): %v", changes, err)
	}
	return c
}

// faults loads and gives "NAME: problem" of each fault.
func faults(t *testing.T, environ []string) []string {
	t.Helper()
	_, err := Load(environ)
	var all *Error
	if !errors.As(err, &all) {
		t.Fatalf("got %v, want an *Error", err)
	}
	var lines []string
	for _, f := range all.Faults {
		lines = append(lines, f.Error())
	}
	return lines
}

// onlyFault demands one fault, of this setting, with this text in it.
func onlyFault(t *testing.T, environ []string, setting, part string) {
	t.Helper()
	got := faults(t, environ)
	if len(got) != 1 || !strings.HasPrefix(got[0], Prefix+setting+": ") || !strings.Contains(got[0], part) {
		t.Errorf("got %q, want one fault of %s%s with %q", got, Prefix, setting, part)
	}
}

func writeFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "value")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
