package e2e

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/outbox-cdc/outbox-cdc/internal/kafkatest"
	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
)

// TestCodecs: with every compression a broker's consumers get the bytes, keys,
// headers and places of the rows, and the time of their commit.
func TestCodecs(t *testing.T) {
	t.Parallel()
	server := pgtest.Run(t, pgtest.Options{Settings: map[string]string{"track_commit_timestamp": "on"}})
	for _, codec := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		t.Run(codec, func(t *testing.T) {
			t.Parallel()
			r := newKafkaRig(t, server, nil, nil)
			w := r.watch()
			startReady(t, r.settings.with(settings{"KAFKA_COMPRESSION": codec, "NAME": "codecs"}))
			for i := range 5 {
				r.insert(1+i*100, (i+1)*100, "", "a", "schlüssel-☃", "order-17")
			}
			r.settle()
			r.verify(w, allowed{})
			committed := r.commitTimes()
			for _, rec := range r.records(r.topic) {
				if want := javaPartition(rec.key, partitions); rec.partition != want {
					t.Fatalf("key %q is in partition %d, Java would take %d", rec.key, rec.partition, want)
				}
				if got := rec.time.UnixMilli(); got != committed[rec.id] {
					t.Fatalf("record %s has the time %d, its commit was at %d", rec.id, got, committed[rec.id])
				}
				check(t, rec, string(rec.key), string(rec.value), map[string]string{"event-type": "E", "source": "codecs"})
			}
		})
	}
}

// commitTimes are the server's, by id, in milliseconds.
func (r *rig) commitTimes() map[string]int64 {
	r.tb.Helper()
	rows, err := r.db.Conn(r.tb).Query(r.tb.Context(),
		"SELECT id, floor(extract(epoch FROM pg_xact_commit_timestamp(xmin)) * 1000)::bigint FROM app.outbox")
	if err != nil {
		r.tb.Fatal(err)
	}
	defer rows.Close()
	times := map[string]int64{}
	for rows.Next() {
		var id string
		var ms int64
		if err := rows.Scan(&id, &ms); err != nil {
			r.tb.Fatal(err)
		}
		times[id] = ms
	}
	if err := rows.Err(); err != nil {
		r.tb.Fatal(err)
	}
	return times
}

// TestBrokerEnds: a broker that is stopped, killed or stands still under load
// costs neither an event nor the order, and while it is away nothing is
// confirmed. It is between the producer and the broker: nothing is repeated.
func TestBrokerEnds(t *testing.T) {
	t.Parallel()
	b := kafkatest.Run(t)
	r := newKafkaRig(t, nil, b, nil)
	w := r.watch()
	// The freeze lasts longer than a request: what the broker has read by then is
	// sent to it a second time.
	startReady(t, r.settings.with(settings{"KAFKA_REQUEST_TIMEOUT": "2s"}))
	writer := r.startLoad(5*time.Millisecond, 2, "a", "b", "c", "d")
	for name, step := range map[string]struct {
		down, up func() error
		away     time.Duration
	}{
		"stop":   {func() error { return b.Stop(t.Context()) }, func() error { return b.Start(t.Context()) }, time.Second},
		"kill":   {func() error { return b.Kill(t.Context()) }, func() error { return b.Start(t.Context()) }, time.Second},
		"freeze": {b.Freeze, b.Thaw, 5 * time.Second},
	} {
		writer.more(100)
		if err := step.down(); err != nil {
			t.Fatal(err)
		}
		// What was stored before may still be confirmed: a moment, then never.
		writer.more(50)
		end := r.end()
		elapse(t, step.away, func() {
			if s := r.slotNow(); s.confirmed > end {
				t.Fatalf("%s: the slot passed %v, to %v, without a broker", name, end, s.confirmed)
			}
		})
		begin := time.Now()
		if err := step.up(); err != nil {
			t.Fatal(err)
		}
		up := time.Now()
		r.settle()
		t.Logf("%s: up after %v, caught up %v later", name, up.Sub(begin).Round(time.Millisecond), time.Since(up).Round(time.Millisecond))
	}
	writer.stop()
	r.settle()
	r.verify(w, allowed{})
}

// TestKillOnARealBroker is TestKill where the records go to Apache Kafka: each
// round ends in mid-drain, and is looked at before the next one.
func TestKillOnARealBroker(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	r := newKafkaRig(t, nil, nil, nil)
	w := r.watch()
	var deaths []death
	for round := range 5 {
		conn := r.db.Conn(t)
		for i := range 20 {
			from := 1 + (round*20+i)*100
			if _, err := conn.Exec(t.Context(), insertRows, from, from+99, []string{"p", "q", "r", "s", "t"}, 100); err != nil {
				t.Fatal(err)
			}
		}
		before := r.stored(r.topic)
		c := startReady(t, r.settings)
		r.awaitStored(r.topic, before+1+random.Int64N(8000))
		c.kill()
		deaths = append(deaths, r.buried())
	}
	startReady(t, r.settings)
	r.settle()
	repeats := r.verify(w, allowed{deaths: deaths})
	t.Logf("repeats of %d transactions in %d records", len(repeats), r.stored(r.topic))
}

