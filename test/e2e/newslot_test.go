package e2e

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// TestFailoverWithoutASlot: before 17 slots stay behind with the old primary.
// The hold names where we were; setup makes a slot; what lies in between is a gap
// that an operator has to accept, whether or not the process lived on.
func TestFailoverWithoutASlot(t *testing.T) {
	t.Parallel()
	for _, major := range []int{14, 16} {
		for _, connector := range []string{"lives on", "has seen ghosts", "dies"} {
			t.Run(fmt.Sprintf("%d connector %s", major, connector), func(t *testing.T) {
				t.Parallel()
				testFailoverWithoutASlot(t, newCouple(t, major, nil), connector)
			})
		}
	}
}

func testFailoverWithoutASlot(t *testing.T, f *couple, connector string) {
	t.Helper()
	own := f.settings.with(settings{"OFFSET_INTERVAL": "1s"})
	c := startReady(t, own)
	low := f.end()
	f.insert(1, 50, "a", "b")
	f.awaitDelivered(c)
	confirmed, err := decoder.ParseLSN(c.status().Slot.Confirmed)
	if err != nil {
		t.Fatal(err)
	}
	f.after.remembered(low + 1)
	f.catchUp(t)
	dies, ghosts := connector == "dies", connector == "has seen ghosts"
	if dies {
		c.kill()
	}
	mode := pgtest.Fast
	if ghosts {
		mode = pgtest.Immediate
		f.cutOff(t)
		f.insert(1, 10, "ghost")
		f.awaitDelivered(c)
	}
	at := f.failOver(t, mode)
	f.after.insert(51, 60, "lost") // nobody streams this
	if dies {
		c = start(t, own)
		c.held(f.slot, "does not exist", "outbox-cdc setup")
	} else {
		c.held(f.slot, "does not exist", "outbox-cdc setup", "confirmed so far: ", "on timeline 1 of system")
		if said := confirmedSoFar(t, c); said < confirmed {
			t.Errorf("it says that %v was confirmed, after %v", said, confirmed)
		}
	}
	f.after.setup(t)
	from := c.gap()
	if from < low || from > at {
		t.Errorf("the gap begins at %v; the timeline ended at %v", from, at)
	}
	if line := c.log.find(ghostAlert); (line != nil) != ghosts || ghosts && text(line, "from") != at.String() {
		t.Errorf("the log says %v of ghosts beyond %v", line, at)
	}
	f.after.insert(61, 100, "a", "b")
	c.stop()

	c = startReady(t, own.with(settings{"ACCEPT_GAP": from.String()}))
	if line := c.log.find(beyondGap); line == nil || text(line, "from") != from.String() {
		t.Errorf("the log says %v of the gap from %v", line, from)
	}
	f.after.insert(101, 110, "a", "b")
	f.after.settle()
	f.after.db.Exec(t, "DELETE FROM app.outbox WHERE partition_key = 'lost'") // an operator's work
	f.after.verify(nil, allowed{ghosts: "ghost"})
}

// confirmedSoFar is the position in a hold's reason.
func confirmedSoFar(t *testing.T, c *connector) decoder.LSN {
	t.Helper()
	_, rest, _ := strings.Cut(c.status().Reason, "confirmed so far: ")
	position, _, _ := strings.Cut(rest, " ")
	at, err := decoder.ParseLSN(position)
	if err != nil {
		t.Fatalf("%q: %v", c.status().Reason, err)
	}
	return at
}

// setup runs the command as an administrator of this server.
func (r *rig) setup(t *testing.T) {
	t.Helper()
	code, output := command(t, r.settings.with(settings{"DATABASE_URL": r.db.URL()}), "setup", "--role", role)
	if code != 0 {
		t.Fatalf("setup ended with %d:\n%s", code, output)
	}
}

// TestFailoverWithAnOldCheckpoint: the connector dies with the primary, and the
// standby's copy of its checkpoint is from long before its slot. Nobody is left
// who could tell whether the slot is the one that was streamed.
func TestFailoverWithAnOldCheckpoint(t *testing.T) {
	t.Parallel()
	for _, major := range failoverMajors {
		t.Run(strconv.Itoa(major), func(t *testing.T) {
			t.Parallel()
			f := newCouple(t, major, nil)
			c := startReady(t, f.settings.with(settings{"OFFSET_INTERVAL": "10m"}))
			f.remembered(1)
			f.db.Exec(t, "CREATE TABLE old AS SELECT * FROM outbox_cdc.checkpoint")
			f.insert(1, 50, "a", "b")
			f.settle()
			f.sync(t)
			f.insert(51, 100, "a", "b")
			f.settle()
			c.kill()
			f.db.Exec(t, "DELETE FROM outbox_cdc.checkpoint; INSERT INTO outbox_cdc.checkpoint SELECT * FROM old")
			f.catchUp(t)
			f.failOver(t, pgtest.Immediate)
			before := f.rescued(t)
			c = start(t, f.settings)
			from := c.gap()
			c.stop()
			startReady(t, f.settings.with(settings{"ACCEPT_GAP": from.String()}))
			f.after.insert(101, 150, "a", "b")
			f.after.settle()
			f.after.verify(nil, allowed{deaths: []death{before}})
			if starts := f.after.starts(t); !slices.Equal(starts, []decoder.LSN{0}) {
				t.Errorf("started at %v, want the slot's own position", starts)
			}
		})
	}
}
