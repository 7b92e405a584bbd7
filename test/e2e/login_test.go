package e2e

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// gate is a cluster with a login, which it refuses while shut.
type gate struct {
	*kfake.Cluster

	shut atomic.Bool
}

func newGate(t *testing.T, user, password string) *gate {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-512", user, password))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	g := &gate{Cluster: c}
	c.ControlKey(int16(kmsg.SASLAuthenticate), func(r kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		if !g.shut.Load() {
			return nil, nil, false
		}
		resp, _ := r.ResponseKind().(*kmsg.SASLAuthenticateResponse)
		resp.ErrorCode = kerr.SaslAuthenticationFailed.Code
		return resp, nil, true
	})
	return g
}

// cut shuts the gate and ends the connection of the next batch, which is stored
// or not: the client can't know.
func (g *gate) cut() {
	g.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		g.DropControl()
		g.shut.Store(true)
		return nil, errors.New("cut"), true
	})
}

// TestBrokersRefuseTheLogin: at start, and in the middle of delivery with records
// on their way, it is held with its reason and goes on by itself; a password in
// a file changes without a restart. No secret shows anywhere.
func TestBrokersRefuseTheLogin(t *testing.T) {
	t.Parallel()
	const user, right, wrong = "cdc", "right-canary", "wrong-canary"
	g := newGate(t, user, right)
	r := newRig(t, nil, 1)
	r.cluster = g.Cluster
	r.createTopic(topic, partitions)
	file := filepath.Join(t.TempDir(), "password")
	password := func(s string) {
		t.Helper()
		g.shut.Store(s == wrong)
		if err := os.WriteFile(file, []byte(s+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	password(wrong)
	c := start(t, r.settings.with(settings{
		"KAFKA_BROKERS": g.ListenAddrs()[0], "KAFKA_SECURITY_PROTOCOL": "SASL_PLAINTEXT", "KAFKA_SASL_MECHANISM": "SCRAM-SHA-512",
		"KAFKA_SASL_USERNAME": user, "KAFKA_SASL_PASSWORD_FILE": file, "LOG_LEVEL": "debug",
	}))
	c.held("SASL_AUTHENTICATION_FAILED", "KAFKA_SASL_")
	_, seen := c.get(t.Context(), "/status")
	password(right)
	c.state("streaming")
	r.insert(1, 50, "a")
	r.settle()

	g.cut()
	r.insert(51, 60, "a")
	c.held("SASL_AUTHENTICATION_FAILED", "KAFKA_SASL_")
	_, more := c.get(t.Context(), "/status")
	g.shut.Store(false)
	r.settle()
	if n := r.stored(topic); n != 60 {
		t.Errorf("%d records, want 60: none was stored twice here", n)
	}
	c.stop()
	noCanary(t, seen+more+c.log.String()+c.out.String(), "SASL_AUTHENTICATION_FAILED")
}

// TestTokenEndpointRefuses: the answer of a token endpoint may repeat what it was
// sent; we do not.
func TestTokenEndpointRefuses(t *testing.T) {
	t.Parallel()
	g := newGate(t, "u", "p")
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, secret, _ := r.BasicAuth()
		http.Error(w, `{"error": "invalid_client", "error_description": "`+secret+`"}`, http.StatusUnauthorized)
	}))
	t.Cleanup(endpoint.Close)
	g.ControlKey(int16(kmsg.SASLHandshake), func(r kmsg.Request) (kmsg.Response, error, bool) {
		g.KeepControl()
		return r.ResponseKind(), nil, true
	})
	r := newRig(t, nil, 1)
	c := start(t, r.settings.with(settings{
		"KAFKA_BROKERS": g.ListenAddrs()[0], "KAFKA_SECURITY_PROTOCOL": "SASL_PLAINTEXT", "KAFKA_SASL_MECHANISM": "OAUTHBEARER",
		"KAFKA_OAUTH_TOKEN_URL": endpoint.URL, "KAFKA_OAUTH_CLIENT_ID": "c", "KAFKA_OAUTH_CLIENT_SECRET": "secret-canary", "LOG_LEVEL": "debug",
	}))
	c.held("it answered 401 Unauthorized", "KAFKA_OAUTH_CLIENT_SECRET")
	_, seen := c.get(t.Context(), "/status")
	c.stop()
	noCanary(t, seen+c.log.String()+c.out.String(), "401 Unauthorized")
}

// noCanary wants no secret in a text that does have something.
func noCanary(t *testing.T, text, something string) {
	t.Helper()
	if at := strings.Index(text, "canary"); at >= 0 {
		t.Errorf("a secret shows in: ...%s...", text[max(0, at-300):min(len(text), at+100)])
	}
	if !strings.Contains(text, something) {
		t.Error("this looked at nothing")
	}
}
