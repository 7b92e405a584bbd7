package pgrepl

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	crand "crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// certificate is a new self-made one for 127.0.0.1, as PEM.
func certificate(tb testing.TB) (cert, key []byte) {
	tb.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), crand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(crand.Reader, template, template, private.Public(), private)
	if err != nil {
		tb.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		tb.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})
}

// loopback is a TCP connection to ourselves.
func loopback(tb testing.TB) (client, server net.Conn) {
	tb.Helper()
	listener, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	client, err = (&net.Dialer{}).DialContext(tb.Context(), "tcp", listener.Addr().String())
	if err != nil {
		tb.Fatal(err)
	}
	if server, err = listener.Accept(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = client.Close()
		_ = server.Close()
	})
	return client, server
}

// overTLS puts TLS on both ends.
func overTLS(tb testing.TB, client, server net.Conn) (tlsClient, tlsServer *tls.Conn) {
	tb.Helper()
	certPEM, keyPEM := certificate(tb)
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		tb.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(certPEM)
	tlsServer = tls.Server(server, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
	tlsClient = tls.Client(client, &tls.Config{RootCAs: roots, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12})
	shaken := make(chan error, 1)
	go func() { shaken <- tlsServer.HandshakeContext(tb.Context()) }()
	if err := errors.Join(tlsClient.HandshakeContext(tb.Context()), <-shaken); err != nil {
		tb.Fatal(err)
	}
	return tlsClient, tlsServer
}

// connections are the kinds that a stream may run over.
func connections() map[string]func(testing.TB) (client, server net.Conn) {
	return map[string]func(testing.TB) (net.Conn, net.Conn){
		"pipe": func(testing.TB) (net.Conn, net.Conn) { return net.Pipe() },
		"tcp":  loopback,
		"tls": func(tb testing.TB) (net.Conn, net.Conn) {
			tb.Helper()
			client, server := loopback(tb)
			return overTLS(tb, client, server)
		},
	}
}

// TestInterruptLosesNothing interrupts at random moments while frames arrive in
// random pieces; none may be lost, doubled or torn.
func TestInterruptLosesNothing(t *testing.T) {
	const frames = 3000
	for name, open := range connections() {
		t.Run(name, func(t *testing.T) {
			client, server := open(t)
			s := newStream(client, client, testMax)
			// A reader that paused would be interrupted before each read.
			s.pause = func(time.Duration) {}
			var writer, interrupter sync.WaitGroup
			writer.Go(func() {
				var wire []byte
				for i := range frames {
					wire = append(wire, data(decoder.LSN(i), strings.Repeat("x", 1+i%700))...)
				}
				for len(wire) > 0 {
					n, err := server.Write(wire[:min(1+rand.IntN(3000), len(wire))])
					if err != nil {
						t.Error(err)
						return
					}
					wire = wire[n:]
				}
			})
			var done atomic.Bool
			interrupter.Go(func() {
				for !done.Load() {
					s.Interrupt()
					for range rand.IntN(50) {
						runtime.Gosched()
					}
				}
			})
			for i := range frames {
				f := next(t, s)
				if f.Kind != FrameData || f.WALEnd != decoder.LSN(i) || len(f.Data) != 1+i%700 {
					t.Errorf("frame %d is %v at %v with %d bytes", i, f.Kind, f.WALEnd, len(f.Data))
					break
				}
			}
			done.Store(true)
			interrupter.Wait()
			s.Close()
			writer.Wait()
			_ = server.Close()
		})
	}
}

// TestInterruptAlwaysWakes: whenever it comes, before or while Next waits, Next
// returns long before its deadline.
func TestInterruptAlwaysWakes(t *testing.T) {
	for name, open := range connections() {
		t.Run(name, func(t *testing.T) {
			client, server := open(t)
			defer func() { _ = server.Close() }()
			s := newStream(client, client, testMax)
			defer s.Close()
			deadline := time.Now().Add(time.Minute)
			for round := range 2000 {
				interrupted := make(chan struct{})
				spin := rand.IntN(40)
				go func() {
					defer close(interrupted)
					for range spin {
						runtime.Gosched()
					}
					s.Interrupt()
				}()
				// Most rounds keep the deadline, so that it is not set again.
				f, err := s.Next(deadline.Add(time.Duration(round / 10)))
				if err != nil || f.Kind != FrameNone {
					t.Fatalf("round %d: %+v, %v", round, f, err)
				}
				<-interrupted
				if !time.Now().Before(deadline) {
					t.Fatalf("round %d: only the deadline ended it", round)
				}
			}
		})
	}
}

// TestInterruptThatComesTwice: the flag was seen and Next has returned; then the
// deadline of the same Interrupt arrives. It ends one more read, and no other.
func TestInterruptThatComesTwice(t *testing.T) {
	client, server := loopback(t)
	s := newStream(client, client, testMax)
	deadline := soon()
	s.wake.Store(true)
	if f, err := s.Next(deadline); err != nil || f.Kind != FrameNone {
		t.Fatalf("the flag: %+v, %v", f, err)
	}
	if _, err := server.Write(data(1, "between")); err != nil {
		t.Fatal(err)
	}
	if f, err := s.Next(deadline); err != nil || f.Kind != FrameData {
		t.Fatalf("between: %+v, %v", f, err)
	}
	if err := client.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if f, err := s.Next(deadline); err != nil || f.Kind != FrameNone {
		t.Fatalf("the deadline: %+v, %v", f, err)
	}
	if _, err := server.Write(data(2, "after")); err != nil {
		t.Fatal(err)
	}
	if f, err := s.Next(deadline); err != nil || f.Kind != FrameData || f.WALEnd != 2 {
		t.Errorf("after: %+v, %v", f, err)
	}
}

// choppy is a connection whose reads are short and time out every other time.
type choppy struct {
	net.Conn

	on    atomic.Bool
	reads int
}

func (c *choppy) Read(p []byte) (int, error) {
	if !c.on.Load() {
		return c.Conn.Read(p)
	}
	if c.reads++; c.reads%2 == 0 {
		return 0, os.ErrDeadlineExceeded
	}
	return c.Conn.Read(p[:min(len(p), 1+c.reads%97)])
}

// TestTimeoutWithinATLSRecord: TLS keeps the part of a record that has come.
func TestTimeoutWithinATLSRecord(t *testing.T) {
	raw, server := loopback(t)
	cut := &choppy{Conn: raw}
	client, tlsServer := overTLS(t, cut, server)
	cut.on.Store(true)
	s := newStream(client, client, testMax)
	s.pause = func(time.Duration) {}
	defer s.Close()
	var writer sync.WaitGroup
	defer writer.Wait()
	writer.Go(func() {
		for i := 1; i < 50; i++ {
			if _, err := tlsServer.Write(data(decoder.LSN(i), strings.Repeat("y", i*400))); err != nil {
				t.Error(err)
			}
		}
	})
	none := 0
	for i := 1; i < 50; i++ {
		f, err := s.Next(soon())
		for ; err == nil && f.Kind == FrameNone; f, err = s.Next(soon()) {
			none++
		}
		if err != nil || f.WALEnd != decoder.LSN(i) || string(f.Data) != strings.Repeat("y", i*400) {
			t.Fatalf("frame %d at %v with %d bytes, %v", i, f.WALEnd, len(f.Data), err)
		}
	}
	if none < 1000 {
		t.Errorf("only %d reads timed out", none)
	}
}

// TestServersReasonOverTLS: the server's last words and its TLS good-bye come
// in one read.
func TestServersReasonOverTLS(t *testing.T) {
	client, server := loopback(t)
	tlsClient, tlsServer := overTLS(t, client, server)
	fatal, err := (&pgproto3.ErrorResponse{Severity: "FATAL", Code: "57P01", Message: "terminating"}).Encode(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tlsServer.Write(append(data(1, "last"), fatal...)); err != nil {
		t.Fatal(err)
	}
	if err := tlsServer.Close(); err != nil {
		t.Fatal(err)
	}
	s := newStream(tlsClient, tlsClient, testMax)
	frames, err := all(s)
	var pgErr *pgconn.PgError
	if len(frames) != 1 || !errors.As(err, &pgErr) || errors.Is(err, io.EOF) {
		t.Errorf("%d frames, %v; want the server's reason", len(frames), err)
	}
}
