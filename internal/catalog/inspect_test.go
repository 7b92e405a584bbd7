package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// TestHealthyOnAllMajors: a server as setup leaves it has no failures, and what
// the server says is read right, on each version's own catalog.
func TestHealthyOnAllMajors(t *testing.T) {
	for _, major := range pgtest.Majors() {
		t.Run(strconv.Itoa(major), func(t *testing.T) {
			server := pool.Server(t, major)
			db := server.NewDB(t)
			db.Exec(t, outboxDDL+`CREATE PUBLICATION pub FOR TABLE outbox WITH (publish = 'insert', publish_via_partition_root = true)`)
			w := wanted(t, db, "public.outbox", "")
			createSlot(t, db, w)
			r := inspect(t, db, w)
			onlyFailures(t, r)
			if r.Err() != nil {
				t.Errorf("Err: %v", r.Err())
			}
			if r.Server.Major() != major || r.Server.Database != db.Name || r.Server.Flushed == 0 {
				t.Errorf("server %+v", r.Server)
			}
			s := r.Slot
			if s == nil || s.Name != w.Slot || s.Database != db.Name || !s.Logical || s.Active || s.ConfirmedFlush == 0 ||
				s.Restart == 0 || s.CatalogXmin == 0 || s.WALStatus != "reserved" || s.Lost() {
				t.Errorf("slot %+v", s)
			}
			if len(r.Tables) != 1 || r.Tables[0].Name.String() != "public.outbox" {
				t.Fatalf("tables %v", r.Tables)
			}
			if name, oid, ok := r.Tables[0].Column(decoder.RolePayload); name != "payload" || oid != 3802 || !ok {
				t.Errorf("payload %q %d %v", name, oid, ok)
			}
			expect(t, get(t, r, "table.columns", "public.outbox"), OK, "id=id, type=event_type, key=partition_key, payload=payload, created_at=created_at")
			expect(t, get(t, r, "slot.uncovered_rows", "public.outbox"), OK, "no rows")
		})
	}
}

// TestNothingThere: everything that is missing is said at once.
func TestNothingThere(t *testing.T) {
	db := pool.NewDB(t)
	db.Exec(t, `CREATE TABLE "Outbox" (id int)`)
	w := wanted(t, db, `public.orders, public."outbox"`, "")
	r := inspect(t, db, w)
	onlyFailures(t, r, "publication.exists", "table.exists", "table.exists", "slot.exists")
	expect(t, get(t, r, "publication.exists", "pub"), Fail, "CREATE PUBLICATION pub FOR TABLE public.orders, public.outbox WITH (publish = 'insert'")
	expect(t, get(t, r, "table.exists", "public.orders"), Fail, "correct OUTBOX_CDC_TABLES")
	expect(t, get(t, r, "table.exists", "public.outbox"), Fail, `there is public."Outbox"`)
	expect(t, get(t, r, "slot.exists", w.Slot), Fail, "outbox-cdc setup")
	var e *Error
	if err := r.Err(); !errors.As(err, &e) || len(e.Findings) != 4 || strings.Count(err.Error(), "\n") != 3 {
		t.Errorf("Err: %v", r.Err())
	}
}

func TestPublicationFaults(t *testing.T) {
	db := pool.NewDB(t)
	db.Exec(t, outboxDDL+strings.ReplaceAll(outboxDDL, "outbox", "other")+`CREATE PUBLICATION pub FOR TABLE other WITH (publish = 'update')`)
	w := wanted(t, db, "public.outbox", "")
	createSlot(t, db, w)
	r := inspect(t, db, w)
	onlyFailures(t, r, "publication.publish", "publication.tables")
	for _, name := range failures(r) {
		remedy := get(t, r, name, "").Remedy
		sql, ok := strings.CutPrefix(remedy, "run ")
		if !ok {
			t.Fatalf("remedy %q", remedy)
		}
		db.Exec(t, sql) // what the operator is told works as it stands
	}
	onlyFailures(t, inspect(t, db, w))
	db.Exec(t, `ALTER PUBLICATION pub SET (publish = 'insert, update, delete, truncate')`)
	expect(t, get(t, inspect(t, db, w), "publication.publish", ""), OK, "the rest is ignored")
}

