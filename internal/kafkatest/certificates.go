package kafkatest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"slices"
	"time"
)

const (
	caFile         = "ca.pem"
	serverFile     = "server.pem"
	clientFile     = "client.pem"
	clientKeyFile  = "client-key.pem"
	certificateAge = 24 * time.Hour
)

// TLS are files of the broker's certificates, all PEM.
type TLS struct {
	CA string // the authority that signed the broker's certificate
	// Cert and Key are a client's, signed by the same authority.
	Cert, Key string
}

// TLS returns the files for a client of the listeners SSL and SASLSSL.
func (b *Broker) TLS() TLS {
	return TLS{CA: b.file(caFile), Cert: b.file(clientFile), Key: b.file(clientKeyFile)}
}

// writeCertificates makes an authority, the broker's certificate for 127.0.0.1
// and localhost, and a client's.
func (b *Broker) writeCertificates() error {
	authority := template("test authority")
	authority.IsCA, authority.BasicConstraintsValid, authority.KeyUsage = true, true, x509.KeyUsageCertSign
	ca, _, signer, err := issue(authority, authority, nil)
	if err != nil {
		return err
	}
	server := template("localhost")
	server.DNSNames, server.IPAddresses = []string{"localhost"}, []net.IP{net.IPv4(127, 0, 0, 1)}
	serverCert, serverKey, _, err := issue(server, authority, signer)
	if err != nil {
		return err
	}
	clientCert, clientKey, _, err := issue(template("client"), authority, signer)
	if err != nil {
		return err
	}
	return b.writeFiles(map[string][]byte{
		caFile: ca, serverFile: slices.Concat(serverKey, serverCert), clientFile: clientCert, clientKeyFile: clientKey,
	})
}

func template(name string) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateAge),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
}

// issue makes a key and a certificate for it; without a signer the key signs
// for itself. Java reads private keys only as PKCS #8.
func issue(wanted, authority *x509.Certificate, signer crypto.Signer) (cert, key []byte, own crypto.Signer, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("make a key: %w", err)
	}
	if signer == nil {
		signer = private
	}
	der, err := x509.CreateCertificate(rand.Reader, wanted, authority, private.Public(), signer)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("make a certificate: %w", err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("encode a key: %w", err)
	}
	cert = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	key = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
	return cert, key, private, nil
}

func (b *Broker) writeFiles(files map[string][]byte) error {
	for name, content := range files {
		if err := os.WriteFile(b.file(name), content, 0o600); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}
