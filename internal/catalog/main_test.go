package catalog

import (
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

var pool = pgtest.NewPool(pgtest.Options{Settings: map[string]string{"max_prepared_transactions": "5", "autovacuum": "off"}})

func TestMain(m *testing.M) { goleak.VerifyTestMain(pool.Main(m)) }

const outboxDDL = `CREATE TABLE outbox (id uuid PRIMARY KEY, event_type text NOT NULL, partition_key text, payload jsonb, created_at timestamptz DEFAULT now());`

// tables parses a TABLES and a COLUMNS text.
func tables(t *testing.T, names, columns string) *decoder.Tables {
	t.Helper()
	list, err := decoder.ParseTables(names)
	if err != nil {
		t.Fatal(err)
	}
	m, err := decoder.ParseMapping(columns)
	if err != nil {
		t.Fatal(err)
	}
	ts, err := decoder.NewTables(list, m)
	if err != nil {
		t.Fatal(err)
	}
	return ts
}

// wanted is a Want with a slot of its own: slots are the whole server's.
func wanted(t *testing.T, db *pgtest.DB, names, columns string) Want {
	t.Helper()
	return Want{Slot: "s_" + db.Name, Publication: "pub", CountRows: true, Tables: tables(t, names, columns)}
}

func inspect(t *testing.T, db *pgtest.DB, w Want) *Report {
	t.Helper()
	r, err := Inspect(t.Context(), db.Conn(t), w)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// get is the only finding of a name, and of a subject if one is given.
func get(t *testing.T, r *Report, name, subject string) Finding {
	t.Helper()
	var found []Finding
	for _, f := range r.Findings {
		if f.Name == name && (subject == "" || f.Subject == subject) {
			found = append(found, f)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d findings %s %s among\n%s", len(found), name, subject, text(r))
	}
	return found[0]
}

func text(r *Report) string {
	var lines []string
	for _, f := range r.Findings {
		lines = append(lines, string(f.Status)+" "+f.String())
	}
	return strings.Join(lines, "\n")
}

// failures are the names of the findings with status Fail, in order.
func failures(r *Report) []string {
	var names []string
	for _, f := range r.Findings {
		if f.Status == Fail {
			names = append(names, f.Name)
		}
	}
	return names
}

// expect demands the status, and parts of the line.
func expect(t *testing.T, f Finding, s Status, parts ...string) {
	t.Helper()
	if f.Status != s {
		t.Errorf("got %s, want %s: %s", f.Status, s, f)
	}
	for _, p := range parts {
		if !strings.Contains(f.String(), p) {
			t.Errorf("%q is not in: %s", p, f)
		}
	}
	if (f.Status == Fail) && f.Remedy == "" {
		t.Errorf("no remedy: %s", f)
	}
	if strings.Contains(f.String(), "\n") {
		t.Errorf("more than one line: %s", f)
	}
}

func onlyFailures(t *testing.T, r *Report, want ...string) {
	t.Helper()
	if got := failures(r); !slices.Equal(got, want) {
		t.Errorf("failures %q, want %q\n%s", got, want, text(r))
	}
}

// createSlot makes a slot that goes with the database.
func createSlot(t *testing.T, db *pgtest.DB, w Want) {
	t.Helper()
	db.Exec(t, createSlotSQL(w.Slot, false))
}
