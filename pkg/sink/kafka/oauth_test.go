package kafka

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/sasl"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// endpoint is a token endpoint; answer is what it says next.
type endpoint struct {
	*httptest.Server

	asked  int
	status int
	body   string
	secret string // what it was given last
	scope  string
}

func newEndpoint(t *testing.T, secured bool) *endpoint {
	t.Helper()
	e := &endpoint{status: http.StatusOK}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.asked++
		_, e.secret, _ = r.BasicAuth()
		e.scope = r.FormValue("scope")
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(e.status)
		_, _ = w.Write([]byte(e.body)) // the test sees what is missing
	})
	if secured {
		e.Server = httptest.NewTLSServer(handler)
	} else {
		e.Server = httptest.NewServer(handler)
	}
	t.Cleanup(e.Close)
	return e
}

func (e *endpoint) login(t *testing.T, files *TLS, secret func() (string, error)) *login {
	t.Helper()
	l, err := newLogin(&Config{RequestTimeout: limit, TLS: files, SASL: &SASL{
		Mechanism: "OAUTHBEARER", OAuth: OAuth{TokenURL: e.URL + "/token", ClientID: "c", ClientSecret: secret, Scope: "kafka read"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// bearer logs in and gives the token that was sent.
func bearer(t *testing.T, m sasl.Mechanism) string {
	t.Helper()
	_, first, err := m.Authenticate(t.Context(), "broker:9092")
	if err != nil {
		t.Fatal(err)
	}
	_, token, _ := strings.Cut(strings.TrimRight(string(first), "\x01"), "auth=Bearer ")
	return token
}

// TestTokens: a token serves until shortly before its end, or until a broker
// refuses it; the secret is read for each.
func TestTokens(t *testing.T) {
	e := newEndpoint(t, false)
	var secret password
	secret.set("s1")
	l := e.login(t, nil, secret.read)
	grant := func(token, expires string) {
		e.body = fmt.Sprintf(`{"access_token": %q, "token_type": "Bearer"%s}`, token, expires)
	}
	want := func(token, withSecret, scope string, asked int) {
		t.Helper()
		if got := bearer(t, l); got != token || e.asked != asked || e.secret != withSecret || e.scope != scope {
			t.Errorf("token %q after %d requests (secret %q, scope %q), want %q after %d", got, e.asked, e.secret, e.scope, token, asked)
		}
	}
	grant("t1", "")
	want("t1", "s1", "kafka read", 1)
	grant("t2", `, "expires_in": 300`)
	secret.set("s2")
	want("t2", "s2", "kafka read", 2)
	want("t2", "s2", "kafka read", 2)
	if left := time.Until(l.tokens.until); left > 240*time.Second || left < 200*time.Second {
		t.Errorf("a token of 300s is renewed in %v", left)
	}
	l.tokens.drop()
	grant("t3", `, "expires_in": 10`)
	want("t3", "s2", "kafka read", 3)
	if left := time.Until(l.tokens.until); left > 8*time.Second || left < 5*time.Second {
		t.Errorf("a token of 10s is renewed in %v", left)
	}
}

// TestTokenRefused: what the endpoint says is told without its text, which
// repeats what we sent.
func TestTokenRefused(t *testing.T) {
	const canary = "CANARYsecret"
	e := newEndpoint(t, false)
	l := e.login(t, nil, func() (string, error) { return canary, nil })
	for _, tt := range []struct {
		status int
		body   string
		kind   sink.Kind
		text   string
	}{
		{401, `{"error": "invalid_client", "error_description": "no client with ` + canary + `"}`, sink.Config, "it answered 401 Unauthorized, invalid_client"},
		{400, `{"error": "` + canary + `-1"}`, sink.Config, "it answered 400 Bad Request"},
		{403, canary, sink.Config, "it answered 403 Forbidden"},
		{307, "", sink.Config, "it answered 307"},
		{200, `{"token": "` + canary + `"}`, sink.Config, "its answer holds no token"},
		{200, canary, sink.Config, "its answer holds no token"},
		{429, canary, sink.Retriable, "429"},
		{503, canary, sink.Retriable, "it answered 503 Service Unavailable"},
		{0, "", sink.Retriable, "refused"},
	} {
		e.status, e.body = tt.status, tt.body
		if tt.status == 0 {
			e.Close()
		}
		_, _, err := l.Authenticate(t.Context(), "broker:9092")
		if err == nil {
			t.Fatalf("%d: no error", tt.status)
		}
		got := unanswered("orders", err)
		if got.Kind != tt.kind || !strings.Contains(got.Error(), tt.text) || strings.Contains(got.Error(), canary) {
			t.Errorf("%d: %v %v, want %v %q", tt.status, got.Kind, got, tt.kind, tt.text)
		}
		var temporary interface{ Temporary() bool }
		if temporary = err.(*connectError); temporary.Temporary() != (tt.kind == sink.Retriable) { //nolint:errorlint // the client asks just this
			t.Errorf("%d: the client would try again: %t", tt.status, temporary.Temporary())
		}
	}
}

// TestTokenEndpointTLS: the CA file counts for the token endpoint, too.
func TestTokenEndpointTLS(t *testing.T) {
	e := newEndpoint(t, true)
	e.body = `{"access_token": "t", "expires_in": 60}`
	secret := func() (string, error) { return "s", nil }
	_, _, err := e.login(t, nil, secret).Authenticate(context.Background(), "broker:9092")
	configError(t, unanswered("orders", err), reasonCertificate, "KAFKA_TLS_CA_FILE")
	file := writePEM(t, "CERTIFICATE", e.Certificate().Raw)
	if got := bearer(t, e.login(t, &TLS{CAFile: file}, secret)); got != "t" {
		t.Errorf("token %q", got)
	}
	_, _, err = e.login(t, &TLS{CAFile: "/nonexistent"}, secret).Authenticate(context.Background(), "broker:9092")
	configError(t, unanswered("orders", err), reasonNotAuthorized, "/nonexistent")
}
