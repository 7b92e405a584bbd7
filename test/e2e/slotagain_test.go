package e2e

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// replaceSlot is what an administrator does to a slot that is in use: it is
// taken away as soon as the server lets go of it, and then comes the rest.
func replaceSlot(slot, rest string) string {
	return fmt.Sprintf(`DO $$ BEGIN
		LOOP
			BEGIN
				PERFORM pg_terminate_backend(active_pid, 10000) FROM pg_replication_slots WHERE slot_name = '%[1]s';
				PERFORM pg_drop_replication_slot('%[1]s');
				EXIT;
			EXCEPTION WHEN object_in_use THEN NULL;
			END;
		END LOOP;
	END $$; %[2]s`, slot, rest)
}

func (r *rig) dropSlot() {
	r.tb.Helper()
	r.db.Exec(r.tb, replaceSlot(r.slot, ""))
}

// remembers are the settings of a connector that writes its checkpoint often.
func (r *rig) remembers() settings { return r.settings.with(settings{"OFFSET_INTERVAL": "1s"}) }

// TestSlotMadeAgain: a slot that was dropped is held, and so is another one of
// its name, until an operator says that the rows in between are known.
func TestSlotMadeAgain(t *testing.T) { onOldAndNew(t, "dies", testSlotMadeAgain) }

// onOldAndNew runs a test in both of its ways on the oldest and the newest major.
func onOldAndNew(t *testing.T, way string, test func(t *testing.T, r *rig, way bool)) {
	t.Helper()
	t.Parallel()
	for _, major := range []int{14, 18} {
		for _, is := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d %s %v", major, way, is), func(t *testing.T) {
				t.Parallel()
				test(t, newRig(t, pool.Server(t, major), 1), is)
			})
		}
	}
}

func testSlotMadeAgain(t *testing.T, r *rig, dies bool) {
	t.Helper()
	r.db.Exec(t, "GRANT USAGE ON SCHEMA app TO "+role+"; GRANT SELECT ON app.outbox TO "+role)
	w := r.watch()
	c := startReady(t, r.remembers())
	low := r.end()
	r.insert(1, 50, "a", "b")
	end := r.end()
	r.remembered(r.end())
	r.settle()
	if dies {
		c.kill()
		r.inactive()
	}
	r.dropSlot()
	if dies {
		c = start(t, r.remembers())
		c.held("slot.exists "+r.slot, "does not exist", "outbox-cdc setup")
	} else {
		c.held("slot.exists "+r.slot, "does not exist", "outbox-cdc setup", "confirmed so far: ")
		if said := confirmedSoFar(t, c); said < end {
			t.Errorf("it says that %v was confirmed, after %v", said, end)
		}
	}
	r.insert(51, 60, "lost")
	r.setup(t)
	from := c.gap()
	if from < low || from >= r.slotNow().confirmed {
		t.Errorf("the gap begins at %v; rows were lost above %v", from, end)
	}
	r.insert(61, 70, "a", "b")
	stood := r.slotNow()
	c.stop()
	c = start(t, r.remembers().with(settings{"ACCEPT_GAP": (from + 1).String()}))
	c.held("gap from LSN "+from.String(), "OUTBOX_CDC_ACCEPT_GAP="+from.String(), (from+1).String()+", which is set, is another gap")
	if now := r.slotNow(); now != stood || r.stored(topic) != 100 {
		t.Errorf("held, the slot went from %v to %v, with %d records", stood, now, r.stored(topic))
	}
	c.stop()

	accepts := r.remembers().with(settings{"ACCEPT_GAP": from.String()})
	c = startReady(t, accepts)
	if line := c.log.find(beyondGap); line == nil || text(line, "from") != from.String() || text(line, "to") != stood.confirmed.String() {
		t.Errorf("the log says %v of the gap from %v to %v", line, from, stood.confirmed)
	}
	r.db.Exec(t, "DELETE FROM app.outbox WHERE partition_key = 'lost'") // delivered by an operator
	r.settle()
	r.verify(w, allowed{})
	// Left in the environment, it accepts no other gap.
	r.dropSlot()
	r.insert(71, 80, "lost")
	r.createSlot()
	if again := c.gap(); again <= from {
		t.Errorf("the second gap begins at %v, the first at %v", again, from)
	}
	c.stop()
	c = start(t, accepts)
	c.held("gap from LSN", from.String()+", which is set, is another gap")
}

