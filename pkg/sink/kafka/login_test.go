package kafka

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/aws"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// password is what stands in the password file; nil is a file that can't be read.
type password struct{ atomic.Pointer[string] }

func (p *password) set(s string) { p.Store(&s) }

func (p *password) read() (string, error) {
	if s := p.Load(); s != nil {
		return *s, nil
	}
	return "", errors.New("read PASSWORD_FILE: gone")
}

// refuse makes the cluster answer a wrong login as real brokers do: kfake would
// just hang up.
func refuse(c *kfake.Cluster, wrong func() bool) {
	c.ControlKey(int16(kmsg.SASLAuthenticate), func(r kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		if !wrong() {
			return nil, nil, false
		}
		resp := r.ResponseKind().(*kmsg.SASLAuthenticateResponse)
		resp.ErrorCode = kerr.SaslAuthenticationFailed.Code
		resp.ErrorMessage = new("Authentication failed")
		return resp, nil, true
	})
}

// TestLogins: a wrong password holds, and is mended without a new client.
func TestLogins(t *testing.T) {
	const right, wrong = "right-canary", "wrong-canary"
	for _, mechanism := range []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"} {
		t.Run(mechanism, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, kfake.SeedTopics(1, "orders"), kfake.EnableSASL(), kfake.Superuser(mechanism, "u", right))
			var p password
			refuse(c, func() bool { s, _ := p.read(); return s == wrong })
			s, got := newSink(t, c, func(cfg *Config) { cfg.SASL = &SASL{Mechanism: mechanism, Username: "u", Password: p.read} })
			check := func() error { return s.Check(t.Context(), []string{"orders"})[0] }
			configError(t, check(), reasonNotAuthorized, "PASSWORD_FILE: gone")
			p.set("")
			configError(t, check(), reasonNotAuthorized, "must be non-empty")
			p.set(wrong)
			err := check()
			configError(t, err, reasonNotAuthorized, "KAFKA_SASL_")
			configError(t, s.Send(t.Context(), record("orders", "k", "v")), reasonNotAuthorized, "KAFKA_SASL_")
			if strings.Contains(err.Error(), "canary") {
				t.Errorf("the password shows: %v", err)
			}
			p.set(right)
			sendAll(t, s, "orders", 3)
			for _, o := range got.wait(t, 3) {
				if o.err != nil {
					t.Fatal(o.err)
				}
			}
		})
	}
}

// TestWrongMechanism: the brokers know the login, but not this way of it.
func TestWrongMechanism(t *testing.T) {
	c := newCluster(t, kfake.EnableSASL(), kfake.Superuser("PLAIN", "u", "p"))
	s, _ := newSink(t, c, func(cfg *Config) {
		cfg.SASL = &SASL{Mechanism: "AWS_MSK_IAM", AWS: func(context.Context) (aws.Auth, error) {
			return aws.Auth{AccessKey: "a", SecretKey: "s"}, nil
		}}
	})
	configError(t, s.Check(t.Context(), []string{"orders"})[0], reasonNotAuthorized, "set KAFKA_SECURITY_PROTOCOL and KAFKA_SASL_MECHANISM")
	if _, err := New(Config{Brokers: []string{"b:1"}, SASL: &SASL{Mechanism: "GSSAPI"}}, func(*sink.Record, error) {}); !errors.Is(err, errMechanism) {
		t.Errorf("GSSAPI: %v", err)
	}
}

// TestLoginWithdrawn: the password changes while a record is on its way that may
// have been stored. The client would try for ever and say nothing; the sink ends
// with the reason, and each record gets it.
func TestLoginWithdrawn(t *testing.T) {
	c := newCluster(t, kfake.SeedTopics(1, "orders"), kfake.EnableSASL(), kfake.Superuser("PLAIN", "u", "right"))
	var p password
	p.set("right")
	refuse(c, func() bool { s, _ := p.read(); return s == "wrong" })
	s, got := newSink(t, c, func(cfg *Config) { cfg.SASL = &SASL{Mechanism: "PLAIN", Username: "u", Password: p.read} })
	sendAll(t, s, "orders", 1)
	got.wait(t, 1)
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.DropControl()
		p.set("wrong")
		return nil, errors.New("cut"), true
	})
	sendAll(t, s, "orders", 1)
	configError(t, got.wait(t, 2)[1].err, reasonNotAuthorized, "KAFKA_SASL_")
	configError(t, s.Send(t.Context(), record("orders", "k", "v")), reasonNotAuthorized, "KAFKA_SASL_")
	closeNow(t, s)
}

// TestRefusals: one refusal is no reason to stop; a broker that takes us in
// between starts the count again; seeds stand for each other.
func TestRefusals(t *testing.T) {
	refusal := kerr.SaslAuthenticationFailed
	for _, tt := range []struct {
		name    string
		nodes   []int32 // one a second; +100 is a success
		err     error
		refused int
	}{
		{"too few", []int32{1, 1}, refusal, 0},
		{"enough", []int32{1, 1, 1}, refusal, 1},
		{"a success between", []int32{1, 1, 101, 1, 1}, refusal, 0},
		{"another's success", []int32{1, 102, 1, 103, 1}, refusal, 1},
		{"seeds", []int32{-5, -6, -7}, refusal, 1},
		{"seeds with a broker that works", []int32{-5, -6, 101, -7}, refusal, 0},
		{"brokers that are away", []int32{1, 1, 1, 1}, errors.New("refused"), 0},
		{"a token endpoint that is away", []int32{1, 1, 1}, &connectError{verdict{kind: sink.Retriable}, "x"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				refused, rejected := 0, 0
				c := &connections{
					refused:  func(string, verdict, error) { refused++ },
					rejected: func() { rejected++ },
				}
				for _, node := range tt.nodes {
					err := tt.err
					if node > 100 {
						node, err = node-100, nil
					}
					c.OnBrokerConnect(kgo.BrokerMetadata{NodeID: node}, 0, nil, err)
					<-time.After(time.Second)
				}
				if refused != tt.refused {
					t.Errorf("refused %d times, want %d", refused, tt.refused)
				}
				if errors.Is(tt.err, refusal) && rejected == 0 {
					t.Error("nobody was told that the login was refused")
				}
			})
		})
	}
}
