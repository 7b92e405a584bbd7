package main

// step is a statement.
type step struct {
	sql string
	// copy is the data of a COPY FROM STDIN.
	copy string
	// written is put into the file instead of sql.
	written string
}

// setup makes the tables; it is not captured.
const setup = `
CREATE TYPE mood AS ENUM ('a b', 'é');
CREATE TYPE comp AS (a int, b text, c text);
CREATE DOMAIN label AS text;
CREATE DOMAIN raw AS bytea;
CREATE TABLE outbox (id uuid PRIMARY KEY, event_type text, partition_key varchar(40), payload jsonb);
CREATE TABLE types (id bigint PRIMARY KEY, event_type mood, partition_key label, payload json, headers jsonb,
  created_at timestamptz, sequence int8, tags text[], grid int[][], c comp, r tstzrange, ip inet, m money, ch char(5), f float8);
CREATE TABLE bin (id int PRIMARY KEY, type text, aggregateid text, payload bytea);
CREATE TABLE bin2 (id int PRIMARY KEY, type text, aggregateid text, payload raw);
CREATE TABLE copied (id bigint, event_type text, partition_key text, payload text);
CREATE TABLE po (id bigint, event_type text, partition_key text, payload text, status text) PARTITION BY LIST (status);
CREATE TABLE po_new PARTITION OF po FOR VALUES IN ('NEW');
CREATE TABLE po_sent PARTITION OF po FOR VALUES IN ('SENT');
ALTER TABLE po REPLICA IDENTITY FULL;
ALTER TABLE po_new REPLICA IDENTITY FULL;
ALTER TABLE po_sent REPLICA IDENTITY FULL;
CREATE SCHEMA "Ünï Code";
CREATE TABLE "Ünï Code"."Out.Box""x" ("eventId" text, "eventType" text, "select" text, "päyload" text);
CREATE TABLE other (id int PRIMARY KEY, note text);
CREATE TABLE toasted (id int PRIMARY KEY, event_type text, partition_key text, payload text);
ALTER TABLE toasted ALTER payload SET STORAGE EXTERNAL;
CREATE PUBLICATION everything FOR ALL TABLES WITH (publish_via_partition_root = true);
SELECT pg_replication_origin_create('upstream');
`

// backlog runs after the slot was made and before it is read, so that the big
// transaction is known to be rolled back when it is decoded: then PostgreSQL 18
// sends Stream Abort messages for its subtransactions, although streaming is off.
const backlog = `BEGIN; INSERT INTO other VALUES (1, 'x'); SAVEPOINT a; INSERT INTO other SELECT g, repeat('x', 100) FROM generate_series(2, 50) g;
RELEASE a; INSERT INTO other SELECT g, repeat('x', 100) FROM generate_series(51, 4000) g; ROLLBACK`

// script is what is captured. Times and ids are fixed where we can choose.
var script = []step{
	{sql: `INSERT INTO outbox VALUES ('6f1c1a52-3f0e-4f53-9a3f-0c2d2f3f5a11', 'order.created', 'k1', '{ "bb" : 1, "a":1e2, "a":3, "z":1.10 }')`},
	{sql: `INSERT INTO outbox VALUES ('00000000-0000-0000-0000-000000000002', '', NULL, NULL), ('00000000-0000-0000-0000-000000000003', NULL, '', 'null')`},
	{sql: `INSERT INTO types VALUES (9223372036854775807, 'é', 'lab', '{"n":12345678901234567890.10, "n":1}', '{"a":"1"}',
'2024-02-03 04:05:06.5+00', 7, '{"a,b","c\"d",NULL,"NULL",""}', '{{1,2},{3,4}}', ROW(1,'a,"b',NULL),
'[2024-01-01 00:00+00,)', '::1', 12.5, 'ab', 3e19)`},
	{sql: `INSERT INTO bin VALUES (1, 't', 'a', '\x00ff7f'), (2, 't', 'a', ''), (3, 't', 'a', NULL)`},
	{sql: `INSERT INTO bin2 VALUES (1, 't', 'a', '\xdeadbeef')`},
	{sql: `COPY copied FROM STDIN`, copy: "1\tc\tk\tone\n2\tc\t\\N\ttab\\tand\\\\back\n3\tc\tk\t 🐘 \\r\\n\n"},
	{sql: `BEGIN; INSERT INTO copied VALUES (10, 's', 'k', 'kept'); SAVEPOINT a; INSERT INTO copied VALUES (11, 's', 'k', 'undone');
ROLLBACK TO a; INSERT INTO copied VALUES (12, 's', 'k', 'kept too'); COMMIT`},
	{sql: `BEGIN; INSERT INTO copied VALUES (13, 's', 'k', 'undone'); ROLLBACK`},
	{sql: `BEGIN; INSERT INTO outbox VALUES ('00000000-0000-0000-0000-000000000004', 't', 'k', '{}'); INSERT INTO other VALUES (1, 'n');
UPDATE outbox SET payload = '[]' WHERE event_type = 't'; UPDATE other SET id = 2; DELETE FROM outbox WHERE event_type = 't'; DELETE FROM other; COMMIT`},
	{sql: `BEGIN; TRUNCATE outbox, other RESTART IDENTITY CASCADE; TRUNCATE copied; COMMIT`},
	{sql: `SELECT pg_logical_emit_message(false, 'p', 'x')`},
	{sql: `BEGIN; SELECT pg_logical_emit_message(true, 'p', 'y'); INSERT INTO copied VALUES (20, 'm', 'k', 'with messages'); SELECT pg_logical_emit_message(false, 'p', ''); COMMIT`},
	{sql: `BEGIN; SELECT pg_logical_emit_message(false, 'p', 'of a rolled-back transaction'), pg_logical_emit_message(true, 'p', 'never sent'); ROLLBACK`},
	{sql: `BEGIN; ALTER TABLE copied ADD COLUMN tenant text; INSERT INTO copied VALUES (30, 'r', 'k', 'added', 'acme');
ALTER TABLE copied RENAME event_type TO kind; INSERT INTO copied VALUES (31, 'r', 'k', 'renamed', 'acme');
ALTER TABLE copied DROP COLUMN tenant; INSERT INTO copied VALUES (32, 'r', 'k', 'dropped'); COMMIT`},
	{sql: `INSERT INTO po VALUES (40, 'p', 'k', 'root', 'NEW'); INSERT INTO po_sent VALUES (41, 'p', 'k', 'leaf', 'SENT')`},
	{sql: `UPDATE po SET status = 'SENT' WHERE id = 40`},
	{sql: `SELECT pg_replication_origin_session_setup('upstream')`},
	{sql: `BEGIN; SELECT pg_replication_origin_xact_setup('0/1234', '2024-02-03 04:05:06+00'); INSERT INTO copied VALUES (50, 'o', 'k', 'from afar'); COMMIT`},
	{sql: `SELECT pg_replication_origin_session_reset()`},
	{sql: `INSERT INTO "Ünï Code"."Out.Box""x" VALUES ('60', 'é.quoted', 'schlüssel', '🐘')`},
	{sql: `BEGIN; INSERT INTO toasted SELECT 70, 'big', 'k', repeat('toast', 600); UPDATE toasted SET event_type = 'unchanged'; COMMIT`},
	{sql: `INSERT INTO copied VALUES (90, 'after', 'k', 'origins')`},
	{sql: `ALTER TABLE copied RENAME TO copied_old`},
	{sql: `INSERT INTO copied_old VALUES (99, 'lost', 'k', 'unless held')`},
}
