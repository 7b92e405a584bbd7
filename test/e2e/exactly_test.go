package e2e

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestExactlyTheInserts: of everything that can happen to an outbox table, only
// committed inserts become events, although the publication has all operations
// and a table that is not configured.
func TestExactlyTheInserts(t *testing.T) {
	t.Parallel()
	r := bare(t, nil, 1)
	r.db.Exec(t, `CREATE SCHEMA app;
		CREATE TABLE app.outbox (id text PRIMARY KEY, event_type text, partition_key text, payload jsonb);
		CREATE TABLE app.other (LIKE app.outbox INCLUDING ALL)`)
	r.publish("app.outbox, app.other")
	r.createTopic(topic, partitions)
	c := startReady(t, r.settings)
	for _, statements := range []string{
		// One statement, one transaction each, unless it says BEGIN.
		`INSERT INTO app.outbox VALUES ('e01', 'E', 'k', '{}')`,
		`BEGIN; INSERT INTO app.outbox VALUES ('no-rollback', 'E', 'k', '{}'); ROLLBACK`,
		`BEGIN; INSERT INTO app.outbox VALUES ('e02', 'E', 'k', '{}'); SAVEPOINT s; INSERT INTO app.outbox VALUES ('no-savepoint', 'E', 'k', '{}');
			ROLLBACK TO s; INSERT INTO app.outbox VALUES ('e03', 'E', 'k', '{}'); SAVEPOINT s2; INSERT INTO app.outbox VALUES ('e04', 'E', 'k', '{}'); COMMIT`,
		`UPDATE app.outbox SET payload = '{"a": 1}'`,
		`UPDATE app.outbox SET id = 'no-renamed' WHERE id = 'e04'`,
		`DELETE FROM app.outbox WHERE id = 'e02'`,
		`INSERT INTO app.outbox VALUES ('e05', 'E', 'k', '{}'), ('e06', 'E', 'k', '{}'), ('e07', 'E', 'k', '{}')`,
		`INSERT INTO app.outbox VALUES ('e05', 'E', 'k', '{}'), ('e08', 'E', 'k', '{}') ON CONFLICT DO NOTHING`,
		`INSERT INTO app.outbox VALUES ('e06', 'no', 'k', '{}'), ('e09', 'E', 'k', '{}') ON CONFLICT (id) DO UPDATE SET payload = '{"no": 1}'`,
		`BEGIN; INSERT INTO app.outbox VALUES ('e10', 'E', 'k', '{}'); DELETE FROM app.outbox WHERE id = 'e10'; COMMIT`,
		`INSERT INTO app.other SELECT 'no-' || g, 'E', 'k', '{}' FROM generate_series(1, 100) g`,
		`BEGIN; INSERT INTO app.other VALUES ('no-x', 'E', 'k', '{}'); INSERT INTO app.outbox VALUES ('e11', 'E', 'k', '{}'); COMMIT`,
		`SELECT pg_logical_emit_message(true, 'p', 'no-message'), pg_logical_emit_message(false, 'p', 'no-message')`,
		`TRUNCATE app.outbox, app.other`,
		`INSERT INTO app.outbox VALUES ('e12', 'E', 'k', '{}')`,
		upsert(r.db.Server.Major()),
		`DO $$ BEGIN INSERT INTO app.outbox VALUES ('no-exception', 'E', 'k', '{}'); RAISE 'no'; EXCEPTION WHEN raise_exception THEN NULL; END $$`,
		`WITH new AS (INSERT INTO app.outbox VALUES ('e14', 'E', 'k', '{}') RETURNING id) INSERT INTO app.other SELECT 'no-cte', 'E', 'k', '{}' FROM new`,
	} {
		r.db.Exec(t, statements)
	}
	r.copyIn("e15", "e16", "e17")
	r.settle()
	var ids []string
	for _, rec := range r.records(topic) {
		ids = append(ids, rec.id)
	}
	want := []string{
		"e01", "e02", "e03", "e04", "e05", "e06", "e07", "e08", "e09", "e10", "e11", "e12", "e13", "e14", "e15", "e16", "e17",
	}
	if !slices.Equal(ids, want) {
		t.Errorf("got %q, want %q", ids, want)
	}
	if n := c.metric("outbox_cdc_rows_total", `kind="other_table"`); n != 102 {
		t.Errorf("%v rows of other tables, want 102", n)
	}
	if n := c.metric("outbox_cdc_rows_total", `kind="event"`, `table="app.outbox"`); n != 17 {
		t.Errorf("%v rows were events, want 17", n)
	}
	// 4 + 1 updates, 1 + 1 deletes, 1 + 1 rows that were there, and TRUNCATE,
	// which is one message for both tables.
	if n := c.metric("outbox_cdc_rows_total", `kind="ignored_op"`); n != 10 {
		t.Errorf("%v ignored operations, want 10", n)
	}
}

// upsert updates e12 and inserts e13.
func upsert(major int) string {
	if major < 15 { // MERGE came with 15
		return `INSERT INTO app.outbox VALUES ('e12', 'E', 'k', '{}'), ('e13', 'E', 'k', '{}') ON CONFLICT (id) DO UPDATE SET payload = '{"no": 2}'`
	}
	return `MERGE INTO app.outbox o USING (VALUES ('e12'), ('e13')) v(id) ON o.id = v.id
		WHEN MATCHED THEN UPDATE SET payload = '{"no": 2}' WHEN NOT MATCHED THEN INSERT VALUES (v.id, 'E', 'k', '{}')`
}

// copyIn loads rows by COPY, whose rows share one position in the WAL.
func (r *rig) copyIn(ids ...string) {
	r.tb.Helper()
	rows := make([][]any, 0, len(ids))
	for _, id := range ids {
		rows = append(rows, []any{id, "E", "k", map[string]any{"n": 1}})
	}
	if _, err := r.db.Conn(r.tb).CopyFrom(r.tb.Context(), []string{"app", "outbox"},
		[]string{"id", "event_type", "partition_key", "payload"}, pgx.CopyFromRows(rows)); err != nil {
		r.tb.Fatal(err)
	}
}

// TestCommitOrder: the transaction that began first commits last, and its rows
// come last, also when the connector was restarted in between.
func TestCommitOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	c := startReady(t, r.settings)
	for _, restart := range []bool{false, true} {
		early, err := r.db.Conn(t).Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		name := map[bool]string{false: "a", true: "b"}[restart]
		insert := func(id string) string { return "INSERT INTO app.outbox VALUES ('" + id + "', 'E', 'k', '{}')" }
		if _, err := early.Exec(t.Context(), insert(name+"-early")); err != nil {
			t.Fatal(err)
		}
		before := r.stored(topic)
		r.db.Exec(t, insert(name+"-late"))
		r.awaitStored(topic, before+1)
		if restart {
			c.stop()
			c = startReady(t, r.settings)
		}
		if err := early.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.awaitStored(topic, before+2)
	}
	var ids []string
	for _, rec := range r.records(topic) {
		ids = append(ids, rec.id)
	}
	if want := []string{"a-late", "a-early", "b-late", "b-early"}; !slices.Equal(ids, want) {
		t.Errorf("got %q, want %q", ids, want)
	}
}