// TestColumnsOfThePublication: only what is sent can have a role.
func TestColumnsOfThePublication(t *testing.T) {
	server := pool.Server(t, 0)
	if server.Major() < 15 { // 14 knows neither column lists nor row filters
		server = pool.Server(t, 15)
	}
	db := server.NewDB(t)
	db.Exec(t, outboxDDL+`
		CREATE PUBLICATION pub FOR TABLE outbox (id, event_type, payload) WHERE (event_type <> 'x') WITH (publish = 'insert');
		CREATE TABLE gen (id int, event_type text, payload text, partition_key text GENERATED ALWAYS AS (id::text) STORED);
		ALTER PUBLICATION pub ADD TABLE gen;
		CREATE DOMAIN bytes AS bytea; CREATE DOMAIN bytes2 AS bytes;
		CREATE TABLE dom (eid int, event_type text, partition_key text, payload bytes2);
		ALTER TABLE dom ADD gone text; ALTER TABLE dom DROP gone;
		ALTER PUBLICATION pub ADD TABLE dom;`)
	w := wanted(t, db, "public.outbox, public.gen, public.dom", "public.dom: id=eid")
	createSlot(t, db, w)
	r := inspect(t, db, w)
	onlyFailures(t, r, "table.columns", "table.columns")
	expect(t, get(t, r, "table.columns", "public.outbox"), Fail, `no column for role "key"`, "a column list in the publication")
	expect(t, get(t, r, "table.columns", "public.gen"), Fail, `no column for role "key"`, "generated columns are not sent before PostgreSQL 18")
	expect(t, get(t, r, "publication.row_filter", "public.outbox"), Warn, "event_type <> 'x'")
	if len(r.Tables) != 1 {
		t.Fatalf("tables %v", r.Tables)
	}
	if _, oid, _ := r.Tables[0].Column(decoder.RolePayload); oid != decoder.OIDBytea {
		t.Errorf("a domain over a domain over bytea is type %d", oid)
	}
	if n := len(r.Tables[0].Relation.Columns); n != 4 {
		t.Errorf("%d columns, want 4 without the dropped one", n)
	}
	db.Exec(t, `ALTER PUBLICATION pub SET (publish = 'insert, update')`)
	expect(t, get(t, inspect(t, db, w), "publication.row_filter", "public.outbox"), Fail, "would arrive as an insert")
}

// TestGeneratedColumnsOn18: 18 sends them when the publication says so.
func TestGeneratedColumnsOn18(t *testing.T) {
	db := pool.Server(t, 18).NewDB(t)
	db.Exec(t, `CREATE TABLE gen (id int, event_type text, payload text, partition_key text GENERATED ALWAYS AS (id::text) STORED);
		CREATE PUBLICATION pub FOR TABLE gen WITH (publish = 'insert');`)
	w := wanted(t, db, "public.gen", "")
	createSlot(t, db, w)
	onlyFailures(t, inspect(t, db, w), "table.columns")
	db.Exec(t, `ALTER PUBLICATION pub SET (publish_generated_columns = stored)`)
	onlyFailures(t, inspect(t, db, w))
}

func TestTablesThatAreNotInTheLog(t *testing.T) {
	db := pool.NewDB(t)
	db.Exec(t, outboxDDL+`
		CREATE VIEW v AS SELECT * FROM outbox;
		CREATE MATERIALIZED VIEW m AS SELECT * FROM outbox;
		CREATE UNLOGGED TABLE u (LIKE outbox);
		CREATE PUBLICATION pub FOR TABLE outbox WITH (publish = 'insert');`)
	w := wanted(t, db, "public.v, public.m, public.u, public.outbox", "")
	createSlot(t, db, w)
	r := inspect(t, db, w)
	onlyFailures(t, r, "table.kind", "table.kind", "table.kind")
	expect(t, get(t, r, "table.kind", "public.v"), Fail, "is a view")
	expect(t, get(t, r, "table.kind", "public.m"), Fail, "is a materialized view")
	expect(t, get(t, r, "table.kind", "public.u"), Fail, "is unlogged", "ALTER TABLE public.u SET LOGGED;")
}

