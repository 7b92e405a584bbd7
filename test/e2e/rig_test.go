package e2e

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset/pgstore"
)

// topic is where the rule of most tests sends all events.
const topic = "events"

// partitions is the topic's number of partitions.
const partitions = 6

// role is what the connector logs in as: LOGIN REPLICATION and no more.
const role = "cdc"

// rig is one test's outbox, slot and cluster.
type rig struct {
	tb      testing.TB
	db      *pgtest.DB
	cluster *kfake.Cluster
	slot    string
	// settings are what the connector needs to run; every test adds its own.
	settings settings
}

// bare is a rig with a database and an empty cluster: no table, no slot, no
// topic. A nil server means the one that is shared.
func bare(tb testing.TB, server *pgtest.Server, brokers int) *rig {
	tb.Helper()
	if server == nil {
		server = pool.Server(tb, 0)
	}
	cluster, err := kfake.NewCluster(kfake.NumBrokers(brokers))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(cluster.Close)
	db := server.NewDB(tb)
	db.Exec(tb, `DO $$ BEGIN CREATE ROLE `+role+` LOGIN REPLICATION;
		EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`)
	checkpoint := decoder.TableName{Schema: "outbox_cdc", Name: "checkpoint"}
	db.Exec(tb, pgstore.CreateSchema(checkpoint)+pgstore.CreateTable(checkpoint)+pgstore.Grant(checkpoint, role))
	r := &rig{tb: tb, db: db, cluster: cluster, slot: "s_" + db.Name}
	r.settings = settings{
		"DATABASE_URL": server.URL(db.Name, role), "SLOT": r.slot, "PUBLICATION": "ob_pub",
		"TABLES": "app.outbox", "ROUTES": "* -> kafka:" + topic, "KAFKA_BROKERS": cluster.ListenAddrs()[0],
		"LISTEN_ADDRESS": "127.0.0.1:0", "LOG_FORMAT": "json", "HOLD_RETRY": "1s", "RECONNECT_BACKOFF_MAX": "1s",
	}
	return r
}

// newRig is a rig that is set up: app.outbox, a table of noise that is not
// published, publication, slot and topic.
func newRig(tb testing.TB, server *pgtest.Server, brokers int) *rig {
	tb.Helper()
	r := bare(tb, server, brokers)
	r.db.Exec(tb, `CREATE SCHEMA app;
		CREATE TABLE app.outbox (id text PRIMARY KEY, event_type text, partition_key text, payload jsonb);
		CREATE TABLE app.noise (i int, p text)`)
	r.publish("app.outbox")
	r.createTopic(topic, partitions)
	return r
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

func (r *rig) createTopic(name string, partitions int32) {
	r.tb.Helper()
	if err := r.cluster.CreateTopic(name, partitions, nil); err != nil {
		r.tb.Fatal(err)
	}
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
