package e2e

import (
	"io"
	"net"
	"net/url"
	"strconv"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// proxy stands between the connector and the server: it passes ordinary
// connections on, and does something else with those for replication.
type proxy struct {
	listener net.Listener
	server   string // address
	running  sync.WaitGroup

	mu    sync.Mutex // guards what follows
	conns []net.Conn
	// replication is the address for replication connections; "" refuses them
	// as a pooler does.
	replication string
	// alter changes what the server says on ordinary connections.
	alter func([]byte) []byte
	// spy sees what the server says on replication connections.
	spy func([]byte) []byte
}

// newProxy starts a proxy before the rig's server, and has the connector use it.
func (r *rig) newProxy(t *testing.T) *proxy {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: listener, server: net.JoinHostPort("127.0.0.1", strconv.Itoa(r.db.Server.Port()))}
	u, err := url.Parse(r.settings["DATABASE_URL"])
	if err != nil {
		t.Fatal(err)
	}
	u.Host = listener.Addr().String()
	r.settings["DATABASE_URL"] = u.String()
	p.running.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

// set changes what the proxy does with connections that come from now on.
func (p *proxy) set(replication string, alter func([]byte) []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.replication, p.alter = replication, alter
}

// spyOn has somebody see what the server says on replication connections that
// come from now on, before the connector does.
func (p *proxy) spyOn(spy func(said []byte)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.replication = p.server
	p.spy = func(said []byte) []byte { spy(said); return said }
}

func (p *proxy) close() {
	_ = p.listener.Close()
	p.mu.Lock()
	for _, conn := range p.conns {
		_ = conn.Close()
	}
	p.mu.Unlock()
	p.running.Wait()
}

func (p *proxy) accept() {
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.keep(conn)
		p.running.Go(func() { p.serve(conn) })
	}
}

func (p *proxy) keep(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns = append(p.conns, conn)
}

// serve looks at the startup message, and passes everything on.
func (p *proxy) serve(client net.Conn) {
	defer func() { _ = client.Close() }()
	b := pgproto3.NewBackend(client, client)
	msg, err := b.ReceiveStartupMessage()
	startup, ok := msg.(*pgproto3.StartupMessage)
	if err != nil || !ok {
		return
	}
	p.mu.Lock()
	address, alter := p.server, p.alter
	if startup.Parameters["replication"] != "" {
		address, alter = p.replication, p.spy
	}
	p.mu.Unlock()
	if address == "" {
		b.Send(&pgproto3.ErrorResponse{
			Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: "08P01", Message: "unsupported startup parameter: replication",
		})
		_ = b.Flush()
		return
	}
	server, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	p.keep(server)
	defer func() { _ = server.Close() }()
	first, err := startup.Encode(nil)
	if err != nil {
		return
	}
	if _, err := server.Write(first); err != nil {
		return
	}
	p.running.Go(func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	})
	pass(client, server, alter)
}

// pass copies what the server says.
func pass(client io.Writer, server io.Reader, alter func([]byte) []byte) {
	buf := make([]byte, 64<<10)
	for {
		n, err := server.Read(buf)
		said := buf[:n]
		if alter != nil {
			said = alter(said)
		}
		if _, failed := client.Write(said); err != nil || failed != nil {
			return
		}
	}
}
