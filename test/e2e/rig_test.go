package e2e

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/outbox-cdc/outbox-cdc/internal/kafkatest"
	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset/pgstore"
)

// topic is where the rule of most tests sends all events; on a real broker it is
// the rig's own.
const topic = "events"

// partitions is the topic's number of partitions.
const partitions = 6

// role is what the connector logs in as: LOGIN REPLICATION and no more.
const role = "cdc"

// rig is one test's outbox, slot and cluster.
type rig struct {
	tb      testing.TB
	db      *pgtest.DB
	cluster *kfake.Cluster    // in the test's process; nil on a real broker
	kafka   *kafkatest.Broker // the real broker, or nil
	topic   string
	slot    string
	// settings are what the connector needs to run; every test adds its own.
	settings settings
}

// bare is a rig with a database and an empty cluster in the test's process: no
// table, no slot, no topic. A nil server means the one that is shared.
func bare(tb testing.TB, server *pgtest.Server, brokers int) *rig {
	tb.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(brokers))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(cluster.Close)
	r := &rig{tb: tb, cluster: cluster, topic: topic}
	r.useServer(server)
	return r
}

// newKafkaRig is a rig that is set up on a real broker, with a topic of its own;
// the settings are the topic's. A nil server or broker means the one that is
// shared.
func newKafkaRig(tb testing.TB, server *pgtest.Server, broker *kafkatest.Broker, topicSettings map[string]string) *rig {
	tb.Helper()
	if broker == nil {
		broker = brokers.Broker(tb)
	}
	r := &rig{tb: tb, kafka: broker}
	r.topic = fmt.Sprintf("events-%d", topics.Add(1))
	r.useServer(server)
	r.setUp()
	broker.CreateTopic(tb, r.topic, partitions, topicSettings)
	return r
}

// topics counts the topics of rigs on the shared broker.
var topics atomic.Int64

// useServer gives the rig a database and the settings.
func (r *rig) useServer(server *pgtest.Server) {
	tb := r.tb
	tb.Helper()
	if server == nil {
		server = pool.Server(tb, 0)
	}
	db := server.NewDB(tb)
	db.Exec(tb, `DO $$ BEGIN CREATE ROLE `+role+` LOGIN REPLICATION;
		EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`)
	checkpoint := decoder.TableName{Schema: "outbox_cdc", Name: "checkpoint"}
	db.Exec(tb, pgstore.CreateSchema(checkpoint)+pgstore.CreateTable(checkpoint)+pgstore.Grant(checkpoint, role))
	r.db, r.slot = db, "s_"+db.Name
	r.settings = settings{
		"DATABASE_URL": server.URL(db.Name, role), "SLOT": r.slot, "PUBLICATION": "ob_pub",
		"TABLES": "app.outbox", "ROUTES": "* -> kafka:" + r.topic, "KAFKA_BROKERS": r.brokers()[0],
		"LISTEN_ADDRESS": "127.0.0.1:0", "LOG_FORMAT": "json", "HOLD_RETRY": "1s", "RECONNECT_BACKOFF_MAX": "1s",
	}
}

// newRig is a rig that is set up: app.outbox, a table of noise that is not
// published, publication, slot and topic.
func newRig(tb testing.TB, server *pgtest.Server, brokers int) *rig {
	tb.Helper()
	r := bare(tb, server, brokers)
	r.setUp()
	r.createTopic(topic, partitions)
	return r
}

// setUp makes what newRig is made of, but for the topic.
func (r *rig) setUp() {
	r.tb.Helper()
	r.db.Exec(r.tb, `CREATE SCHEMA app;
		CREATE TABLE app.outbox (id text PRIMARY KEY, event_type text, partition_key text, payload jsonb);
		CREATE TABLE app.noise (i int, p text)`)
	r.publish("app.outbox")
}

// publish makes the publication and the slot, which must come after it.
func (r *rig) publish(tables string) {
	r.tb.Helper()
	r.db.Exec(r.tb, "CREATE PUBLICATION ob_pub FOR TABLE "+tables)
	r.createSlot()
}

func (r *rig) createSlot() {
	r.tb.Helper()
	r.db.Exec(r.tb, "SELECT pg_create_logical_replication_slot('"+r.slot+"', 'pgoutput')")
}

// query reads one value in a session of its own.
func query[T any](ctx context.Context, db *pgtest.DB, sql string, args ...any) (value T, err error) {
	conn, err := pgx.Connect(ctx, db.URL())
	if err != nil {
		return value, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	err = conn.QueryRow(ctx, sql, args...).Scan(&value)
	return value, err
}
