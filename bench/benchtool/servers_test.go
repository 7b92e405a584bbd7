package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
)

var pool = pgtest.NewPool(pgtest.Options{})

// call runs a command and reads its result.
func call[T any](t *testing.T, args ...string) T {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(args, &out, &errs); code != 0 {
		t.Fatalf("%v: exit %d, %s", args, code, errs.String())
	}
	var result T
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &result); err != nil {
			t.Fatal(err)
		}
	}
	return result
}

func startKafka(t *testing.T) (brokers string) {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(2, "bench.order"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return cluster.ListenAddrs()[0]
}

// A drain as the scripts measure it, with the producer as the peer.
func TestDrainOfATopic(t *testing.T) {
	brokers := startKafka(t)
	self := fmt.Sprintf("connector=%d", os.Getpid())
	call[any](t, "wait", "-brokers", brokers)
	for range 2 { // the second topic is empty again
		call[any](t, "topic", "-brokers", brokers, "-partitions", "3")
		if got := call[drain](t, "produce", "-brokers", brokers, "-n", "3000", "-compression", "lz4"); got.Records != 3000 || got.RateStart == 0 {
			t.Errorf("produce: %+v", got)
		}
	}
	if got := call[drain](t, "watch", "-brokers", brokers, "-n", "3000", "-pid", self); got.Records != 3000 || got.PeakRSS["connector"] == 0 || got.CPU["connector"] == 0 {
		t.Errorf("watch: %+v", got)
	}
	if got := call[verdict](t, "verify", "-kept", "-brokers", brokers, "-n", "3000"); !got.exact() || got.Distinct != 3000 || got.TopicBytes == 0 {
		t.Errorf("verify: %+v", got)
	}
	var out, errs bytes.Buffer
	if code := run([]string{"verify", "-kept", "-brokers", brokers, "-n", "3001"}, &out, &errs); code != 1 || !bytes.Contains(out.Bytes(), []byte(`"first_missing":[3001]`)) {
		t.Errorf("a lost event: exit %d, %s", code, out.String())
	}
	if code := run([]string{"watch", "-brokers", brokers, "-n", "3001", "-pid", "connector=4194305"}, &out, &errs); code != 1 {
		t.Errorf("a connector that is gone: exit %d", code)
	}
}

// The rows of schema.sql come out of the slot, and by way of the topic, with
// the ids that they were given.
func TestLoopThroughThePostgresServer(t *testing.T) {
	db := pool.NewDB(t)
	schema, err := os.ReadFile("../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	db.Exec(t, string(schema))
	db.Exec(t, "CREATE PUBLICATION bench FOR TABLE outbox WITH (publish = 'insert')")
	slot := "s_" + db.Name
	db.Exec(t, "SELECT pg_create_logical_replication_slot('"+slot+"', 'pgoutput')")
	cfg, err := pgx.ParseConfig(db.URL())
	if err != nil {
		t.Fatal(err)
	}
	where := []string{
		"-dsn", fmt.Sprintf("host=%s port=%d user=%s password='%s' dbname=%s sslmode=disable", cfg.Host, cfg.Port, cfg.User, cfg.Password, cfg.Database),
		"-slot", slot, "-pub", "bench",
	}
	loop := append([]string{"latency", "-brokers", startKafka(t), "-rate", "200", "-warmup", "100ms", "-duration", "400ms"}, where...)
	for _, via := range []string{"slot", "direct"} {
		got := call[latencies](t, append(loop, "-via", via)...)
		if got.Events != 80 || got.Missing != 0 || got.Schedule.Max <= 0 || got.Insert.Max <= 0 {
			t.Errorf("%s: %+v", via, got)
		}
	}
	if got := db.Text(t, "SELECT min(event_id::text) || ' ' || max(event_id::text) FROM outbox"); got != eventID(1)+" "+eventID(200) {
		t.Errorf("event ids %s", got)
	}
	got := call[drain](t, append([]string{"recv", "-n", "200"}, where...)...)
	if got.Records != 200 || got.PeakRSS["connector"] == 0 {
		t.Errorf("recv: %+v", got)
	}
}
