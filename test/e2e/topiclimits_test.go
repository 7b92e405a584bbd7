package e2e

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// sized inserts an event of key a whose payload has n characters and two quotes.
func (r *rig) sized(id string, n int) {
	r.tb.Helper()
	r.db.Exec(r.tb, fmt.Sprintf(`INSERT INTO app.outbox VALUES ('%s', 'E', 'a', to_jsonb(repeat('x', %d)))`, id, n))
}

var encoded = regexp.MustCompile(`record of (\d+) bytes`)

// tooLarge waits for a halt by the topic's limit, and returns the size that the
// record is said to have.
func (c *connector) tooLarge(t *testing.T, id string) int {
	t.Helper()
	c.state("halted")
	c.halted(t, id, "too_large")
	found := encoded.FindStringSubmatch(c.status().Halted[0].Error)
	if found == nil {
		t.Fatalf("the halt does not tell the size: %+v", c.status().Halted[0])
	}
	size, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return size
}

// TestTopicLimitToTheByte: an event of the size that the topic allows passes a
// real broker, one byte more is not sent, and a raised limit is noticed.
func TestTopicLimitToTheByte(t *testing.T) {
	t.Parallel()
	r := newKafkaRig(t, nil, nil, map[string]string{"max.message.bytes": "2000"})
	w := r.watch()
	c := startReady(t, r.settings)
	r.insert(1, 50, "a")
	r.sized("a:00000051", 3000)
	r.sized("a:00000052", 3001)
	r.insert(53, 100, "a")
	size := c.tooLarge(t, "a:00000051")
	r.awaitStored(r.topic, 50)
	r.alter(r.topic, "max.message.bytes", strconv.Itoa(size))
	eventually(t, patience, "the next event halts", func(context.Context) (bool, any) {
		s := c.status()
		return len(s.Halted) == 1 && s.Halted[0].EventID == "a:00000052", s.Halted
	})
	if more := c.tooLarge(t, "a:00000052"); more != size+1 {
		t.Errorf("one byte more makes %d bytes of %d", more, size)
	}
	r.awaitStored(r.topic, 51)
	elapse(t, 1500*time.Millisecond, func() {
		if n := r.stored(r.topic); n != 51 {
			t.Fatalf("%d records, want the 51 that fit", n)
		}
	})
	r.alter(r.topic, "max.message.bytes", strconv.Itoa(size+1))
	c.state("streaming")
	r.settle()
	r.verify(w, allowed{})
}

// TestMoreInSyncReplicasThanReplicas: a topic that asks for more in-sync
// replicas than it has replicas takes records all the same (from 3.7 on), so it
// is no reason to hold, from the start or from some moment on.
func TestMoreInSyncReplicasThanReplicas(t *testing.T) {
	t.Parallel()
	r := newKafkaRig(t, nil, nil, map[string]string{"min.insync.replicas": "2"})
	w := r.watch()
	startReady(t, r.settings)
	r.insert(1, 100, "a")
	r.settle()
	r.alter(r.topic, "min.insync.replicas", "3")
	r.insert(101, 200, "a")
	r.settle()
	r.verify(w, allowed{})
}