func TestPartitions(t *testing.T) {
	db := pool.NewDB(t)
	db.Exec(t, `
		CREATE TABLE outbox (id int, event_type text, partition_key text, payload text, created_at timestamptz, region text) PARTITION BY RANGE (created_at);
		CREATE TABLE outbox_1 PARTITION OF outbox DEFAULT;
		CREATE TABLE byregion (LIKE outbox) PARTITION BY LIST (region);
		CREATE TABLE byexpr (LIKE outbox) PARTITION BY LIST (lower(region));
		CREATE PUBLICATION pub FOR TABLE outbox, byregion, byexpr WITH (publish = 'insert');`)
	w := wanted(t, db, "public.outbox", "")
	createSlot(t, db, w)
	r := inspect(t, db, w)
	onlyFailures(t, r, "publication.partition_root")
	expect(t, get(t, r, "publication.partition_root", ""), Fail, "ALTER PUBLICATION pub SET (publish_via_partition_root = true);")

	leaf := Want{Slot: w.Slot, Publication: "pub", Tables: tables(t, "public.outbox_1", "")}
	onlyFailures(t, inspect(t, db, leaf))
	db.Exec(t, `ALTER PUBLICATION pub SET (publish_via_partition_root = true)`)
	onlyFailures(t, inspect(t, db, w))
	r = inspect(t, db, leaf)
	onlyFailures(t, r, "publication.partition_root")
	expect(t, get(t, r, "publication.partition_root", ""), Fail, "name public.outbox in OUTBOX_CDC_TABLES instead")

	all := Want{Slot: w.Slot, Publication: "pub", Tables: tables(t, "public.outbox, public.byregion, public.byexpr", "")}
	r = inspect(t, db, all)
	expect(t, get(t, r, "table.partition_key", "public.byregion"), Warn, "partitioned by region", "as a new event")
	expect(t, get(t, r, "table.partition_key", "public.byexpr"), Warn, "an expression")
	if strings.Contains(text(r), "table.partition_key public.outbox") {
		t.Errorf("created_at does not change:\n%s", text(r))
	}
}

func TestNamesAreFolded(t *testing.T) {
	db := pool.NewDB(t)
	db.Exec(t, outboxDDL+`CREATE SCHEMA "Billing"; CREATE TABLE "Billing"."Out box" (LIKE outbox);
		CREATE PUBLICATION pub FOR TABLE outbox, "Billing"."Out box" WITH (publish = 'insert')`)
	w := wanted(t, db, `Public.OUTBOX, "Billing"."Out box"`, "")
	createSlot(t, db, w)
	r := inspect(t, db, w)
	onlyFailures(t, r)
	get(t, r, "table.columns", "public.outbox")
	get(t, r, "table.columns", `"Billing"."Out box"`)
	db.Exec(t, `CREATE SCHEMA "Public"; CREATE TABLE "Public".outbox (LIKE outbox)`)
	r = inspect(t, db, w)
	onlyFailures(t, r, "table.exists")
	expect(t, get(t, r, "table.exists", `"Public"."OUTBOX"`), Fail, `could be "Public".outbox or public.outbox`)
}

// TestUncoveredRows: before there is a slot, and just after, rows that were
// there already are a warning.
func TestUncoveredRows(t *testing.T) {
	db := pool.NewDB(t)
	db.Exec(t, outboxDDL+`CREATE PUBLICATION pub FOR TABLE outbox WITH (publish = 'insert');
		INSERT INTO outbox SELECT gen_random_uuid(), 'a', 'k', '{}' FROM generate_series(1, 3);`)
	w := wanted(t, db, "public.outbox", "")
	const name = "slot.uncovered_rows"
	expect(t, get(t, inspect(t, db, w), name, ""), Warn, "3 rows are from before the slot")
	createSlot(t, db, w)
	db.Exec(t, `INSERT INTO outbox SELECT gen_random_uuid(), 'a', 'k', '{}'`)
	expect(t, get(t, inspect(t, db, w), name, ""), Warn, "3 rows are from before the slot")
	db.Exec(t, `SELECT count(*) FROM pg_logical_slot_peek_binary_changes('`+w.Slot+`', NULL, NULL, 'proto_version', '1', 'publication_names', 'pub')`)
	// PostgreSQL 14 writes statistics down by and by.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for db.Text(t, "SELECT total_txns > 0 FROM pg_stat_replication_slots WHERE slot_name = '"+w.Slot+"'") != "true" {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("the slot has no statistics")
		}
	}
	// What the slot has read since may have been delivered by it.
	expect(t, get(t, inspect(t, db, w), name, ""), OK, "3 rows are from before the slot or were delivered")
	db.Exec(t, `ALTER TABLE outbox ENABLE ROW LEVEL SECURITY`)
	expect(t, get(t, inspect(t, db, w), name, ""), Skip, "row-level security")
}

