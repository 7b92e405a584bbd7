package pgstore

import (
	"strconv"
	"testing"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset"
)

// TestSnapshotIsOfWhatIsConfirmed: a snapshot is stored only once everything
// that it sees is confirmed; from then on the tables tell newer rows.
func TestSnapshotIsOfWhatIsConfirmed(t *testing.T) {
	for _, major := range []int{14, 18} {
		t.Run(strconv.Itoa(major), func(t *testing.T) {
			db := pool.Server(t, major).NewDB(t)
			db.Exec(t, "CREATE TABLE outbox (id int) PARTITION BY LIST (id); CREATE TABLE outbox_1 PARTITION OF outbox DEFAULT; CREATE TABLE other (id int)")
			db.Exec(t, "INSERT INTO outbox VALUES (1); INSERT INTO other VALUES (1)")
			s, cp := newStore(t, db), here(t, db)
			save(t, s, cp, 0, true) // takes a snapshot
			save(t, s, cp, 0, true)
			if got := load(t, s, cp.Slot).Snapshot; got != "" {
				t.Fatalf("snapshot %s is stored with nothing confirmed", got)
			}
			end, err := decoder.ParseLSN(db.Text(t, "SELECT pg_current_wal_insert_lsn()"))
			if err != nil {
				t.Fatal(err)
			}
			cp.Confirmed, cp.Ceiling = end, end
			save(t, s, cp, 0, true)
			snapshot := load(t, s, cp.Slot).Snapshot
			tables := []decoder.TableName{{Schema: "public", Name: "other"}, {Schema: "public", Name: "outbox"}}
			answer := func(want offset.NewerRows) {
				t.Helper()
				if got, err := s.NewerRows(t.Context(), tables, snapshot); got != want || err != nil {
					t.Errorf("snapshot %q: %v, %v, want %v", snapshot, got, err, want)
				}
			}
			answer(offset.NewerNone)
			db.Exec(t, "BEGIN; SAVEPOINT a; INSERT INTO outbox VALUES (2); ROLLBACK TO a; COMMIT")
			db.Exec(t, "VACUUM outbox")
			answer(offset.NewerNone)
			db.Exec(t, "BEGIN; SAVEPOINT a; INSERT INTO outbox VALUES (2); COMMIT")
			answer(offset.NewerSome)
			db.Exec(t, "VACUUM (FREEZE) outbox")
			answer(offset.NewerSome)
			// A table that keeps nothing cannot tell what was in it.
			db.Exec(t, "DELETE FROM outbox WHERE id = 2")
			answer(offset.NewerNone)
			db.Exec(t, "DELETE FROM other")
			answer(offset.NewerEmptied)
			db.Exec(t, "INSERT INTO outbox VALUES (2)")
			answer(offset.NewerSome)
		})
	}
}

// TestEarlyTransactions: a row whose transaction began before the snapshot and
// ended after it is newer.
func TestEarlyTransactions(t *testing.T) {
	db := pool.NewDB(t)
	db.Exec(t, "CREATE TABLE outbox (id int)")
	s := newStore(t, db)
	tx, err := db.Conn(t).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "INSERT INTO outbox VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	db.Exec(t, "INSERT INTO outbox VALUES (2); DELETE FROM outbox") // the snapshot sees later ones
	snapshot := db.Text(t, "SELECT pg_current_snapshot()")
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := s.NewerRows(t.Context(), []decoder.TableName{{Schema: "public", Name: "outbox"}}, snapshot); got != offset.NewerSome || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestNewerRowsUnknown(t *testing.T) {
	db := pool.NewDB(t)
	role := newRole(t, db)
	db.Exec(t, "CREATE TABLE outbox (id int); ALTER TABLE outbox ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON outbox USING (true); GRANT SELECT ON outbox TO "+role)
	s := storeAt(t, db.Server.URL(db.Name, role))
	outbox := []decoder.TableName{{Schema: "public", Name: "outbox"}}
	for title, tc := range map[string]struct {
		tables   []decoder.TableName
		snapshot string
		fails    bool
	}{
		"no snapshot":        {outbox, "", false},
		"no table":           {nil, "1:1:", false},
		"row-level security": {outbox, "1:1:", false},
		"missing table":      {[]decoder.TableName{{Schema: "public", Name: "gone"}}, "1:1:", false},
		"no snapshot's form": {outbox, "x", true},
		"xmin of 0":          {outbox, "0:1:", true},
	} {
		if got, err := s.NewerRows(t.Context(), tc.tables, tc.snapshot); got != offset.NewerUnknown || (err != nil) != tc.fails {
			t.Errorf("%s: %v, %v", title, got, err)
		}
	}
}
