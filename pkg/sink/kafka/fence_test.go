package kafka

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

var (
	produceRequest  = []byte{0, 0, 0, 10, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0}
	metadataRequest = []byte{0, 0, 0, 10, 0, 3, 0, 9, 0, 0, 0, 1, 0, 0}
)

// fenced is a fenced connection and its far end.
func fenced(t *testing.T, down <-chan struct{}) (conn, far net.Conn) {
	t.Helper()
	near, far := net.Pipe()
	cfg := Config{Dial: func(context.Context, string, string) (net.Conn, error) { return near, nil }}
	conn, err := dialer(cfg, down)(t.Context(), "tcp", "broker:9092")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close() // a second close of a pipe does nothing
		_ = far.Close()
	})
	return conn, far
}

func TestFenceHoldsProduceRequests(t *testing.T) {
	down := make(chan struct{})
	conn, far := fenced(t, down)
	arrived := make(chan []byte, 4)
	go func() {
		defer close(arrived)
		for {
			b := make([]byte, len(produceRequest))
			if _, err := io.ReadFull(far, b); err != nil {
				return
			}
			arrived <- b
		}
	}()
	write := func(b []byte) error {
		if err := conn.SetWriteDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		_, err := conn.Write(b)
		return err
	}
	if err := write(produceRequest); err != nil {
		t.Fatalf("an open fence: %v", err)
	}
	<-arrived
	close(down)
	if err := write(produceRequest); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a produce request behind the fence gave %v, want a timeout", err)
	}
	if err := write(metadataRequest); err != nil {
		t.Errorf("another request: %v", err)
	}
	if b := <-arrived; b[5] != 3 {
		t.Errorf("request %d arrived, want metadata only", b[5])
	}
	_ = conn.Close() // ends the reader
	if b, ok := <-arrived; ok {
		t.Errorf("request %v arrived through the fence", b)
	}
}

// TestFenceOpensForTheEnd: what is held back ends with the connection's
// deadline and with Close, or the client could not be closed.
func TestFenceOpensForTheEnd(t *testing.T) {
	down := make(chan struct{})
	close(down)
	for name, end := range map[string]func(net.Conn) error{
		"close":    net.Conn.Close,
		"deadline": func(c net.Conn) error { return c.SetDeadline(time.Now()) },
	} {
		t.Run(name, func(t *testing.T) {
			conn, _ := fenced(t, down)
			held := make(chan error, 1)
			go func() {
				_, err := conn.Write(produceRequest)
				held <- err
			}()
			if err := end(conn); err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-held:
				if err == nil {
					t.Error("the write succeeded")
				}
			case <-time.After(limit):
				t.Fatal("the write is still held")
			}
		})
	}
}

func TestDialFailurePasses(t *testing.T) {
	refused := errors.New("refused")
	cfg := Config{Dial: func(context.Context, string, string) (net.Conn, error) { return nil, refused }}
	if _, err := dialer(cfg, nil)(t.Context(), "tcp", "broker:9092"); !errors.Is(err, refused) {
		t.Errorf("dial gave %v", err)
	}
}

// TestFailureIsKnownBeforeItsPromise: while the client is held up in an earlier
// result, a batch fails. Send must refuse at once, and no later record of the
// key may be stored, although no promise has said a word.
func TestFailureIsKnownBeforeItsPromise(t *testing.T) {
	c := newCluster(t, kfake.SeedTopics(1, "first", "second"))
	inResult, goOn := make(chan struct{}), make(chan struct{})
	got := newOutcomes()
	s, err := New(Config{Brokers: c.ListenAddrs()}, func(r *sink.Record, err error) {
		if r.Destination == "first" {
			close(inResult)
			<-goOn
		}
		got.add(r, err)
	})
	if err != nil {
		t.Fatal(err)
	}
	if errs := s.Check(t.Context(), []string{"first", "second"}); errs[0] != nil || errs[1] != nil {
		t.Fatal(errs)
	}
	sendAll(t, s, "first", 1)
	<-inResult
	c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.InvalidRecord})
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	taken := 1
	for err = nil; err == nil; taken++ {
		err = s.Send(ctx, record("second", "k", "v"))
	}
	taken-- // the last was not
	if sink.KindOf(err) != sink.Poison {
		t.Errorf("send gave %v, want the failure", err)
	}
	if n := len(got.list()); n != 0 {
		t.Errorf("%d results: the promises were not held up", n)
	}
	close(goOn)
	closeNow(t, s)
	if n := len(got.list()); n != taken {
		t.Errorf("%d results for %d records", n, taken)
	}
	if n := stored(c, "second"); n != 0 {
		t.Errorf("%d records stored behind the failed one", n)
	}
}