func TestLargeTablesAreEstimated(t *testing.T) {
	db := pool.NewDB(t)
	db.Exec(t, outboxDDL+`CREATE PUBLICATION pub FOR TABLE outbox WITH (publish = 'insert');
		INSERT INTO outbox SELECT gen_random_uuid(), 'a', 'k', '{}' FROM generate_series(1, 100001);`)
	w := wanted(t, db, "public.outbox", "")
	expect(t, get(t, inspect(t, db, w), "slot.uncovered_rows", ""), Warn, "about 100000 rows")
	db.Exec(t, `ANALYZE outbox`)
	expect(t, get(t, inspect(t, db, w), "slot.uncovered_rows", ""), Warn, "about 100001 rows")
}

// TestLeastPrivilege: a role with LOGIN REPLICATION and no rights on the table
// can check everything but count rows.
func TestLeastPrivilege(t *testing.T) {
	db := pool.NewDB(t)
	role := "r_" + db.Name
	db.Exec(t, outboxDDL+`CREATE PUBLICATION pub FOR TABLE outbox WITH (publish = 'insert'); CREATE ROLE `+role+` LOGIN REPLICATION;`)
	t.Cleanup(func() { dropRole(t, db, role) })
	w := wanted(t, db, "public.outbox", "")
	createSlot(t, db, w)
	conn, err := pgx.Connect(t.Context(), db.Server.URL(db.Name, role))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	r, err := Inspect(t.Context(), conn, w)
	if err != nil {
		t.Fatal(err)
	}
	onlyFailures(t, r)
	expect(t, get(t, r, "role.replication", role), OK)
	expect(t, get(t, r, "slot.uncovered_rows", ""), Skip, "needs SELECT")
	db.Exec(t, `ALTER ROLE `+role+` NOREPLICATION`)
	if r, err = Inspect(t.Context(), conn, w); err != nil {
		t.Fatal(err)
	}
	onlyFailures(t, r, "role.replication")
}

func dropRole(t *testing.T, db *pgtest.DB, role string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), db.URL())
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.PgConn().Exec(context.Background(), "DROP OWNED BY "+role+"; DROP ROLE "+role).ReadAll(); err != nil {
		t.Error(err)
	}
}

func TestReadSlotOfNone(t *testing.T) {
	s, err := ReadSlot(t.Context(), pool.NewDB(t).Conn(t), "no_such_slot")
	if s != nil || err != nil {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestInspectWithoutServer(t *testing.T) {
	db := pool.NewDB(t)
	conn := db.Conn(t)
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := Inspect(t.Context(), conn, wanted(t, db, "public.outbox", "")); err == nil || !strings.HasPrefix(err.Error(), "read the server's") {
		t.Errorf("got %v", err)
	}
}

func TestFindingJSON(t *testing.T) {
	b, err := json.Marshal(Finding{Name: "a.b", Status: Warn, Subject: "s", Message: "m"})
	if want := `{"name":"a.b","status":"warn","subject":"s","message":"m","remedy":""}`; err != nil || string(b) != want {
		t.Errorf("got %s, %v", b, err)
	}
	if got := (Finding{Name: "a", Message: "m", Remedy: "r"}).String(); got != "a: m; r" {
		t.Errorf("got %q", got)
	}
}
