package kafka

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// authority issues certificates for tests.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string // its own certificate
}

func newAuthority(tb testing.TB) *authority {
	tb.Helper()
	a := &authority{}
	a.file, _ = a.issue(tb, &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

// issue signs a template, with the authority itself for the first.
func (a *authority) issue(tb testing.TB, template *x509.Certificate) (certFile, keyFile string) {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.Subject = pkix.Name{CommonName: "test"}
	template.NotBefore = time.Now().Add(-2 * time.Hour)
	if template.NotAfter.IsZero() {
		template.NotAfter = time.Now().Add(time.Hour)
	}
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		tb.Fatal(err)
	}
	if a.cert == nil {
		if a.cert, err = x509.ParseCertificate(der); err != nil {
			tb.Fatal(err)
		}
		a.key = key
	}
	bytes, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		tb.Fatal(err)
	}
	return writePEM(tb, "CERTIFICATE", der), writePEM(tb, "PRIVATE KEY", bytes)
}

func writePEM(tb testing.TB, kind string, der []byte) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "file.pem")
	write(tb, path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	return path
}

func write(tb testing.TB, path string, content []byte) {
	tb.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		tb.Fatal(err)
	}
}

func move(tb testing.TB, from, to string) {
	tb.Helper()
	if err := os.Rename(from, to); err != nil {
		tb.Fatal(err)
	}
}

// server is a broker's TLS; clients, if set, must have a certificate of it.
func (a *authority) server(tb testing.TB, template *x509.Certificate, clients *authority) *tls.Config {
	tb.Helper()
	pair, err := tls.LoadX509KeyPair(a.issue(tb, template))
	if err != nil {
		tb.Fatal(err)
	}
	c := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if clients != nil {
		c.ClientCAs, c.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
		c.ClientCAs.AddCert(clients.cert)
	}
	return c
}

func localhost() *x509.Certificate {
	return &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
}

// configError wants an error for the operator with this reason and remedy.
func configError(tb testing.TB, err error, reason, remedy string) {
	tb.Helper()
	var e *sink.Error
	if !errors.As(err, &e) || e.Kind != sink.Config || e.Reason != reason || !strings.Contains(e.Error(), remedy) {
		tb.Errorf("got %v, want config %q with %q", err, reason, remedy)
	}
}

// TestTLS: what is wrong with a certificate is held, with what mends it.
func TestTLS(t *testing.T) {
	ours, other := newAuthority(t), newAuthority(t)
	cert, key := ours.issue(t, &x509.Certificate{})
	strange, strangeKey := other.issue(t, &x509.Certificate{})
	expired := localhost()
	expired.NotAfter = time.Now().Add(-time.Hour)
	old := ours.server(t, localhost(), nil)
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	trusting := TLS{CAFile: ours.file}
	named := func(name string) *x509.Certificate { return &x509.Certificate{DNSNames: []string{name}} }
	for _, tt := range []struct {
		name   string
		server *tls.Config
		client TLS
		remedy string // "" is no error
	}{
		{"verified", ours.server(t, localhost(), nil), trusting, ""},
		{"verified by another name", ours.server(t, named("kafka.internal"), nil), TLS{CAFile: ours.file, ServerName: "kafka.internal"}, ""},
		{"both sides", ours.server(t, localhost(), ours), TLS{CAFile: ours.file, CertFile: cert, KeyFile: key}, ""},
		{"a CA that we don't know", other.server(t, localhost(), nil), trusting, "name the CA of the brokers' certificates in KAFKA_TLS_CA_FILE"},
		{"not the system's", ours.server(t, localhost(), nil), TLS{}, "KAFKA_TLS_CA_FILE"},
		{"wrong name", ours.server(t, named("kafka.internal"), nil), trusting, "set KAFKA_TLS_SERVER_NAME"},
		{"expired", ours.server(t, expired, nil), trusting, "renew the broker's certificate"},
		{"no client certificate", ours.server(t, localhost(), ours), trusting, "KAFKA_TLS_CERT_FILE"},
		{"a client certificate of a stranger", ours.server(t, localhost(), ours), TLS{CAFile: ours.file, CertFile: strange, KeyFile: strangeKey}, "KAFKA_TLS_CERT_FILE"},
		{"too old", old, trusting, "speaks TLS 1.2 or later"},
		{"no CA in the file", ours.server(t, localhost(), nil), TLS{CAFile: key}, "no certificate in it"},
		{"no such file", ours.server(t, localhost(), nil), TLS{CAFile: ours.file, CertFile: "/nonexistent", KeyFile: key}, "/nonexistent"},
		{"key of another certificate", ours.server(t, localhost(), nil), TLS{CAFile: ours.file, CertFile: cert, KeyFile: strangeKey}, "does not match"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, kfake.SeedTopics(1, "orders"), kfake.TLS(tt.server))
			s, got := newSink(t, c, func(cfg *Config) { cfg.TLS = &tt.client })
			err := s.Check(t.Context(), []string{"orders"})[0]
			if tt.remedy != "" {
				configError(t, err, reasonCertificate, tt.remedy)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			sendAll(t, s, "orders", 3)
			for _, o := range got.wait(t, 3) {
				if o.err != nil {
					t.Fatal(o.err)
				}
			}
		})
	}
}

