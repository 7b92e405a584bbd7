package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// TestColumnsAltered: what a table may go through in mid-stream without a word:
// columns that come, go, change their type and their name, where the mapping
// has both names. An ALTER that writes the table anew sends nothing twice.
func TestColumnsAltered(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	w := r.watch()
	c := startReady(t, r.settings.with(settings{"COLUMNS": "type=kind|event_type"}))
	pid := r.slotNow().pid
	for i, alter := range []string{
		"ADD headers jsonb DEFAULT '{\"h\": \"1\"}'", "ADD note text DEFAULT 'n'", "DROP note", "DROP headers",
		"RENAME event_type TO kind", "ALTER payload TYPE text", "ALTER id TYPE varchar(100)", "ALTER payload SET NOT NULL",
	} {
		r.insert(10*i+1, 10*i+2, "a", "b")
		conn := r.db.Conn(t)
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		// Also within one transaction, before and after.
		for _, sql := range []string{
			fmt.Sprintf("INSERT INTO app.outbox VALUES ('a:%08d', 'E', 'a', '{}')", 10*i+3), "ALTER TABLE app.outbox " + alter,
			fmt.Sprintf("INSERT INTO app.outbox VALUES ('a:%08d', 'E', 'a', '{}')", 10*i+4),
		} {
			if _, err := tx.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	r.insert(101, 102, "a", "b")
	r.settle()
	c.state("streaming")
	if now := r.slotNow().pid; now != pid {
		t.Errorf("the session was %d and is %d", pid, now)
	}
	if repeats := r.verify(w, allowed{}); len(repeats) != 0 {
		t.Errorf("repeats: %v", repeats)
	}
}

// TestColumnRenamed: a required column that cannot be found holds the stream;
// rows keep the name that the column had when they were written, so the remedy
// is the mapping.
func TestColumnRenamed(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	w := r.watch()
	c := startReady(t, r.settings)
	r.insert(1, 3, "a")
	r.db.Exec(t, "ALTER TABLE app.outbox RENAME payload TO body")
	end := r.insert(4, 6, "a")
	c.held("app.outbox", "payload", "OUTBOX_CDC_COLUMNS")
	if s := r.slotNow(); s.confirmed >= end {
		t.Errorf("the slot went to %v over rows that end at %v", s.confirmed, end)
	}
	r.db.Exec(t, "ALTER TABLE app.outbox RENAME body TO payload")
	c.held("app.outbox", "payload")
	c.stop()
	startReady(t, r.settings.with(settings{"COLUMNS": "payload=payload|body"}))
	r.insert(7, 9, "a")
	r.settle()
	r.verify(w, allowed{deaths: []death{{ends: r.ends(topic)}}})
}

// TestTableRenamed: rows of a table that no longer has its configured name are
// not passed over as somebody else's, whether or not a connector was running
// when it was renamed, and they are delivered once it has its name again.
func TestTableRenamed(t *testing.T) {
	t.Parallel()
	for name, there := range map[string]struct{ rename, back, now string }{
		"name":   {"ALTER TABLE app.outbox RENAME TO old", "ALTER TABLE app.old RENAME TO outbox", "app.old"},
		"schema": {"ALTER TABLE app.outbox SET SCHEMA public", "ALTER TABLE public.outbox SET SCHEMA app", "public.outbox"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil, 1)
			w := r.watch()
			insert := func(id, table string) {
				r.db.Exec(t, "INSERT INTO "+table+" VALUES ('a:"+id+"', 'E', 'a', '{}')")
			}
			c := startReady(t, r.settings)
			insert("1", "app.outbox")
			r.settle()
			r.db.Exec(t, there.rename)
			insert("2", there.now)
			c.held("table.exists app.outbox", "does not exist")
			if !strings.Contains(c.log.String(), "was app.outbox before") {
				t.Errorf("nothing says that the table was renamed:\n%s", c.log.end(5))
			}
			if n := r.stored(topic); n != 1 {
				t.Errorf("%d records", n)
			}
			r.db.Exec(t, there.back)
			c.state("streaming")
			insert("3", "app.outbox")
			r.settle()

			c.stop()
			insert("4", "app.outbox")
			r.db.Exec(t, there.rename)
			insert("5", there.now)
			c = start(t, r.settings)
			c.held("table.exists app.outbox", "does not exist")
			r.db.Exec(t, there.back)
			c.state("streaming")
			insert("6", "app.outbox")
			r.settle()
			r.verify(w, allowed{})
		})
	}
}

// TestTableMadeAgain: a table that was dropped and made again is another one,
// which the publication has to take in. It is found at the next connect.
func TestTableMadeAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	c := startReady(t, r.settings)
	r.insert(1, 3, "a")
	r.settle()
	r.db.Exec(t, `DROP TABLE app.outbox; CREATE TABLE app.outbox (id text PRIMARY KEY, event_type text, partition_key text, payload jsonb)`)
	r.endSession(t)
	c.held("publication.tables app.outbox", "is not in publication ob_pub", "ALTER PUBLICATION ob_pub ADD TABLE app.outbox")
	r.db.Exec(t, "ALTER PUBLICATION ob_pub ADD TABLE app.outbox")
	c.state("streaming")
	r.insert(4, 6, "a")
	r.settle()
	if got := r.ids("a"); got != "1 2 3 4 5 6" {
		t.Errorf("delivered: %s", got)
	}
}
