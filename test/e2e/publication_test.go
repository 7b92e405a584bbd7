package e2e

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// beyondGap is what the connector logs when an operator has accepted a gap.
const beyondGap = "going on beyond a gap, as OUTBOX_CDC_ACCEPT_GAP says; rows in between were not delivered"

var gapText = regexp.MustCompile(`gap from LSN ([0-9A-F]+/[0-9A-F]+)`)

// gap waits for a hold over a gap, and returns where it begins.
func (c *connector) gap() decoder.LSN {
	c.tb.Helper()
	c.held("gap from LSN", "OUTBOX_CDC_ACCEPT_GAP=")
	found := gapText.FindStringSubmatch(c.status().Reason)
	if found == nil {
		c.tb.Fatalf("no gap in %q", c.status().Reason)
	}
	at, err := decoder.ParseLSN(found[1])
	if err != nil {
		c.tb.Fatal(err)
	}
	return at
}

// ids are the events in the topic, by key in the order of their partition.
func (r *rig) ids(key string) string {
	r.tb.Helper()
	var ids []string
	for _, rec := range r.records(topic) {
		if string(rec.key) == key {
			ids = append(ids, strings.TrimLeft(strings.TrimPrefix(rec.id, key+":"), "0"))
		}
	}
	return strings.Join(ids, " ")
}

// TestPublicationGap: rows that were written while there was no publication are
// not in the stream, and what comes after them is not sent as if nothing had
// been, until an operator says so. Up to 17 the server fails, 18 only warns.
func TestPublicationGap(t *testing.T) {
	t.Parallel()
	for _, major := range []int{14, 17, 18} {
		t.Run(strconv.Itoa(major), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, pool.Server(t, major), 1)
			c := startReady(t, r.settings)
			r.insert(1, 3, "a")
			r.settle()
			r.db.Exec(t, "DROP PUBLICATION ob_pub")
			end := r.insert(4, 6, "a")
			c.held("ob_pub", "does not exist", "CREATE PUBLICATION")
			r.db.Exec(t, "CREATE PUBLICATION ob_pub FOR TABLE app.outbox")
			from := c.gap()
			r.insert(7, 9, "a")
			elapse(t, 2*time.Second, func() {
				if s := r.slotNow(); s.confirmed > from || from >= end {
					t.Fatalf("the slot stands at %v; the gap begins at %v, and the lost rows end at %v", s.confirmed, from, end)
				}
			})
			if again := c.gap(); again != from {
				t.Errorf("the gap began at %v, then at %v", from, again)
			}
			c.stop()

			// Other gaps than this one were not accepted. What the slot has on
			// record may be a little below what the first process named.
			for _, other := range []decoder.LSN{1, 1 << 40} {
				c = start(t, r.settings.with(settings{"ACCEPT_GAP": other.String()}))
				if again := c.gap(); again > from {
					t.Errorf("after a restart the gap begins at %v, not %v", again, from)
				}
				c.stop()
			}

			c = startReady(t, r.settings.with(settings{"ACCEPT_GAP": from.String()}))
			line := c.log.find(beyondGap)
			if line == nil {
				t.Fatal("the log says nothing of the gap")
			}
			if at, err := decoder.ParseLSN(line["from"].(string)); err != nil || at > from {
				t.Errorf("the log says %v, want the gap from %v", line, from)
			}
			r.insert(10, 12, "a")
			r.settle()
			if got := r.ids("a"); got != "1 2 3 10 11 12" {
				t.Errorf("delivered: %s", got)
			}
			if to, err := decoder.ParseLSN(line["to"].(string)); err != nil || to < end || to > r.end() {
				t.Errorf("the gap is said to end at %v, %v", to, err)
			}
			c.stop()
			// Left in the environment, it means nothing any more.
			startReady(t, r.settings.with(settings{"ACCEPT_GAP": from.String()}))
			r.insert(13, 13, "a")
			r.settle()
			if got := r.ids("a"); got != "1 2 3 10 11 12 13" {
				t.Errorf("delivered: %s", got)
			}
		})
	}
}

