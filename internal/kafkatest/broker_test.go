package kafkatest

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// client connects to a broker; what it cannot do at once it cannot do.
func client(t *testing.T, b *Broker, l Listener, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	c, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(b.Addr(l)), kgo.RequestRetries(2), kgo.ProducerBatchCompression(kgo.NoCompression()),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func store(t *testing.T, c *kgo.Client, topic string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return c.ProduceSync(ctx, &kgo.Record{Topic: topic, Value: []byte("v")}).FirstErr()
}

func (b *Broker) wantEnd(t *testing.T, topic string, want int64) {
	t.Helper()
	ends, err := b.Ends(t.Context(), topic)
	if err != nil || len(ends) != 1 || ends[0] != want {
		t.Fatalf("the ends of %s are %v, %v; want %d", topic, ends, err, want)
	}
}

// wantPortTaken demands that a start says so when somebody listens on the port.
func (b *Broker) wantPortTaken(t *testing.T) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", b.Addr(SASLSSL))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	if err := b.launch(t.Context()); !errors.Is(err, errPortTaken) || b.PID() != 0 {
		t.Fatalf("a start on a port that is taken: %v, pid %d", err, b.PID())
	}
}

// TestLifeOfABroker: what was answered for is there after a stop and after a
// kill -9, on the same port; and a frozen broker answers nothing.
func TestLifeOfABroker(t *testing.T) {
	t.Parallel()
	b := Run(t, Setting("message.max.bytes", "2000"))
	b.CreateTopic(t, "kept", 1, map[string]string{"retention.ms": "-1"})
	c := client(t, b, Plaintext)
	for i, end := range []func(context.Context) error{b.Stop, b.Kill} {
		if err := store(t, c, "kept"); err != nil {
			t.Fatal(err)
		}
		if err := end(t.Context()); err != nil || b.PID() != 0 {
			t.Fatalf("after its end: %v, pid %d", err, b.PID())
		}
		if i == 0 {
			b.wantPortTaken(t)
		}
		if err := b.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.wantEnd(t, "kept", int64(i+1))
	}

	if err := b.Freeze(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if ends, err := b.Ends(ctx, "kept"); err == nil {
		t.Errorf("a frozen broker told %v", ends)
	}
	if err := b.Thaw(); err != nil {
		t.Fatal(err)
	}
	b.wantEnd(t, "kept", 2)

	large := &kgo.Record{Topic: "kept", Value: make([]byte, 2000)}
	if err := c.ProduceSync(t.Context(), large).FirstErr(); err == nil {
		t.Error("message.max.bytes is not set")
	}
	b.AlterTopic(t, "kept", "max.message.bytes", "3000")
	if err := c.ProduceSync(t.Context(), large).FirstErr(); err != nil {
		t.Errorf("a record within the topic's limit: %v", err)
	}
	b.DeleteTopic(t, "kept")
	if ends, err := b.Ends(t.Context(), "kept"); err == nil {
		t.Errorf("a deleted topic has the ends %v", ends)
	}
}
