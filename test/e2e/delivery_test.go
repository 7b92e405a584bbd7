package e2e

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"testing"
)

// manyTables makes three outbox tables of different shapes: plain, in another
// schema with quoted names and columns that have to be mapped, and partitioned.
const manyTables = `
	CREATE SCHEMA app;
	CREATE TABLE app.outbox (id bigint PRIMARY KEY, aggregate_type text, aggregate_id text, event_type text, partition_key text,
		payload jsonb, headers json, tenant text, traceparent text, created_at timestamptz, sequence int, ignored text);
	CREATE SCHEMA "Billing";
	CREATE TABLE "Billing"."OutBox" ("EventId" uuid PRIMARY KEY, "Kind" text, "OrderNo" text, "Body" bytea);
	CREATE TABLE app.parted (at date, id text, event_type text, partition_key text, payload text) PARTITION BY RANGE (at);
	CREATE TABLE app.parted_1 PARTITION OF app.parted FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
	CREATE TABLE app.parted_2 PARTITION OF app.parted FOR VALUES FROM ('2026-02-01') TO ('2026-03-01');
	CREATE PUBLICATION ob_pub FOR TABLE app.outbox, "Billing"."OutBox", app.parted
		WITH (publish_via_partition_root = true)`

// deliveryRig is set up for manyTables with a topic for each table.
func deliveryRig(t *testing.T) (*rig, settings) {
	t.Helper()
	r := bare(t, nil, 3)
	r.db.Exec(t, manyTables)
	r.createSlot()
	for _, name := range []string{"plain", "billing", "parted"} {
		r.createTopic(name, partitions)
	}
	return r, r.settings.with(settings{
		"NAME":    "delivery",
		"TABLES":  `app.outbox, "Billing"."OutBox", app.parted`,
		"COLUMNS": `"Billing"."OutBox": id="EventId", type="Kind", key="OrderNo", payload="Body"`,
		"ROUTES": `* table=app.outbox -> kafka:plain
			* table=Billing.OutBox -> kafka:billing name=billing
			* table=parted -> kafka:parted name=parted`,
	})
}

// TestDelivery: rows of all tables arrive where the rules say, in order, with
// key, headers and value as they are in the server.
func TestDelivery(t *testing.T) {
	t.Parallel()
	r, s := deliveryRig(t)
	startReady(t, s)
	r.db.Exec(t, `
		INSERT INTO app.outbox SELECT g, 'order', 'o-' || g % 7, 'order.created', CASE WHEN g % 10 = 0 THEN NULL ELSE 'key-' || g % 7 END,
			jsonb_build_object('n', g, 'a', 1.50), NULL, NULL, NULL, NULL, NULL, 'x' FROM generate_series(1, 700) g;
		INSERT INTO app.parted SELECT date '2026-01-15' + 31 * (g % 2), 'p' || g, 'parted', 'one', 'text ' || g FROM generate_series(1, 300) g`)
	r.settle()
	plain := r.records("plain")
	want := []string{}
	for g := 1; g <= 700; g++ {
		want = append(want, strconv.Itoa(g))
	}
	if ids := sortedIDs(plain); !slices.Equal(ids, slices.Sorted(slices.Values(want))) {
		t.Errorf("%d ids in plain, want 1 to 700", len(ids))
	}
	used := map[int32]int{}
	for _, rec := range plain {
		if rec.key == nil {
			used[rec.partition]++
			continue
		}
		if rec.partition != javaPartition(rec.key, partitions) {
			t.Errorf("key %q is in partition %d, Java would take %d", rec.key, rec.partition, javaPartition(rec.key, partitions))
		}
	}
	if len(used) == 0 {
		t.Error("no record without a key")
	}
	checkAscending(t, plain)

	parted := r.records("parted")
	var ids []string
	for _, rec := range parted {
		ids = append(ids, rec.id)
	}
	want = want[:0]
	for g := 1; g <= 300; g++ {
		want = append(want, fmt.Sprint("p", g))
	}
	if !slices.Equal(ids, want) {
		t.Errorf("parted: %s", firstDifference(ids, want))
	}
}

func sortedIDs(records []record) []string {
	var ids []string
	for _, rec := range records {
		ids = append(ids, rec.id)
	}
	slices.Sort(ids)
	return ids
}

// checkAscending demands that the positions of each key grow.
func checkAscending(t *testing.T, records []record) {
	t.Helper()
	last := map[string]record{}
	for _, rec := range records {
		if rec.key == nil {
			continue
		}
		was, ok := last[string(rec.key)]
		if ok && (rec.commit < was.commit || rec.commit == was.commit && rec.ordinal <= was.ordinal) {
			t.Errorf("key %q: %s stands behind %s", rec.key, rec.headers["position"], was.headers["position"])
		}
		last[string(rec.key)] = rec
	}
}

