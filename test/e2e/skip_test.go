package e2e

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// giveUp stops a connector that is halted and starts it again with the setting
// that the halt shows.
func (c *connector) giveUp(t *testing.T, s settings) *connector {
	t.Helper()
	remedy := c.status().Remedy
	_, line, ok := strings.Cut(remedy, "OUTBOX_CDC_SKIP=")
	if !ok || strings.ContainsAny(line, " ;'\"") {
		t.Fatalf("the remedy is %q", remedy)
	}
	c.stop()
	return start(t, s.with(settings{"SKIP": line}))
}

// skipped checks the warning about an event that was given up, and its counter.
func (c *connector) skipped(t *testing.T, id, position, route string) {
	t.Helper()
	line := c.log.find("the event is skipped, as OUTBOX_CDC_SKIP says")
	if line == nil || line["level"] != "WARN" || line["event_id"] != id || line["position"] != position || line["route"] != route {
		t.Errorf("the log says %v", line)
	}
	if n := c.metric("outbox_cdc_events_total", `result="skipped"`, `route="`+route+`"`); n != 1 {
		t.Errorf("%v events of route %q are counted as skipped", n, route)
	}
}

// refuseBatches makes the cluster answer INVALID_RECORD to every request with a
// batch that is refused, and store nothing of it.
func (r *rig) refuseBatches(refused func(batch []byte) bool) {
	r.cluster.ControlKey(int16(kmsg.Produce), func(q kmsg.Request) (kmsg.Response, error, bool) {
		r.cluster.KeepControl()
		request, ok := q.(*kmsg.ProduceRequest)
		if !ok {
			return nil, nil, false
		}
		response, ok := request.ResponseKind().(*kmsg.ProduceResponse)
		bad := false
		for _, t := range request.Topics {
			topic := kmsg.NewProduceResponseTopic()
			topic.Topic, topic.TopicID = t.Topic, t.TopicID
			for _, p := range t.Partitions {
				partition := kmsg.NewProduceResponseTopicPartition()
				partition.Partition, partition.ErrorCode = p.Partition, kerr.InvalidRecord.Code
				topic.Partitions = append(topic.Partitions, partition)
				bad = refused(p.Records) || bad
			}
			response.Topics = append(response.Topics, topic)
		}
		return response, nil, ok && bad
	})
}

// TestRefusedBatch: a broker that refuses a batch for one record does not say
// for which. It is found, named, and tried again in its place; nothing else is
// refused with it, and nothing repeated meanwhile.
func TestRefusedBatch(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	r.createTopic("one", 1)
	refuses := new(atomic.Bool)
	refuses.Store(true)
	r.refuseBatches(func(batch []byte) bool { return refuses.Load() && bytes.Contains(batch, []byte("rotten")) })
	s := r.settings.with(settings{"ROUTES": "* -> kafka:one", "KAFKA_COMPRESSION": "none"})
	rotten := func(id string) {
		r.db.Exec(t, `INSERT INTO app.outbox VALUES ('`+id+`', 'E', 'a', '"rotten"')`)
	}
	r.insert(1, 25, "a")
	rotten("bad-1")
	r.insert(26, 50, "a")
	c := start(t, s)
	c.state("halted")
	c.halted(t, "bad-1", "rejected")
	// What was stored before the refusal has been sent twice; nothing is from here on.
	n := r.stored("one")
	if ids := slices.Compact(sortedIDs(r.records("one"))); len(ids) != 25 {
		t.Errorf("stored are %q, want the 25 before", ids)
	}
	refuses.Store(false)
	r.awaitStored("one", n+26)
	c.state("streaming")
	r.settle()

	refuses.Store(true)
	rotten("bad-2")
	c.state("halted")
	at := c.halted(t, "bad-2", "rejected")
	r.insert(51, 60, "a")
	c = c.giveUp(t, s)
	c.state("streaming")
	r.settle()
	c.skipped(t, "bad-2", at, "*")
	ids := slices.Compact(sortedIDs(r.records("one")))
	if len(ids) != 61 || slices.Contains(ids, "bad-2") || !slices.Contains(ids, "bad-1") || r.stored("one") != n+36 {
		t.Errorf("%d records of %q, want %d", r.stored("one"), ids, n+36)
	}
}

