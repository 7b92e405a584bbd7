package e2e

import (
	"context"
	"slices"
	"testing"
	"time"
)

// TestTopicDeleted: a topic that is deleted under load holds the stream. Made
// again, by then or at once, it gets everything that had not been stored before;
// what had been is gone with it.
func TestTopicDeleted(t *testing.T) {
	t.Parallel()
	for name, noticed := range map[string]bool{"noticed": true, "at once": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newKafkaRig(t, nil, nil, nil)
			c := startReady(t, r.settings)
			writer := r.startLoad(2*time.Millisecond, 5, "a", "b", "c", "d")
			writer.more(100)
			r.kafka.DeleteTopic(t, r.topic)
			if noticed {
				writer.more(50)
				end := r.end()
				writer.more(50)
				c.held(r.topic)
				if s := r.slotNow(); s.confirmed >= end {
					t.Errorf("the slot stands at %v, what was committed up to %v is not stored", s.confirmed, end)
				}
			}
			r.recreate()
			writer.more(100)
			writer.stop()
			c.state("streaming")
			r.settle()
			r.verifyTails(20 * 100)
		})
	}
}

// recreate makes the topic again as soon as its deletion is through.
func (r *rig) recreate() {
	r.tb.Helper()
	eventually(r.tb, patience, "the topic is made again", func(context.Context) (bool, any) {
		_, err := r.kafka.Admin().CreateTopic(r.tb.Context(), partitions, 1, nil, r.topic)
		return err == nil, err
	})
}

// verifyTails demands that the topic has the end of the table: of each key the
// last rows, without a gap, in order, and at least so many altogether.
func (r *rig) verifyTails(least int) {
	r.tb.Helper()
	got := map[string][]string{}
	seen := map[string]bool{}
	for _, rec := range r.records(r.topic) {
		if !seen[rec.id] {
			got[string(rec.key)] = append(got[string(rec.key)], rec.id)
		}
		seen[rec.id] = true
	}
	for key, ids := range r.table().keys {
		if tail := ids[max(0, len(ids)-len(got[key])):]; len(got[key]) == 0 || !slices.Equal(got[key], tail) {
			r.tb.Errorf("key %q: %d events from the last %d: %s", key, len(got[key]), len(ids), firstDifference(got[key], tail))
		}
	}
	if len(seen) < least {
		r.tb.Errorf("%d events, want at least the %d after the deletion", len(seen), least)
	}
}
