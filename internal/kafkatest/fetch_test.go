package kafkatest

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// TestDownload: without Maven every jar is asked for by its path, and what is
// not the pinned one is refused.
func TestDownload(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	repository := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if strings.Contains(r.URL.Path, "gone") {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte("not " + r.URL.Path))
	}))
	defer repository.Close()
	dir := t.TempDir()
	if err := downloadFrom(t.Context(), repository.URL, dir); err != nil || int(asked.Load()) != len(jars()) {
		t.Fatalf("%d of %d jars were asked for: %v", asked.Load(), len(jars()), err)
	}
	first := jars()[0]
	if text, err := os.ReadFile(filepath.Join(dir, first.path)); string(text) != "not /"+first.path {
		t.Errorf("the jar %s is %q, %v", first.path, text, err)
	}
	if err := verify(filepath.Join(dir, first.path), first.sum); err == nil || !strings.Contains(err.Error(), "pinned is") {
		t.Errorf("a wrong jar: %v", err)
	}
	if err := downloadFrom(t.Context(), repository.URL+"/gone", dir); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("a jar that is not there: %v", err)
	}
}

func TestParseRelease(t *testing.T) {
	for text, want := range map[string]int{
		`openjdk version "17.0.15" 2025-04-15`: 17,
		`openjdk version "11.0.2" 2019-01-15`:  11,
		`java version "1.8.0_392"`:             8,
		`openjdk version "26-ea" 2026-03-17`:   26,
		"no java here":                         0,
	} {
		if _, major := parseRelease(text); major != want {
			t.Errorf("%q is release %d, want %d", text, major, want)
		}
	}
}

// TestOldJavaIsPassedOver: an old Java in the path does not do, and without
// another one and without Python the error is the one line that helps.
func TestOldJavaIsPassedOver(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n"
	if err := os.WriteFile(filepath.Join(dir, "java"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	t.Setenv("JAVA_HOME", filepath.Join(dir, "nowhere"))
	if _, err := findJava(t.Context(), t.TempDir()); err == nil || err.Error() != errNoJava.Error() {
		t.Errorf("got %v, want %v", err, errNoJava)
	}
}
