package kafka

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// TLS says how connections are secured. Its files are PEM and are read at each
// connect, so that certificates rotate without a restart; one that can't be used
// fails the connect, it is never done without. Certificates of brokers are always
// verified; TLS is 1.2 or later.
type TLS struct {
	// CAFile holds the certificates to trust; "" is the system's roots.
	CAFile string
	// CertFile and KeyFile are the client's certificate; both or neither.
	CertFile, KeyFile string
	// ServerName is the name to expect in certificates; "" is the host that
	// was dialed.
	ServerName string
}

// Validate reads the files as a connect would, and tells what is wrong with them.
func (t *TLS) Validate() error {
	_, err := t.config("")
	return err
}

func (t *TLS) config(host string) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host}
	if t.ServerName != "" {
		c.ServerName = t.ServerName
	}
	if t.CAFile != "" {
		c.RootCAs = x509.NewCertPool()
		if err := addCAs(c.RootCAs, t.CAFile); err != nil {
			return nil, err
		}
	}
	if t.CertFile != "" || t.KeyFile != "" {
		pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("client certificate %q with key %q: %w", t.CertFile, t.KeyFile, err)
		}
		// Not Certificates: of those crypto/tls sends none at all when the
		// broker's list of authorities lacks ours, and a broker that does not
		// insist would take us for somebody else.
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
	}
	return c, nil
}

var errNoCertificate = errors.New("no certificate in it")

func addCAs(pool *x509.CertPool, file string) error {
	pem, err := os.ReadFile(file) //nolint:gosec // the operator names the file
	if err != nil {
		return fmt.Errorf("CA file: %w", err)
	}
	if !pool.AppendCertsFromPEM(pem) {
		return fmt.Errorf("CA file %q: %w", file, errNoCertificate)
	}
	return nil
}

// secured lays TLS over what dial opens. The files are read first: without them
// nothing is dialed.
func (t *TLS) secured(dial dialFunc, limit time.Duration) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		config, err := t.config(host)
		if err != nil {
			return nil, connectFailed("files", verdict{sink.Config, reasonCertificate, "mend the files of KAFKA_TLS_CA_FILE, KAFKA_TLS_CERT_FILE and KAFKA_TLS_KEY_FILE"}, err)
		}
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		over := tls.Client(conn, config)
		if err := over.HandshakeContext(ctx); err != nil {
			_ = conn.Close() // the handshake's error is the one that counts
			return nil, handshakeFailed(err)
		}
		return over, nil
	}
}

// handshakeFailed sorts the end of a handshake. What looks like a broker that
// went away stays as it is.
func handshakeFailed(err error) error {
	var (
		unverified *tls.CertificateVerificationError
		noTLS      tls.RecordHeaderError
		network    net.Error
	)
	v := verdict{sink.Config, reasonCertificate, "check the TLS settings of the brokers' listener against KAFKA_TLS_*"}
	switch {
	case errors.As(err, &unverified):
		v.remedy = remedyUnverified(err)
	case errors.As(err, &noTLS):
		v.remedy = "check the port: this listener has no TLS; else set KAFKA_SECURITY_PROTOCOL to PLAINTEXT or SASL_PLAINTEXT"
	case isAlert(err):
		v.remedy = remedyAlert
	case errors.As(err, &network), isGone(err):
		return fmt.Errorf("TLS handshake: %w", err)
	}
	return connectFailed("handshake", v, err)
}

func remedyUnverified(err error) string {
	var (
		name    x509.HostnameError
		invalid x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &name):
		return "address the brokers (also in advertised.listeners) by a name in their certificates, or set KAFKA_TLS_SERVER_NAME to one"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "renew the broker's certificate, or set this machine's clock right"
	}
	return "name the CA of the brokers' certificates in KAFKA_TLS_CA_FILE"
}

const remedyAlert = "the broker ended TLS: check that it trusts the certificate of KAFKA_TLS_CERT_FILE (or asks for none), and that it speaks TLS 1.2 or later"

// isAlert tells whether the other side said what it dislikes. With TLS 1.3 a
// refused client certificate shows only when we read.
func isAlert(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}
