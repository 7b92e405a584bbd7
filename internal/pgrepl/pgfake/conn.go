package pgfake

import (
	"encoding/binary"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// Conn is a connection that streams. Its methods may be called from any
// goroutine; once the client has gone they do nothing.
type Conn struct {
	nc     net.Conn
	gone   chan struct{} // closed when nothing is read from the client any more
	frozen atomic.Bool
	mu     sync.Mutex // one message after the other
	walEnd atomic.Uint64
}

// Gone is closed when the client has left. A frozen server doesn't notice.
func (c *Conn) Gone() <-chan struct{} { return c.gone }

// Raw sends bytes as they are.
func (c *Conn) Raw(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.nc.Write(b); err != nil {
		_ = c.nc.Close()
	}
}

// Data sends a pgoutput message.
func (c *Conn) Data(walEnd decoder.LSN, msg []byte) { c.Raw(AppendData(nil, walEnd, msg)) }

// Keepalive sends a primary keepalive message, and answers later requests for
// one with the same position.
func (c *Conn) Keepalive(walEnd decoder.LSN, reply bool) {
	c.walEnd.Store(uint64(walEnd))
	c.Raw(AppendKeepalive(nil, walEnd, reply))
}

// Error sends a fatal error, as the server does before it hangs up.
func (c *Conn) Error(code, message string) {
	c.send(&pgproto3.ErrorResponse{Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: code, Message: message})
}

// Notice sends a notice with a translated severity beside the given one.
func (c *Conn) Notice(severity, code, message string) {
	c.send(&pgproto3.NoticeResponse{Severity: "xx " + severity, SeverityUnlocalized: severity, Code: code, Message: message})
}

func (c *Conn) send(msg pgproto3.BackendMessage) {
	b, err := msg.Encode(nil)
	if err != nil {
		panic(err) // only a message above 1 GiB
	}
	c.Raw(b)
}

// Freeze makes the server deaf: it reads nothing any more, answers nothing, and
// keeps the connection.
func (c *Conn) Freeze() {
	c.frozen.Store(true)
	_ = c.nc.SetReadDeadline(time.Unix(1, 0))
}

// Close drops the connection.
func (c *Conn) Close() { _ = c.nc.Close() }

// stream answers START_REPLICATION and plays.
func (s *Server) stream(b *pgproto3.Backend, nc net.Conn, command string) {
	c := &Conn{nc: nc, gone: make(chan struct{})}
	c.send(&pgproto3.CopyBothResponse{})
	n := s.started(command)
	s.running.Go(func() {
		if s.opts.Play != nil {
			s.opts.Play(c, n)
		}
	})
	s.listen(c, b)
	if c.frozen.Load() {
		<-s.done
	}
	close(c.gone)
}

// listen reads what the client sends while it streams.
func (s *Server) listen(c *Conn, b *pgproto3.Backend) {
	for {
		msg, err := b.Receive()
		// A read that had begun before Freeze may still bring something.
		if err != nil || c.frozen.Load() {
			return
		}
		switch msg := msg.(type) {
		case *pgproto3.CopyData:
			st, ok := parseStatus(msg.Data)
			if !ok {
				c.Error("08P01", "pgfake got no status")
				return
			}
			s.record(st)
			if st.Reply {
				c.Raw(AppendKeepalive(nil, decoder.LSN(c.walEnd.Load()), false))
			}
		case *pgproto3.CopyDone:
			c.Raw([]byte{'c', 0, 0, 0, 4})
			c.send(&pgproto3.CommandComplete{CommandTag: []byte("COPY 0")})
			c.send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		default: // Terminate
			return
		}
	}
}

// parseStatus reads a standby status update.
// (Manual: Streaming Replication Protocol, Standby status update.)
func parseStatus(b []byte) (Status, bool) {
	if len(b) != 34 || b[0] != 'r' || b[33] > 1 {
		return Status{}, false
	}
	lsn := func(at int) decoder.LSN { return decoder.LSN(binary.BigEndian.Uint64(b[at:])) }
	micros := int64(binary.BigEndian.Uint64(b[25:])) //nolint:gosec // it is signed on the wire
	return Status{
		Write: lsn(1), Flush: lsn(9), Apply: lsn(17), Reply: b[33] == 1, At: time.Now(),
		Sent: time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(micros) * time.Microsecond),
	}, true
}
