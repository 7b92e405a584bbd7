package kafka

import (
	"crypto/x509"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/outbox-cdc/outbox-cdc/internal/kafkatest"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// TestRealLogins: Apache Kafka's own answers to each way to connect and to log
// in, right and wrong. kfake answers less, and otherwise.
func TestRealLogins(t *testing.T) {
	b := brokers.Broker(t)
	topic := fmt.Sprintf("logins-%d", time.Now().UnixNano())
	b.CreateTopic(t, topic, 1, nil)
	for _, who := range []string{kafkatest.User, kafkatest.ClientName, "service"} {
		b.Grant(t, "User:"+who, topic, kadm.OpWrite, kadm.OpDescribe)
	}
	files := b.TLS()
	trusting := &TLS{CAFile: files.CA}
	strange, strangeKey := newAuthority(t).issue(t, &x509.Certificate{})
	login := func(mechanism, password string) *SASL {
		return &SASL{Mechanism: mechanism, Username: kafkatest.User, Password: func() (string, error) { return password, nil }}
	}
	token := func(until time.Time) *SASL {
		text, err := b.Token("service", until)
		if err != nil {
			t.Fatal(err)
		}
		e := newEndpoint(t, false)
		e.body = fmt.Sprintf(`{"access_token": %q, "expires_in": 60}`, text)
		return &SASL{Mechanism: "OAUTHBEARER", OAuth: OAuth{TokenURL: e.URL, ClientID: "c", ClientSecret: func() (string, error) { return "secret", nil }}}
	}
	away := token(time.Now())
	away.OAuth.TokenURL = "http://127.0.0.1:1/token"
	const tls, open, tlsLogin, openLogin = kafkatest.SSL, kafkatest.Plaintext, kafkatest.SASLSSL, kafkatest.SASLPlaintext
	const retriable = "retriable"
	for _, tt := range []struct {
		name     string
		listener kafkatest.Listener
		tls      *TLS
		sasl     *SASL
		reason   string // "" is no error, retriable is unavailable, else config
		part     string
	}{
		{"plain text", open, nil, nil, "", ""},
		{"TLS", tls, trusting, nil, "", ""},
		{"certificate", tls, &TLS{CAFile: files.CA, CertFile: files.Cert, KeyFile: files.Key}, nil, "", ""},
		{"PLAIN", openLogin, nil, login("PLAIN", kafkatest.Password), "", ""},
		{"SCRAM-SHA-256", openLogin, nil, login("SCRAM-SHA-256", kafkatest.Password), "", ""},
		{"SCRAM-SHA-512 in TLS", tlsLogin, trusting, login("SCRAM-SHA-512", kafkatest.Password), "", ""},
		{"token", tlsLogin, trusting, token(time.Now().Add(time.Hour)), "", ""},

		{"stranger's certificate", tls, &TLS{CAFile: files.CA, CertFile: strange, KeyFile: strangeKey}, nil, reasonCertificate, "KAFKA_TLS_CERT_FILE"},
		{"other CA", tls, &TLS{}, nil, reasonCertificate, "KAFKA_TLS_CA_FILE"},
		{"other name", tls, &TLS{CAFile: files.CA, ServerName: "kafka"}, nil, reasonCertificate, "KAFKA_TLS_SERVER_NAME"},
		{"wrong PLAIN", openLogin, nil, login("PLAIN", "wrong"), reasonNotAuthorized, "KAFKA_SASL_"},
		{"wrong SCRAM-SHA-256", openLogin, nil, login("SCRAM-SHA-256", "wrong"), reasonNotAuthorized, "KAFKA_SASL_"},
		{"wrong SCRAM-SHA-512", tlsLogin, trusting, login("SCRAM-SHA-512", "wrong"), reasonNotAuthorized, "KAFKA_SASL_"},
		{"expired token", openLogin, nil, token(time.Now().Add(-time.Minute)), reasonNotAuthorized, "KAFKA_OAUTH_"},
		{"unknown mechanism", openLogin, nil, login("PLAIN", ""), reasonNotAuthorized, "must be non-empty"},
		{"no token endpoint", openLogin, nil, away, retriable, "127.0.0.1:1"},
		{"plain text to TLS", tls, nil, nil, retriable, "speaking to a tls endpoint"},
		{"TLS to plain text", open, trusting, nil, retriable, "is TLS misconfigured"},
		{"no login", openLogin, nil, nil, retriable, "is SASL missing?"},
		{"a login too many", open, nil, login("PLAIN", kafkatest.Password), reasonNotAuthorized, "KAFKA_SECURITY_PROTOCOL"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := newOutcomes()
			s, err := New(Config{Brokers: []string{b.Addr(tt.listener)}, TLS: tt.tls, SASL: tt.sasl, RequestTimeout: 2 * time.Second}, got.add)
			if err != nil {
				t.Fatal(err)
			}
			defer closeNow(t, s)
			err = s.Check(t.Context(), []string{topic})[0]
			switch tt.reason {
			case retriable:
				if sink.KindOf(err) != sink.Retriable {
					t.Errorf("%v, want retriable", err)
				}
				if !strings.Contains(err.Error(), tt.part) {
					t.Errorf("%v lacks %q", err, tt.part)
				}
			case "":
				if err != nil {
					t.Fatal(err)
				}
				sendAll(t, s, topic, 3)
				for _, o := range got.wait(t, 3) {
					if o.err != nil {
						t.Error(o.err)
					}
				}
			default:
				configError(t, err, tt.reason, tt.part)
			}
		})
	}
}