// TestSlotMadeAgainAtOnce: between two lives of the connector somebody makes the
// slot again. Who may read the table sees whether anything is missing. (On 14 the
// statistics of the slot that was are still shown under its name.)
func TestSlotMadeAgainAtOnce(t *testing.T) { onOldAndNew(t, "lost", testSlotMadeAgainAtOnce) }

func testSlotMadeAgainAtOnce(t *testing.T, r *rig, lost bool) {
	t.Helper()
	w := r.watch()
	c := startReady(t, r.remembers())
	r.insert(1, 50, "a", "b")
	r.remembered(r.end())
	r.settle()
	c.stop()
	r.dropSlot()
	if lost {
		r.insert(51, 55, "lost")
	}
	r.createSlot()
	c = start(t, r.remembers())
	from := c.gap()
	c.held("OUTBOX_CDC_ACCEPT_GAP="+from.String(), "SELECT on the outbox tables")
	r.db.Exec(t, "GRANT USAGE ON SCHEMA app TO "+role+"; GRANT SELECT ON app.outbox TO "+role)
	if lost {
		eventually(t, patience, "it has looked", func(context.Context) (bool, any) {
			s := c.status()
			return s.State == "held" && !strings.Contains(s.Remedy, "SELECT on the outbox tables"), s
		})
		r.db.Exec(t, "DELETE FROM app.outbox WHERE partition_key = 'lost'") // delivered by an operator
	}
	c.state("streaming")
	r.insert(56, 60, "a", "b")
	r.settle()
	if repeats := r.verify(w, allowed{}); len(repeats) > 0 {
		t.Errorf("repeats: %v", repeats)
	}
}

// TestSlotMadeAgainUnderAnEmptyTable: where rows are deleted as soon as they are
// inserted, that there is none proves nothing.
func TestSlotMadeAgainUnderAnEmptyTable(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	r.db.Exec(t, "GRANT USAGE ON SCHEMA app TO "+role+"; GRANT SELECT ON app.outbox TO "+role)
	c := startReady(t, r.remembers())
	r.insert(1, 50, "a", "b")
	r.remembered(r.end())
	r.settle()
	c.stop()
	r.dropSlot()
	r.insert(51, 55, "lost")
	r.db.Exec(t, "DELETE FROM app.outbox")
	r.createSlot()
	c = start(t, r.remembers())
	from := c.gap()
	c.held("OUTBOX_CDC_ACCEPT_GAP="+from.String(), "that the tables hold no such rows proves nothing")
}

// TestSlotMadeAgainWhileWeConnect: the connector has looked at the slot, and found
// it good; before it has asked for the stream, another one has taken its place.
func TestSlotMadeAgainWhileWeConnect(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	p := r.newProxy(t)
	p.spyOn(func([]byte) {})
	c := startReady(t, r.remembers())
	r.insert(1, 10, "a")
	r.remembered(r.end())
	r.settle()
	c.stop()
	stands := []byte(r.slotNow().confirmed.String())
	var once sync.Once
	p.spyOn(func(said []byte) {
		if bytes.Contains(said, stands) { // the last look
			once.Do(func() {
				r.dropSlot()
				r.insert(11, 20, "lost")
				r.createSlot()
			})
		}
	})
	c = start(t, r.remembers())
	c.gap()
	if c.log.find("streaming") != nil || r.stored(topic) != 10 {
		t.Errorf("%d records; it has streamed from a slot that it had not looked at:\n%s", r.stored(topic), c.log.end(5))
	}
}

// TestSlotMadeAgainWithoutACheckpoint: with OFFSET_STORE=slot nothing is left
// that knows of the slot that was; what was written in between is passed over.
// This is what the table is for.
func TestSlotMadeAgainWithoutACheckpoint(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	own := r.settings.with(settings{"OFFSET_STORE": "slot"})
	c := startReady(t, own)
	r.insert(1, 10, "a")
	r.settle()
	c.stop()
	r.dropSlot()
	r.insert(11, 20, "lost")
	r.createSlot()
	startReady(t, own)
	r.insert(21, 30, "a")
	r.settle()
	if n := r.stored(topic); n != 20 {
		t.Errorf("%d records, want the 20 of the two slots", n)
	}
}
