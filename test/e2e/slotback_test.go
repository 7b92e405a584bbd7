package e2e

import (
	"testing"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// rewindSlot gives the slot the place of a copy of it.
func (r *rig) rewindSlot(copied string) {
	r.tb.Helper()
	r.db.Exec(r.tb, replaceSlot(r.slot, "SELECT pg_copy_logical_replication_slot('"+copied+"', '"+r.slot+"')"))
}

// TestSlotMovedBack: an older copy takes the slot's place. The checkpoint knows
// what was delivered, and nothing is sent again, unless the operator says that
// this is what he wants.
func TestSlotMovedBack(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	old := r.slot + "_old"
	r.db.Exec(t, "SELECT pg_copy_logical_replication_slot('"+r.slot+"', '"+old+"')")
	stood := r.slotNow().confirmed
	c := startReady(t, r.remembers())
	r.insert(1, 50, "a", "b")
	r.settle()
	// While it runs it knows by itself.
	r.rewindSlot(old)
	r.insert(51, 60, "a", "b")
	r.settle()
	c.stop()
	r.rewindSlot(old)
	c = startReady(t, r.remembers())
	r.insert(61, 70, "a", "b")
	r.settle()
	c.stop()
	if repeats := r.verify(nil, allowed{}); len(repeats) > 0 {
		t.Fatalf("with a checkpoint, repeats: %v", repeats)
	}
	if line := c.log.find("checkpoint"); line == nil || text(line, "slot") != stood.String() || text(line, "from") != text(line, "confirmed") {
		t.Errorf("the log says %v; the slot stood at %v", line, stood)
	}

	r.rewindSlot(old)
	before := death{stood: stood, ends: r.ends(topic)}
	c = startReady(t, r.remembers(), "run", "--from=slot")
	r.insert(71, 80, "a", "b")
	r.settle()
	repeats := r.verify(nil, allowed{deaths: []death{before}})
	n := 0
	for _, rows := range repeats {
		n += rows
	}
	if n != 140 {
		t.Errorf("%d repeats, want all of the 140 that were there", n)
	}
	line := c.log.find("the checkpoint is ignored, as --from=slot says")
	if line == nil || text(line, "slot") != stood.String() {
		t.Fatalf("the log says %v; the slot stood at %v", line, stood)
	}
	if at, err := decoder.ParseLSN(text(line, "checkpoint")); err != nil || at <= stood {
		t.Errorf("the log says %v; the slot stood at %v", line, stood)
	}
	// It obeys an operator who moves the slot back, and no slot that was made
	// again, neither while it runs nor when it is started so once more.
	r.dropSlot()
	r.insert(81, 90, "lost")
	r.createSlot()
	from := c.gap()
	c.stop()
	c = start(t, r.remembers(), "run", "--from=slot")
	if again := c.gap(); again != from {
		t.Errorf("the gap begins at %v, then at %v", from, again)
	}
	r.db.Exec(t, "SELECT pg_drop_replication_slot('"+old+"')")
}