// TestBytes: values, keys and headers are the server's bytes.
func TestBytes(t *testing.T) {
	t.Parallel()
	r, s := deliveryRig(t)
	startReady(t, s)
	odd := "tab\t, newline\n, quote\", backslash\\, \x01\x7f, \u00e9 \u20ac \U0001F600 \u202e e\u0301 "
	raw := make([]byte, 256)
	for i := range raw {
		raw[i] = byte(i)
	}
	conn := r.db.Conn(t)
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`INSERT INTO app.outbox VALUES (1, 'agg', 'Ünï-1', 'a.b', 'schlüssel-☃', '{"b": 1.10, "a": [1, 1e3, "\u00e9"], "n": null}',
		'{"region": "eu", "n": 2, "deep": {"x": [1]}, "gone": null, "esc": "a\"\u00e9"}', 'acme', '00-abc-01', '2026-03-01 12:00:00.25+00', 7, 'no')`)
	exec(`INSERT INTO app.outbox (id, event_type, partition_key, payload) VALUES (2, 'e', '', '""')`)
	exec(`INSERT INTO app.outbox (id, event_type, partition_key, payload) VALUES (3, 'e', NULL, '{}')`)
	exec(`INSERT INTO "Billing"."OutBox" VALUES ('00000000-0000-0000-0000-00000000000a', 'k', 'o', $1)`, raw)
	exec(`INSERT INTO "Billing"."OutBox" VALUES ('00000000-0000-0000-0000-00000000000b', 'k', 'o', '')`)
	exec(`INSERT INTO app.parted VALUES ('2026-01-02', $1, $1, $1, $1)`, odd)
	exec(`INSERT INTO app.parted VALUES ('2026-01-02', 'long', 'e', 'k', repeat('0123456789', 50000))`)
	r.settle()

	plain := byID(t, r.records("plain"))
	check(t, plain["1"], "schlüssel-☃", r.db.Text(t, "SELECT payload FROM app.outbox WHERE id = 1"), map[string]string{
		"event-type": "a.b", "source": "delivery", "aggregate-type": "agg", "aggregate-id": "Ünï-1", "tenant": "acme",
		"traceparent": "00-abc-01", "created-at": "2026-03-01 12:00:00.25+00", "sequence": "7",
		"region": "eu", "n": "2", "deep": `{"x": [1]}`, "esc": `a"é`,
	})
	check(t, plain["2"], "", `""`, map[string]string{"event-type": "e", "source": "delivery"})
	if plain["2"].key == nil {
		t.Error("an empty key became none")
	}
	if plain["3"].key != nil {
		t.Errorf("NULL became key %q", plain["3"].key)
	}
	billing := byID(t, r.records("billing"))
	check(t, billing["00000000-0000-0000-0000-00000000000a"], "o", string(raw), map[string]string{"event-type": "k", "source": "delivery"})
	if empty := billing["00000000-0000-0000-0000-00000000000b"]; empty.value == nil || len(empty.value) != 0 {
		t.Errorf("an empty payload became %v", empty.value)
	}
	parted := byID(t, r.records("parted"))
	check(t, parted[odd], odd, odd, map[string]string{"event-type": odd, "source": "delivery"})
	if long := parted["long"].value; !bytes.Equal(long, bytes.Repeat([]byte("0123456789"), 50000)) {
		t.Errorf("the long payload has %d bytes", len(long))
	}
}

func byID(t *testing.T, records []record) map[string]record {
	t.Helper()
	all := map[string]record{}
	for _, rec := range records {
		if _, ok := all[rec.id]; ok {
			t.Errorf("record %q is there twice", rec.id)
		}
		all[rec.id] = rec
	}
	return all
}

// check compares a record; its headers are those given, the event's id, which
// it was found by, and its position, which parse has read.
func check(t *testing.T, rec record, key, value string, headers map[string]string) {
	t.Helper()
	if string(rec.key) != key || string(rec.value) != value {
		t.Errorf("record %q: key %q, value %q; want %q, %q", rec.id, rec.key, rec.value, key, value)
	}
	for name, want := range headers {
		if got := rec.headers[name]; got != want {
			t.Errorf("record %q: header %s is %q, want %q", rec.id, name, got, want)
		}
	}
	if len(rec.headers) != len(headers)+2 {
		t.Errorf("record %q has headers %q", rec.id, rec.headers)
	}
}
