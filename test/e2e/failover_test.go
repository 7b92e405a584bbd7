package e2e

import (
	"strconv"
	"testing"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/pgtest"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// failoverMajors have slots that go over to a standby.
var failoverMajors = []int{17, 18}

// TestFailover: the primary dies under load, and the standby has everything that
// was streamed, because synchronized_standby_slots made the stream wait for it.
// Its slot is from long before. A process that lives on repeats nothing; one that
// is started again goes on at its checkpoint.
func TestFailover(t *testing.T) {
	t.Parallel()
	for _, major := range failoverMajors {
		for _, dies := range []bool{false, true} {
			t.Run(strconv.Itoa(major)+" connector dies "+strconv.FormatBool(dies), func(t *testing.T) {
				t.Parallel()
				f := newCouple(t, major, map[string]string{"synchronized_standby_slots": pgtest.StandbySlot})
				c := startReady(t, f.settings.with(settings{"OFFSET_INTERVAL": "1s"}))
				f.insert(1, 20, "d", "e")
				f.settle()
				f.sync(t)
				synced := f.after.slotNow().confirmed
				writer := f.startLoad(3*time.Millisecond, 3, "a", "b", "c")
				writer.more(200)
				f.after.remembered(synced + 1)
				if dies {
					c.kill()
				}
				at := f.failOver(t, pgtest.Immediate)
				writer.stop()
				before := f.rescued(t)
				w := f.after.watch()
				if dies {
					c = start(t, f.settings)
				}
				c.state("streaming")
				f.after.insert(21, 50, "d", "e")
				f.after.settle()
				f.neverAbove(t, at)
				repeats := f.after.verify(w, allowed{deaths: []death{before}})
				if !dies && len(repeats) > 0 {
					t.Errorf("events of %d transactions were repeated though the process lived on", len(repeats))
				}
				if line := c.log.find(ghostAlert); line != nil {
					t.Errorf("nothing was lost, but the log says %v", line)
				}
			})
		}
	}
}

// TestGhostEvents: the primary dies with WAL that the standby has never got, but
// that was streamed and confirmed. What the new primary has is delivered, at
// positions that the lost rows had, too; and the lost range is named by a
// process that had seen it.
func TestGhostEvents(t *testing.T) {
	t.Parallel()
	for _, major := range failoverMajors {
		for _, connector := range []string{"lives on", "is stuck", "dies"} {
			t.Run(strconv.Itoa(major)+" connector "+connector, func(t *testing.T) {
				t.Parallel()
				testGhostEvents(t, newCouple(t, major, nil), connector)
			})
		}
	}
}

func testGhostEvents(t *testing.T, f *couple, connector string) {
	t.Helper()
	c := startReady(t, f.settings.with(settings{"OFFSET_INTERVAL": "1s"}))
	freezer := f.newFreezer()
	f.insert(1, 100, "a", "b")
	f.settle()
	f.sync(t)
	f.insert(101, 200, "a", "b")
	f.settle()
	if connector == "dies" {
		f.after.remembered(f.after.slotNow().confirmed + 1)
	}
	f.cutOff(t)
	if connector == "is stuck" {
		freezer.freeze()
	}
	for n := range 20 {
		f.insert(1+n*100, 100+n*100, "ghost")
	}
	lost := f.end()
	if connector == "is stuck" {
		eventuallyHolding(t, freezer)
	} else {
		f.settle()
	}
	if connector == "dies" {
		c.kill()
	}
	at := f.failOver(t, pgtest.Immediate)
	before := f.rescued(t)
	if connector == "is stuck" {
		// What it had in flight may arrive at any time from here on.
		before.ends = make([]int64, partitions)
	}
	f.after.insert(201, 300, "a", "b")
	w := f.after.watch()
	if connector == "dies" {
		c = start(t, f.settings)
	}
	freezer.release()
	c.state("streaming")
	for n := range 10 {
		f.after.insert(301+n*10, 310+n*10, "b", "c")
	}
	f.after.settle()
	if end := f.after.end(); end >= lost {
		t.Fatalf("the new primary is at %v already; it proves nothing about positions up to %v", end, lost)
	}
	f.neverAbove(t, at)
	f.after.verify(w, allowed{deaths: []death{before}, ghosts: "ghost"})
	line := c.log.find(ghostAlert)
	if connector == "dies" {
		return // who could have told it?
	}
	from, _ := decoder.ParseLSN(text(line, "from"))
	to, _ := decoder.ParseLSN(text(line, "to"))
	if text(line, "alert") != "GhostEvents" || from != at || to <= from || to > lost {
		t.Errorf("the log says %v; lost is from %v to %v", line, at, lost)
	}
}

// text is a field of a log line.
func text(line map[string]any, name string) string {
	s, _ := line[name].(string)
	return s
}

// TestFailoverInALargeTransaction: the primary dies while a transaction that is
// far larger than the window is half handed out. The new primary has it too, and
// the rest comes from there.
func TestFailoverInALargeTransaction(t *testing.T) {
	t.Parallel()
	for _, major := range failoverMajors {
		t.Run(strconv.Itoa(major), func(t *testing.T) {
			t.Parallel()
			f := newCouple(t, major, nil)
			c := startReady(t, f.settings.with(settings{"MAX_IN_FLIGHT_EVENTS": "1000"}))
			freezer := f.newFreezer()
			f.insert(1, 10, "a")
			f.settle()
			f.sync(t)
			f.insert(1, 15000, "b", "c")
			f.awaitStored(topic, 1000)
			freezer.freeze()
			eventuallyHolding(t, freezer)
			f.catchUp(t)
			if n := f.stored(topic); n >= 30000 {
				t.Fatalf("%d records: the transaction was through already", n)
			}
			at := f.failOver(t, pgtest.Immediate)
			w := f.after.watch()
			freezer.release()
			c.state("streaming")
			f.after.insert(11, 20, "a")
			f.after.settle()
			f.neverAbove(t, at)
			if repeats := f.after.verify(w, allowed{}); len(repeats) > 0 {
				t.Errorf("events of %d transactions were repeated though the process lived on", len(repeats))
			}
		})
	}
}
