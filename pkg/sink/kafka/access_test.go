package kafka

import (
	"context"
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// guarded is a cluster with ACLs, of which user "cdc" has none yet.
type guarded struct {
	tb    testing.TB
	c     *kfake.Cluster
	admin *kadm.Client
}

func newGuarded(t *testing.T, opts ...kfake.Opt) *guarded {
	t.Helper()
	c := newCluster(t, append(opts, kfake.EnableSASL(), kfake.EnableACLs(),
		kfake.Superuser("PLAIN", "root", "r"), kfake.User("PLAIN", "cdc", "p"))...)
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.SASL(plain.Auth{User: "root", Pass: "r"}.AsMechanism()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return &guarded{t, c, kadm.NewClient(client)}
}

func (g *guarded) acl(ops ...kadm.ACLOperation) *kadm.ACLBuilder {
	b := kadm.NewACLs().Topics("orders").ResourcePatternType(kadm.ACLPatternLiteral).Operations(ops...).Allow("User:cdc").AllowHosts("*")
	return b
}

func (g *guarded) grant(b *kadm.ACLBuilder) {
	g.tb.Helper()
	res, err := g.admin.CreateACLs(context.Background(), b)
	for _, r := range res {
		err = errors.Join(err, r.Err)
	}
	if err != nil {
		g.tb.Fatal(err)
	}
}

func (g *guarded) revoke(b *kadm.ACLBuilder) {
	g.tb.Helper()
	if _, err := g.admin.DeleteACLs(context.Background(), b); err != nil {
		g.tb.Fatal(err)
	}
}

func (g *guarded) sink(t *testing.T, create *Create) (*Sink, *outcomes) {
	t.Helper()
	return newSink(t, g.c, func(cfg *Config) {
		cfg.Create = create
		cfg.SASL = &SASL{Mechanism: "PLAIN", Username: "cdc", Password: func() (string, error) { return "p", nil }}
	})
}

// TestAccess: each grant that is missing is told before anything is sent; the
// same sink delivers once all are there, and the next one after one was
// withdrawn and given back.
func TestAccess(t *testing.T) {
	g := newGuarded(t, kfake.SeedTopics(1, "orders"))
	s, got := g.sink(t, nil)
	send := func(s *Sink) error { return s.Send(t.Context(), record("orders", "k", "v")) }
	configError(t, send(s), reasonNotAuthorized, remedyWrite)
	g.grant(g.acl(kadm.OpDescribe))
	configError(t, s.Check(t.Context(), []string{"orders"})[0], reasonNotAuthorized, remedyWrite)
	g.grant(g.acl(kadm.OpWrite))
	if err := send(s); err != nil {
		t.Fatal(err)
	}
	if o := got.wait(t, 1)[0]; o.err != nil {
		t.Fatal(o.err)
	}
	g.revoke(g.acl(kadm.OpWrite))
	if err := send(s); err != nil {
		t.Fatal(err)
	}
	configError(t, got.wait(t, 2)[1].err, reasonNotAuthorized, remedyWrite)

	next, after := g.sink(t, nil)
	configError(t, send(next), reasonNotAuthorized, remedyWrite)
	g.grant(g.acl(kadm.OpWrite))
	if err := send(next); err != nil {
		t.Fatal(err)
	}
	if o := after.wait(t, 1)[0]; o.err != nil {
		t.Error(o.err)
	}
}

// TestIdempotentWrite: brokers before 3.0 want a grant on the cluster. It is
// found before a client has records, and asked for once a client.
func TestIdempotentWrite(t *testing.T) {
	g := newGuarded(t, kfake.SeedTopics(1, "orders"))
	g.grant(g.acl(kadm.OpDescribe, kadm.OpWrite))
	denied, asked := true, 0
	g.c.ControlKey(int16(kmsg.InitProducerID), func(r kmsg.Request) (kmsg.Response, error, bool) {
		g.c.KeepControl()
		asked++
		if !denied {
			return nil, nil, false
		}
		resp := r.ResponseKind().(*kmsg.InitProducerIDResponse)
		resp.ErrorCode = 31 // CLUSTER_AUTHORIZATION_FAILED
		return resp, nil, true
	})
	s, got := g.sink(t, nil)
	check := func() error { return s.Check(t.Context(), []string{"orders"})[0] }
	configError(t, check(), reasonNotAuthorized, "IDEMPOTENT_WRITE")
	denied = false
	for range 3 {
		if err := check(); err != nil {
			t.Fatal(err)
		}
	}
	sendAll(t, s, "orders", 1)
	got.wait(t, 1)
	if asked != 3 { // denied, permitted, the client's own
		t.Errorf("asked %d times, want 3", asked)
	}
}

// TestCreateTopics: missing topics are created only when asked for, with the
// numbers asked for; what stands against it is told.
func TestCreateTopics(t *testing.T) {
	g := newGuarded(t, kfake.NumBrokers(3))
	g.grant(g.acl(kadm.OpDescribe, kadm.OpWrite))
	s, _ := g.sink(t, nil)
	configError(t, s.Send(t.Context(), record("orders", "k", "v")), reasonTopicMissing, "--topic orders")
	s, _ = g.sink(t, &Create{Partitions: 5, Replication: 3})
	configError(t, s.Send(t.Context(), record("orders", "k", "v")), reasonNotAuthorized, remedyCreate)
	g.grant(g.acl(kadm.OpCreate))
	many, _ := g.sink(t, &Create{Partitions: 5, Replication: 4})
	configError(t, many.Check(t.Context(), []string{"orders"})[0], reasonTopicUnusable, "KAFKA_CREATE_REPLICATION")
	// Both find it missing, and both are content.
	other, _ := g.sink(t, &Create{Partitions: 5, Replication: 3})
	errs := make(chan error, 2)
	go func() { errs <- s.Send(t.Context(), record("orders", "k", "v")) }()
	go func() { errs <- other.Check(t.Context(), []string{"orders"})[0] }()
	for range 2 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if n := len(g.c.PartitionInfos("orders")); n != 5 {
		t.Errorf("%d partitions, want 5", n)
	}
	if _, err := New(Config{Brokers: []string{"b:1"}, Create: &Create{}}, func(*sink.Record, error) {}); err == nil {
		t.Error("no partitions: no error")
	}
}

// TestCreateRace: a topic that somebody else creates in between is as good.
func TestCreateRace(t *testing.T) {
	c := newCluster(t)
	s, got := newSink(t, c, func(cfg *Config) { cfg.Create = &Create{Partitions: 1, Replication: 1} })
	c.ControlKey(int16(kmsg.CreateTopics), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.DropControl()
		c.SleepControl(func() {
			if err := c.CreateTopic("orders", 2, nil); err != nil {
				t.Error(err)
			}
		})
		return nil, nil, false
	})
	sendAll(t, s, "orders", 1)
	if o := got.wait(t, 1)[0]; o.err != nil || len(c.PartitionInfos("orders")) != 2 {
		t.Errorf("%v, %d partitions, want those of the other", o.err, len(c.PartitionInfos("orders")))
	}
}
