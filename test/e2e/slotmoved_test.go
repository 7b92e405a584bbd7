package e2e

import (
	"fmt"
	"testing"
)

// advanceSlot is what an administrator does who is short of disk space: the slot
// is moved to the end of the WAL, whoever uses it.
func (r *rig) advanceSlot() {
	r.tb.Helper()
	r.db.Exec(r.tb, fmt.Sprintf(`DO $$ BEGIN
		LOOP
			BEGIN
				PERFORM pg_terminate_backend(active_pid, 10000) FROM pg_replication_slots WHERE slot_name = '%[1]s';
				PERFORM pg_replication_slot_advance('%[1]s', pg_current_wal_lsn());
				EXIT;
			EXCEPTION WHEN object_in_use THEN NULL;
			END;
		END LOOP;
	END $$`, r.slot))
}

// TestSlotAdvancedByHand: rows that wait for their delivery are passed over by
// somebody who moves the slot. Nothing was reported for it up to there, so that
// is a gap.
func TestSlotAdvancedByHand(t *testing.T) {
	t.Parallel()
	for _, dies := range []bool{false, true} {
		t.Run(fmt.Sprintf("dies %v", dies), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil, 1)
			p := r.newProxy(t)
			p.spyOn(func([]byte) {})
			c := startReady(t, r.remembers())
			r.insert(1, 10, "a")
			r.settle()
			if dies {
				c.stop()
			} else {
				p.set("", nil) // it does not get back to the server
				r.endSession(t)
				c.held("connect to PostgreSQL directly")
			}
			end := r.insert(11, 15, "lost")
			r.advanceSlot()
			if dies {
				c = start(t, r.remembers())
			} else {
				p.spyOn(func([]byte) {})
			}
			from := c.gap()
			c.held("the highest that was ever confirmed for it", "somebody else moved it")
			if stands := r.slotNow().confirmed; from >= end || stands < end {
				t.Errorf("the gap begins at %v and ends at %v; the lost rows end at %v", from, stands, end)
			}
			c.stop()
			c = start(t, r.remembers()) // it is not forgotten
			if again := c.gap(); again != from {
				t.Errorf("the gap began at %v, then at %v", from, again)
			}
			c.stop()
			startReady(t, r.remembers().with(settings{"ACCEPT_GAP": from.String()}))
			r.insert(16, 20, "a")
			r.settle()
			r.db.Exec(t, "DELETE FROM app.outbox WHERE partition_key = 'lost'")
			r.verify(nil, allowed{})
		})
	}
}