// TestPublicationMadeAgain: with nothing written in between nothing is missing,
// and nobody has to do anything.
func TestPublicationMadeAgain(t *testing.T) {
	t.Parallel()
	for _, major := range []int{17, 18} {
		t.Run(strconv.Itoa(major), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, pool.Server(t, major), 1)
			c := startReady(t, r.settings)
			r.insert(1, 3, "a")
			r.settle()
			pid := r.slotNow().pid
			r.db.Exec(t, "DROP PUBLICATION ob_pub; CREATE PUBLICATION ob_pub FOR TABLE app.outbox")
			r.insert(4, 6, "a")
			r.settle()
			c.state("streaming")
			if got := r.ids("a"); got != "1 2 3 4 5 6" || r.slotNow().pid != pid {
				t.Errorf("delivered: %s; the session was %d and is %d", got, pid, r.slotNow().pid)
			}
			// Between two sessions it is seen when it connects.
			c.stop()
			r.db.Exec(t, "DROP PUBLICATION ob_pub")
			c = start(t, r.settings)
			c.held("publication.exists", "ob_pub", "CREATE PUBLICATION")
			r.db.Exec(t, "CREATE PUBLICATION ob_pub FOR TABLE app.outbox")
			c.state("streaming")
			r.insert(7, 7, "a")
			r.settle()
			if got := r.ids("a"); got != "1 2 3 4 5 6 7" {
				t.Errorf("delivered: %s", got)
			}
		})
	}
}

// TestPublicationUnfit: a publication that does not send all of the events is
// refused at the next connect, with the statement that mends it.
func TestPublicationUnfit(t *testing.T) {
	t.Parallel()
	server := pool.Server(t, 0)
	if server.Major() < 15 { // 14 knows neither column lists nor row filters
		server = pool.Server(t, 15)
	}
	r := newRig(t, server, 1)
	c := startReady(t, r.settings)
	next := 1
	for _, test := range []struct {
		name, alter, mend string
		says              []string
	}{
		{
			"table", "ALTER PUBLICATION ob_pub SET TABLE app.noise", "ALTER PUBLICATION ob_pub ADD TABLE app.outbox",
			[]string{"publication.tables app.outbox", "is not in publication ob_pub", "ALTER PUBLICATION ob_pub ADD TABLE app.outbox"},
		},
		{
			"insert", "ALTER PUBLICATION ob_pub SET (publish = 'update, delete')", "ALTER PUBLICATION ob_pub SET (publish = 'insert')",
			[]string{"publication.publish ob_pub", "does not publish inserts", "SET (publish = 'insert')"},
		},
		{
			"columns", "ALTER PUBLICATION ob_pub SET TABLE app.outbox (id, event_type, partition_key)", "ALTER PUBLICATION ob_pub SET TABLE app.outbox",
			[]string{"table.columns app.outbox", "payload", "column list"},
		},
		{
			"filter", "ALTER PUBLICATION ob_pub SET TABLE app.outbox WHERE (id > ''); ALTER PUBLICATION ob_pub SET (publish = 'insert, update')",
			"ALTER PUBLICATION ob_pub SET (publish = 'insert')",
			[]string{"publication.row_filter app.outbox", "row filter", "SET (publish = 'insert')"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c.tb = t
			r.db.Exec(t, test.alter)
			r.endSession(t)
			c.held(test.says...)
			r.db.Exec(t, test.mend)
			c.state("streaming")
			r.insert(next, next, "a")
			r.settle()
			if n := r.stored(topic); n != int64(next) {
				t.Errorf("%d records, want %d", n, next)
			}
			next++
		})
	}
	c.tb = t
}

// endSession terminates the walsender, and waits until it is gone.
func (r *rig) endSession(t *testing.T) {
	t.Helper()
	pid := r.slotNow().pid
	r.db.Exec(t, "SELECT pg_terminate_backend("+strconv.Itoa(pid)+")")
	eventually(t, patience, "the session ends", func(context.Context) (bool, any) {
		now := r.slotNow().pid
		return now != pid, now
	})
}