// TestSkip: what each halt shows resolves it, also when several events in one
// transaction can't be delivered.
func TestSkip(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	s := r.settings.with(settings{"ROUTES": "E -> kafka:" + topic, "MAX_EVENT_BYTES": "1MiB"})
	r.db.Exec(t, `INSERT INTO app.outbox SELECT 'e' || g, 'E', 'a', '{}' FROM generate_series(1, 3) g;
		INSERT INTO app.outbox VALUES ('it''s, 100%', 'unknown', 'a', '{}'), ('', 'E', 'a', '{}'), ('no-type', NULL, 'a', '{}');
		INSERT INTO app.outbox SELECT 'huge', 'E', 'a', to_jsonb(repeat('x', 3000000));
		INSERT INTO app.outbox VALUES ('e4', 'E', 'a', '{}')`)
	c := start(t, s)
	for _, halt := range []struct{ id, reason string }{
		{"it's, 100%", "no_route"}, {"", "null_id"}, {"no-type", "null_type"}, {"-", "row_too_large"},
	} {
		c.state("halted")
		c.halted(t, halt.id, halt.reason)
		c = c.giveUp(t, s)
	}
	c.state("streaming")
	r.settle()
	if n := c.metric("outbox_cdc_events_total", `result="skipped"`); n != 4 {
		t.Errorf("%v are counted as skipped, want 4", n)
	}
	var ids []string
	for _, rec := range r.records(topic) {
		if !slices.Contains(ids, rec.id) { // each restart has sent the first three again
			ids = append(ids, rec.id)
		}
	}
	if !slices.Equal(ids, []string{"e1", "e2", "e3", "e4"}) {
		t.Errorf("got %q", ids)
	}
}

// TestSkipInAFanOut: an event is given up for all its destinations. One that has
// it keeps it, and gets it no second time.
func TestSkipInAFanOut(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	if err := r.cluster.CreateTopic("small", 1, map[string]string{"max.message.bytes": "2000"}); err != nil {
		t.Fatal(err)
	}
	s := r.settings.with(settings{"ROUTES": "* -> kafka:" + topic + ", kafka:small name=both"})
	c := startReady(t, s)
	r.insert(1, 5, "a")
	r.settle()
	r.db.Exec(t, `INSERT INTO app.outbox SELECT 'big', 'E', 'a', jsonb_build_object('p', string_agg(md5(g::text), '')) FROM generate_series(1, 500) g`)
	r.insert(6, 10, "a")
	c.state("halted")
	at := c.halted(t, "big", "too_large")
	r.awaitStored(topic, 6)
	c = c.giveUp(t, s)
	c.state("streaming")
	r.settle()
	c.skipped(t, "big", at, "both")
	if all := byID(t, r.records(topic)); len(all) != 11 {
		t.Errorf("%d records where it was stored, want 11", len(all))
	}
	if all := byID(t, r.records("small")); len(all) != 10 || all["big"].id != "" {
		t.Errorf("%d records where it was refused, want 10", len(all))
	}
}

// TestTopicLimitLowered: batches that the topic took a moment ago are refused,
// and none of their records is at fault. What smaller batches had stored before
// is repeated.
func TestTopicLimitLowered(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]*rig{"kfake": newRig(t, nil, 1), "kafka": newKafkaRig(t, nil, nil, nil)} {
		t.Run(name, func(t *testing.T) {
			c := startReady(t, r.settings.with(settings{"KAFKA_COMPRESSION": "none"}))
			w := r.watch()
			r.insert(1, 100, "a", "b")
			r.settle()
			before := r.taken()
			r.alter(r.topic, "max.message.bytes", "2000")
			r.insert(101, 1100, "a", "b")
			r.settle()
			c.state("streaming")
			if c.log.find("a destination refused records together, which says nothing of each; they are sent again in ever smaller groups") == nil {
				t.Error("no batch was refused")
			}
			r.verify(w, allowed{deaths: []death{before}})
		})
	}
}

// TestRefusalsUnderLoad: a broker that refuses batches at will, but takes each of
// their records alone, costs repeats and nothing else.
func TestRefusalsUnderLoad(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 1)
	var batches, refusals atomic.Int64
	r.refuseBatches(func(batch []byte) bool {
		// A batch of one is never refused. (Record batch, version 2: the count
		// stands at byte 57.)
		if binary.BigEndian.Uint32(batch[57:]) == 1 || batches.Add(1)%5 != 0 {
			return false
		}
		refusals.Add(1)
		return true
	})
	startReady(t, r.settings)
	w := r.watch()
	for i := range 40 {
		r.insert(1+i*100, 100+i*100, "a", "b", "c", "d", "e")
	}
	r.settle()
	repeats := r.verify(w, allowed{deaths: []death{{ends: make([]int64, partitions)}}})
	t.Logf("%d refusals, repeats of %d transactions", refusals.Load(), len(repeats))
	if refusals.Load() == 0 {
		t.Error("nothing was refused")
	}
}