// TestShortSessions: a broker that ends idle connections, and has clients log in
// again every second, is nothing that anybody notices.
func TestShortSessions(t *testing.T) {
	t.Parallel()
	b := kafkatest.Run(t, kafkatest.Setting("connections.max.idle.ms", "1000"), kafkatest.Setting("connections.max.reauth.ms", "1000"))
	r := newKafkaRig(t, nil, b, nil)
	b.Grant(t, "User:"+kafkatest.User, r.topic, kadm.OpWrite, kadm.OpDescribe, kadm.OpDescribeConfigs)
	w := r.watch()
	c := startReady(t, r.settings.with(loginTo(b)))
	writer := r.startLoad(10*time.Millisecond, 2, "a", "b", "c")
	writer.more(200)
	writer.stop()
	r.settle()
	elapse(t, 2500*time.Millisecond, func() {
		if s := c.status(); s.State != "streaming" {
			t.Fatalf("the connector is idle and says %+v", s)
		}
	})
	r.insert(100_001, 100_100, "a", "b", "c")
	r.settle()
	r.verify(w, allowed{})
}

// TestThrottled: a quota slows the stream down, and that is all it does.
func TestThrottled(t *testing.T) {
	t.Parallel()
	b := kafkatest.Run(t)
	r := newKafkaRig(t, nil, b, nil)
	answers, err := b.Admin().AlterClientQuotas(t.Context(), []kadm.AlterClientQuotaEntry{{
		Entity: kadm.ClientQuotaEntity{{Type: "client-id"}},
		Ops:    []kadm.AlterClientQuotaOp{{Key: "producer_byte_rate", Value: 20_000}},
	}})
	if err != nil || answers[0].Err != nil {
		t.Fatal(err, answers)
	}
	w := r.watch()
	c := startReady(t, r.settings.with(settings{"KAFKA_COMPRESSION": "none", "KAFKA_REQUEST_TIMEOUT": "2s"}))
	// A broker takes what comes first and mutes the connection afterwards, so
	// that one burst may get through whole: each round waits for the one before.
	slowest := time.Duration(0)
	for i := 0; i < 10 && slowest < time.Second; i++ {
		begin := time.Now()
		r.insert(1+i*200, (i+1)*200, "a", "b", "c")
		r.settle()
		slowest = max(slowest, time.Since(begin))
	}
	if slowest < time.Second {
		t.Errorf("the broker slowed nothing down: at most %v for 600 records", slowest)
	}
	if text := c.log.String(); strings.Contains(text, `"ERROR"`) || strings.Contains(text, "connecting") {
		t.Errorf("the log speaks of more than a slow broker:\n%s", text)
	}
	r.verify(w, allowed{})
}

// loginTo are the settings for the listener with TLS and a login.
func loginTo(b *kafkatest.Broker) settings {
	return settings{
		"KAFKA_BROKERS": b.Addr(kafkatest.SASLSSL), "KAFKA_SECURITY_PROTOCOL": "SASL_SSL", "KAFKA_TLS_CA_FILE": b.TLS().CA,
		"KAFKA_SASL_MECHANISM": "SCRAM-SHA-512", "KAFKA_SASL_USERNAME": kafkatest.User, "KAFKA_SASL_PASSWORD": kafkatest.Password,
	}
}

// TestAuthorizationWithdrawn: a grant that is taken back in the middle of the
// stream holds it, and given back it goes on by itself.
func TestAuthorizationWithdrawn(t *testing.T) {
	t.Parallel()
	b := brokers.Broker(t)
	r := newKafkaRig(t, nil, b, nil)
	const principal = "User:" + kafkatest.User
	b.Grant(t, principal, r.topic, kadm.OpWrite, kadm.OpDescribe, kadm.OpDescribeConfigs)
	w := r.watch()
	c := startReady(t, r.settings.with(loginTo(b)))
	r.insert(1, 100, "a", "b")
	r.settle()
	b.Revoke(t, principal, r.topic, kadm.OpWrite)
	r.insert(101, 101, "a")
	end := r.end()
	r.insert(102, 200, "a", "b")
	c.held("TOPIC_AUTHORIZATION_FAILED", r.topic)
	if s := r.slotNow(); s.confirmed >= end {
		t.Errorf("the slot stands at %v, the event at %v is not stored", s.confirmed, end)
	}
	b.Grant(t, principal, r.topic, kadm.OpWrite)
	c.state("streaming")
	r.settle()
	r.verify(w, allowed{})
}
