package kafkatest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"os"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

func tlsConfig(t *testing.T, b *Broker, withCert bool) *tls.Config {
	t.Helper()
	files := b.TLS()
	ca, err := os.ReadFile(files.CA)
	if err != nil {
		t.Fatal(err)
	}
	config := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	config.RootCAs.AppendCertsFromPEM(ca)
	if withCert {
		cert, err := tls.LoadX509KeyPair(files.Cert, files.Key)
		if err != nil {
			t.Fatal(err)
		}
		config.Certificates = []tls.Certificate{cert}
	}
	return config
}

func bearer(t *testing.T, b *Broker, subject string, expires time.Time) sasl.Mechanism {
	t.Helper()
	token, err := b.Token(subject, expires)
	if err != nil {
		t.Fatal(err)
	}
	return oauth.Auth{Token: token}.AsMechanism()
}

// TestLogins: by every way that a client can log in, it is who it says, with
// the rights that were given to it and no others.
func TestLogins(t *testing.T) {
	t.Parallel()
	b := pool.Broker(t)
	soon := time.Now().Add(time.Hour)
	alice := scram.Auth{User: User, Pass: Password}
	for _, test := range []struct {
		name      string
		listener  Listener
		opts      []kgo.Opt
		principal string // "": the superuser
	}{
		{"plaintext", Plaintext, nil, ""},
		{"tls", SSL, []kgo.Opt{kgo.DialTLSConfig(tlsConfig(t, b, false))}, ""},
		{"certificate", SSL, []kgo.Opt{kgo.DialTLSConfig(tlsConfig(t, b, true))}, "User:" + ClientName},
		{"plain", SASLPlaintext, []kgo.Opt{kgo.SASL(plain.Auth{User: User, Pass: Password}.AsMechanism())}, "User:" + User},
		{"scram256", SASLPlaintext, []kgo.Opt{kgo.SASL(alice.AsSha256Mechanism())}, "User:" + User},
		{"scram512", SASLSSL, []kgo.Opt{kgo.SASL(alice.AsSha512Mechanism()), kgo.DialTLSConfig(tlsConfig(t, b, false))}, "User:" + User},
		{"token", SASLSSL, []kgo.Opt{kgo.SASL(bearer(t, b, "bob", soon)), kgo.DialTLSConfig(tlsConfig(t, b, false))}, "User:bob"},
		{"token-plaintext", SASLPlaintext, []kgo.Opt{kgo.SASL(bearer(t, b, "bob", soon))}, "User:bob"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			topic := "logins-" + test.name
			b.CreateTopic(t, topic, 1, nil)
			c := client(t, b, test.listener, test.opts...)
			if test.principal != "" {
				if err := store(t, c, topic); err == nil {
					t.Fatal("stored without a right")
				}
				b.Grant(t, test.principal, topic, kadm.OpWrite, kadm.OpDescribe)
			}
			if err := store(t, c, topic); err != nil {
				t.Fatal(err)
			}
			if test.principal == "" {
				return
			}
			b.Revoke(t, test.principal, topic, kadm.OpWrite)
			if err := store(t, c, topic); err == nil {
				t.Error("stored without a right")
			}
		})
	}
}

// TestRefusedLogins: a wrong password, a token that has expired or is another
// broker's, and a client that does not trust the broker get nowhere.
func TestRefusedLogins(t *testing.T) {
	t.Parallel()
	b := pool.Broker(t)
	stranger := &Broker{home: t.TempDir()}
	if err := stranger.writeKeys(); err != nil {
		t.Fatal(err)
	}
	soon := time.Now().Add(time.Hour)
	wrong := scram.Auth{User: User, Pass: "wrong"}
	for name, mechanism := range map[string]sasl.Mechanism{
		"plain":    plain.Auth{User: User, Pass: "wrong"}.AsMechanism(),
		"scram256": wrong.AsSha256Mechanism(),
		"scram512": wrong.AsSha512Mechanism(),
		"expired":  bearer(t, b, "bob", time.Now().Add(-time.Minute)),
		"forged":   bearer(t, stranger, "bob", soon),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ping(t, client(t, b, SASLPlaintext, kgo.SASL(mechanism)))
		})
	}
	ping(t, client(t, b, SSL, kgo.DialTLSConfig(&tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12})))
}

// ping demands that a client is refused.
func ping(t *testing.T, c *kgo.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := c.Ping(ctx); err == nil || ctx.Err() != nil {
		t.Errorf("got %v, want a refusal", err)
	}
}
