package pgrepl

import (
	"encoding/hex"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl/pgfake"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

func TestStatusOnTheWire(t *testing.T) {
	at := time.Date(2026, time.March, 4, 5, 6, 7, 891_234_567, time.FixedZone("x", 3600))
	tests := []struct {
		name   string
		status Status
		want   string
	}{
		{
			"all",
			Status{Write: 0x1_0000_0020, Flush: 0x1_0000_0010, Reply: true},
			"64 00000026 72 0000000100000020 0000000100000010 0000000100000010 0002ef29b54dc322 01",
		},
		{
			"nothing is confirmed",
			Status{Write: 0x20},
			"64 00000026 72 0000000000000020 0000000000000000 0000000000000000 0002ef29b54dc322 00",
		},
		{
			"flush above write is left alone",
			Status{Flush: 0xffff_ffff_ffff_ffff},
			"64 00000026 72 0000000000000000 ffffffffffffffff ffffffffffffffff 0002ef29b54dc322 00",
		},
	}
	for _, test := range tests {
		got := hex.EncodeToString(appendStatus(nil, test.status, at))
		if want := strings.ReplaceAll(test.want, " ", ""); got != want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, want)
		}
	}
}

func TestStatusReachesTheServer(t *testing.T) {
	s, server := fake(t, func(*pgfake.Conn) {})
	before := time.Now().Truncate(time.Microsecond)
	for _, st := range []Status{{Write: 7}, {Write: 9, Flush: 8, Reply: true}} {
		if err := s.SendStatus(st); err != nil {
			t.Fatal(err)
		}
	}
	server.WaitStatus(t, func(st pgfake.Status) bool {
		return st.Write == 9 && st.Flush == 8 && st.Apply == 8 && st.Reply
	})
	first := server.Statuses()[0]
	if first.Write != 7 || first.Flush != 0 || first.Apply != 0 || first.Reply {
		t.Errorf("the first status is %+v", first)
	}
	if first.Sent.Before(before) || first.Sent.After(time.Now()) {
		t.Errorf("it was sent at %v, not after %v", first.Sent, before)
	}
	if f := next(t, s); f.Kind != FrameKeepalive || f.ReplyRequested {
		t.Errorf("the answer is %+v", f)
	}
}

func TestFinish(t *testing.T) {
	tests := map[string]func(*pgfake.Conn){
		"idle": func(*pgfake.Conn) {},
		"flood": func(c *pgfake.Conn) {
			for n := decoder.LSN(1); ; n++ {
				select {
				case <-c.Gone():
					return
				default:
					c.Data(n, make([]byte, 5000))
				}
			}
		},
		"keepalives on their way": func(c *pgfake.Conn) {
			for range 1000 {
				c.Keepalive(5, false)
			}
		},
	}
	for name, play := range tests {
		t.Run(name, func(t *testing.T) {
			left := make(chan struct{})
			s, server := fake(t, func(c *pgfake.Conn) {
				play(c)
				<-c.Gone()
				close(left)
			})
			// It may come when the reader has long stopped by itself.
			s.Interrupt()
			if err := s.Finish(Status{Write: 20, Flush: 10}, soon()); err != nil {
				t.Error(err)
			}
			// Without waiting: it was there before Finish returned.
			if got := server.Statuses(); len(got) != 1 || got[0].Flush != 10 || got[0].Write != 20 {
				t.Errorf("the server has %+v", got)
			}
			<-left
			if err := s.SendStatus(Status{}); !errors.Is(err, net.ErrClosed) {
				t.Errorf("after Finish: %v, want a closed connection", err)
			}
		})
	}
}

// TestFinishIsNotFooled: a keepalive that was on its way is no proof.
func TestFinishIsNotFooled(t *testing.T) {
	playing := make(chan struct{})
	s, server := fake(t, func(c *pgfake.Conn) {
		c.Freeze()
		close(playing)
		for range 200 {
			c.Keepalive(5, false)
		}
	})
	<-playing
	if err := s.Finish(Status{Write: 20, Flush: 10}, time.Now().Add(200*time.Millisecond)); !errors.Is(err, ErrSilent) {
		t.Errorf("Finish = %v, want ErrSilent", err)
	}
	if got := server.Statuses(); len(got) != 0 {
		t.Errorf("a frozen server has read %+v", got)
	}
}

func TestFinishWhenTheServerFails(t *testing.T) {
	failed := make(chan struct{})
	s, _ := fake(t, func(c *pgfake.Conn) {
		c.Error("57P01", "terminating")
		c.Close()
		close(failed)
	})
	<-failed
	var pgErr *pgconn.PgError
	if err := s.Finish(Status{}, soon()); !errors.As(err, &pgErr) || pgErr.Code != "57P01" {
		// The reset may overtake the reason.
		if _, ok := errors.AsType[*net.OpError](err); !ok {
			t.Errorf("Finish = %v, want the server's reason or the lost connection", err)
		}
	}
	s, _ = fake(t, func(c *pgfake.Conn) { c.Close() })
	if _, err := s.Next(soon()); err == nil {
		t.Fatal("the server has not gone")
	}
	if err := s.Finish(Status{}, soon()); err == nil {
		t.Error("Finish succeeded without a server")
	}
}

// TestWaitsAreBounded runs in virtual time against a server that takes nothing,
// or takes and says nothing.
func TestWaitsAreBounded(t *testing.T) {
	tests := []struct {
		name  string
		reads bool
		call  func(*Stream) error
		want  error
		after time.Duration
	}{
		{"status", false, func(s *Stream) error { return s.SendStatus(Status{}) }, os.ErrDeadlineExceeded, writeTimeout},
		{"finish not taken", false, func(s *Stream) error { return s.Finish(Status{}, time.Now().Add(2*time.Second)) }, os.ErrDeadlineExceeded, 2 * time.Second},
		{"patient finish not taken", false, func(s *Stream) error { return s.Finish(Status{}, time.Now().Add(time.Hour)) }, os.ErrDeadlineExceeded, writeTimeout},
		{"finish not answered", true, func(s *Stream) error { return s.Finish(Status{}, time.Now().Add(2*time.Second)) }, ErrSilent, 2 * time.Second},
		{"next", true, func(s *Stream) error { _, err := s.Next(time.Now().Add(time.Second)); return err }, nil, time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, server := net.Pipe()
				var reading sync.WaitGroup
				if test.reads {
					reading.Go(func() { _, _ = io.Copy(io.Discard, server) })
				}
				s := newStream(client, client, testMax)
				began := time.Now()
				if err := test.call(s); !errors.Is(err, test.want) {
					t.Errorf("ended with %v, want %v", err, test.want)
				}
				if took := time.Since(began); took != test.after {
					t.Errorf("took %v, want %v", took, test.after)
				}
				s.Close()
				_ = server.Close()
				reading.Wait()
			})
		})
	}
}
