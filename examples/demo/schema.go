package main

const (
	database   = "shop"
	slotName   = "outbox_cdc"
	role       = "outbox_cdc" // LOGIN REPLICATION and nothing more
	orderCount = 24

	ordersTopic   = "orders"
	paymentsTopic = "payments"
	partitions    = 3
)

// schema is a small shop: business tables, the outbox beside them, and a table
// that is nobody's event.
const schema = `
CREATE SCHEMA orders;
CREATE TABLE orders.orders (id bigint PRIMARY KEY, status text NOT NULL, version bigint NOT NULL DEFAULT 0);
CREATE TABLE orders.payments (id bigint PRIMARY KEY, status text NOT NULL, version bigint NOT NULL DEFAULT 0);
CREATE TABLE orders.page_views (id bigint GENERATED ALWAYS AS IDENTITY, at timestamptz NOT NULL DEFAULT now(), page text NOT NULL);
CREATE TABLE orders.outbox (
  id             uuid        PRIMARY KEY,
  event_type     text        NOT NULL,
  partition_key  text        NOT NULL,
  aggregate_type text        NOT NULL,
  aggregate_id   text        NOT NULL,
  payload        jsonb       NOT NULL,
  created_at     timestamptz NOT NULL DEFAULT now(),
  publish_status text        NOT NULL DEFAULT 'NEW'
);`

// seed makes the orders that all writers share.
const seed = `
WITH ids AS (SELECT generate_series(1, $1::bigint) AS id),
     o AS (INSERT INTO orders.orders (id, status) SELECT id, 'new' FROM ids)
INSERT INTO orders.payments (id, status) SELECT id, 'open' FROM ids`

// emitOrders changes an order and writes an event for each id, in their order.
// The order's version becomes the event's number; its row stays locked until
// the transaction ends, so that the numbers of a key follow the commits.
const emitOrders = `
WITH changed AS (
  UPDATE orders.orders SET status = $2, version = version + cardinality($3::uuid[]) WHERE id = $1
  RETURNING id, version - cardinality($3::uuid[]) AS base)
INSERT INTO orders.outbox (id, event_type, partition_key, aggregate_type, aggregate_id, payload)
SELECT e.id, 'order.' || $2, 'order-' || changed.id, 'order', changed.id::text,
       jsonb_build_object('seq', base + e.n, 'order', changed.id, 'status', $2::text)
FROM changed, unnest($3::uuid[]) WITH ORDINALITY AS e (id, n) ORDER BY e.n
RETURNING id::text, partition_key, (payload ->> 'seq')::int`

// emitPayments is the same for payments.
const emitPayments = `
WITH changed AS (
  UPDATE orders.payments SET status = $2, version = version + cardinality($3::uuid[]) WHERE id = $1
  RETURNING id, version - cardinality($3::uuid[]) AS base)
INSERT INTO orders.outbox (id, event_type, partition_key, aggregate_type, aggregate_id, payload)
SELECT e.id, 'payment.' || $2, 'payment-' || changed.id, 'payment', changed.id::text,
       jsonb_build_object('seq', base + e.n, 'payment', changed.id, 'cents', 100 * changed.id)
FROM changed, unnest($3::uuid[]) WITH ORDINALITY AS e (id, n) ORDER BY e.n
RETURNING id::text, partition_key, (payload ->> 'seq')::int`

// markSent and cleanUp are what relays that poll do to an outbox. They are no
// events.
const (
	markSent = `UPDATE orders.outbox SET publish_status = 'SENT' WHERE id = ANY($1::text[]::uuid[])`
	cleanUp  = `DELETE FROM orders.outbox WHERE publish_status = 'SENT' AND id = ANY($1::text[]::uuid[])`
)

// viewPages writes to a table that is no outbox.
const viewPages = `INSERT INTO orders.page_views (page) SELECT '/catalog/' || repeat(n::text, 50) FROM generate_series(1, 20) AS n`

// lookAtSlot says how far the slot is.
const lookAtSlot = `
SELECT confirmed_flush_lsn::text, pg_wal_lsn_diff(pg_current_wal_insert_lsn(), confirmed_flush_lsn)::bigint, active
FROM pg_replication_slots WHERE slot_name = $1`

// slotPassed says whether the slot has moved past a position.
const slotPassed = `SELECT confirmed_flush_lsn >= $2::text::pg_lsn FROM pg_replication_slots WHERE slot_name = $1`
