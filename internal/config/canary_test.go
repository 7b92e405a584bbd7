package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

const canary = "CANARYs3cr3t"

// TestSecretsAreNeverShown puts a canary into every secret, in forms that parse
// and in forms that do not, and searches all that comes out.
func TestSecretsAreNeverShown(t *testing.T) {
	noLibpq(t)
	urls := []string{
		"postgres://u:" + canary + "@127.0.0.1/app",
		"postgres://u:" + canary + "@127.0.0.1:port/app",
		"postgres://u:" + canary + "%zz@127.0.0.1/app",
		"postgres://u:p/" + canary + "@127.0.0.1/app",
		"postgres://u:a@" + canary + ":b@127.0.0.1/app",
		"postgres://127.0.0.1/app?password=" + canary + "&sslmode=bad",
		"postgres://127.0.0.1/app?" + canary,
		"postgres://[" + canary + "/app",
		"postgresql://u:" + canary + "@db.example.com/app?sslrootcert=/nonexistent",
		"postgres://u:" + canary + "@db.example.com/app?target_session_attrs=" + canary,
		"host=127.0.0.1 password=" + canary + " sslmode=" + canary,
		"host=127.0.0.1 password='" + canary,
		"host=127.0.0.1 connect_timeout=" + canary,
		"host=h port=" + canary,
		canary,
		"mysql://u:" + canary + "@127.0.0.1/app",
		"postgres://u:" + canary + "\x00@127.0.0.1/app",
	}
	for _, url := range urls {
		search(t, url, environOf("DATABASE_URL="+url))
		search(t, url, environOf("DATABASE_URL=", "DATABASE_URL_FILE="+writeFile(t, url)))
	}
	for _, s := range Settings() {
		if name := strings.TrimPrefix(s.Name, Prefix); s.Secret && name != "DATABASE_URL" {
			search(t, name, environOf(name+"="+canary))
			search(t, name, environOf(beside(name, name+"="+canary)...))
			search(t, name, environOf(beside(name, name+"=", name+"_FILE="+writeFile(t, canary))...))
		}
	}
	for _, url := range []string{"https://u:" + canary + "@h/token", "https://h:" + canary + "/", "ftp://" + canary, "http://h/?s=" + canary} {
		search(t, url, environOf(beside("KAFKA_OAUTH_TOKEN_URL", "KAFKA_OAUTH_TOKEN_URL="+url)...))
	}
}

// search loads and looks for the canary in all that can be printed.
func search(t *testing.T, what string, environ []string) {
	t.Helper()
	var out bytes.Buffer
	c, err := Load(environ)
	fmt.Fprintf(&out, "%v %+v %#v\n", err, err, err)
	if c != nil {
		for _, verb := range []string{"%v", "%+v", "%#v", "%q", "%x", "%s"} {
			fmt.Fprintf(&out, verb+"\n", any(*c))
		}
		fmt.Fprintln(&out, c.Warnings, c.Effective())
		slog.New(slog.NewJSONHandler(&out, nil)).Info("config", "config", c, "database", c.Database, "url", c.Database.url)
		slog.New(slog.NewTextHandler(&out, nil)).Info("config", "config", c, "url", c.Database.url)
		if err := json.NewEncoder(&out).Encode([]any{c, c.Database.url, c.Effective()}); err != nil {
			t.Fatal(err)
		}
	}
	if text := out.String(); strings.Contains(text, canary) || strings.Contains(text, fmt.Sprintf("%x", canary)) {
		t.Errorf("%q: the secret is in\n%.2000s", what, text)
	}
}

func TestSecret(t *testing.T) {
	s := NewSecret(canary)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T"} {
		if got := fmt.Sprintf(verb, s); strings.Contains(got, canary) || strings.Contains(got, fmt.Sprintf("%x", canary)) {
			t.Errorf("%s gives %q", verb, got)
		}
	}
	if s.Reveal() != canary || s.IsZero() || !(Secret{}).IsZero() {
		t.Error("the value itself is lost")
	}
	if b, err := json.Marshal(map[string]any{"a": s}); err != nil || string(b) != `{"a":"\u003csecret\u003e"}` {
		t.Errorf("JSON %s, %v", b, err)
	}
}

// FuzzDatabaseURL: whatever the URL, its password never comes out of an error.
func FuzzDatabaseURL(f *testing.F) {
	f.Add("postgres://u:", "@h/d?x=1")
	f.Add("host=h password=", " port=x")
	f.Add("", "")
	f.Fuzz(func(t *testing.T, before, after string) {
		d := NewDatabase(before + canary + after)
		if _, err := d.ConnConfig(); err != nil && strings.Contains(err.Error(), canary) {
			t.Errorf("%v", err)
		}
	})
}