// TestTLSOnOneSide: a listener of the other kind is told from a broker that is
// away as far as it shows.
func TestTLSOnOneSide(t *testing.T) {
	ours := newAuthority(t)
	secured := newCluster(t, kfake.TLS(ours.server(t, localhost(), nil)))
	s, _ := newSink(t, secured, nil)
	err := s.Check(t.Context(), []string{"orders"})[0]
	if sink.KindOf(err) != sink.Retriable || !strings.Contains(err.Error(), "is TLS missing?") {
		t.Errorf("plain text to TLS: %v", err)
	}
	conn := handshakeFailed(tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"})
	configError(t, unanswered("orders", conn), reasonCertificate, "this listener has no TLS")
}

// TestCertificatesRotate: new files count from the next connect on; broken ones
// are not done without, and records wait.
func TestCertificatesRotate(t *testing.T) {
	ours, next := newAuthority(t), newAuthority(t)
	cert, key := ours.issue(t, &x509.Certificate{})
	var now atomic.Pointer[tls.Config]
	now.Store(ours.server(t, localhost(), ours))
	c := newCluster(t, kfake.SeedTopics(1, "orders"), kfake.TLS(&tls.Config{
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return now.Load(), nil },
	}))
	files := &TLS{CAFile: ours.file, CertFile: cert, KeyFile: key}
	s, got := newSink(t, c, func(cfg *Config) { cfg.TLS = files })
	sendAll(t, s, "orders", 2)
	got.wait(t, 2)

	// The clients' certificates have to come from another authority now.
	now.Store(ours.server(t, localhost(), next))
	newCert, newKey := next.issue(t, &x509.Certificate{})
	move(t, newCert, cert)
	move(t, newKey, key)
	cut(c)
	sendAll(t, s, "orders", 2)
	for _, o := range got.wait(t, 4) {
		if o.err != nil {
			t.Fatal(o.err)
		}
	}

	good, err := os.ReadFile(cert)
	if err != nil {
		t.Fatal(err)
	}
	write(t, cert, []byte("broken"))
	cut(c)
	sendAll(t, s, "orders", 1)
	configError(t, got.wait(t, 5)[4].err, reasonCertificate, cert)
	again, after := newSink(t, c, func(cfg *Config) { cfg.TLS = files })
	configError(t, again.Send(t.Context(), record("orders", "k", "v")), reasonCertificate, cert)
	write(t, cert, good)
	sendAll(t, again, "orders", 1)
	if o := after.wait(t, 1)[0]; o.err != nil {
		t.Error(o.err)
	}
}

// cut ends every connection at its next request.
func cut(c *kfake.Cluster) {
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.DropControl()
		return nil, errors.New("cut"), true
	})
}
