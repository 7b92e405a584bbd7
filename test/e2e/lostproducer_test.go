package e2e

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestLostProducer: the brokers have forgotten the producer, or put another in its
// place, in the middle of a load. A new one sends again what was not confirmed:
// nothing is missing and each key is in order.
func TestLostProducer(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, 3)
	w := r.watch()
	c := startReady(t, r.settings.with(settings{"KAFKA_LINGER": "0s", "HOLD_RETRY": "1s"}))
	r.insert(1, 100, "a", "b")
	r.settle()
	var deaths []death
	next := 101
	for _, fault := range []*kerr.Error{kerr.OutOfOrderSequenceNumber, kerr.UnknownProducerID, kerr.InvalidProducerEpoch, kerr.ProducerFenced, kerr.TopicAuthorizationFailed} {
		deaths = append(deaths, death{stood: r.slotNow().confirmed, ends: r.ends(topic)})
		seen := r.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: topic, Err: fault, Count: 1})
		for range 5 {
			r.insert(next, next+199, "a", "b", "c")
			next += 200
		}
		r.settle()
		if seen.Hits() != 1 {
			t.Errorf("%s was answered %d times", fault.Message, seen.Hits())
		}
	}
	c.state("streaming")
	r.verify(w, allowed{deaths: deaths})
}
