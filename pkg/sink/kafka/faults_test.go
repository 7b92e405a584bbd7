package kafka

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// TestPassingFaults: what passes by itself is retried inside, and each record
// is stored once, in order, whether or not the broker had stored it before it
// complained.
func TestPassingFaults(t *testing.T) {
	for _, fault := range []*kerr.Error{
		kerr.NotEnoughReplicas, kerr.NotEnoughReplicasAfterAppend, kerr.RequestTimedOut, kerr.KafkaStorageError,
		kerr.NotLeaderForPartition, kerr.LeaderNotAvailable, kerr.UnknownTopicOrPartition, kerr.ReplicaNotAvailable,
		kerr.FencedLeaderEpoch, kerr.UnknownLeaderEpoch, kerr.ThrottlingQuotaExceeded, kerr.BrokerNotAvailable,
	} {
		t.Run(fault.Message, func(t *testing.T) {
			c := newCluster(t, kfake.SeedTopics(1, "orders"))
			s, got := newSink(t, c, nil)
			sendAll(t, s, "orders", 20)
			got.wait(t, 20)
			h := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: fault, Count: 2})
			sendAll(t, s, "orders", 20)
			for _, o := range got.wait(t, 40) {
				if o.err != nil {
					t.Fatal(o.err)
				}
			}
			if h.Hits() != 2 {
				t.Errorf("the fault was seen %d times, want 2", h.Hits())
			}
			closeNow(t, s)
			checkOrder(t, c, "orders", 20, 20)
		})
	}
}

// checkOrder wants the values 0..n-1 for each n of runs, one run after the
// other.
func checkOrder(t *testing.T, c *kfake.Cluster, topic string, runs ...int) {
	t.Helper()
	total := 0
	for _, n := range runs {
		total += n
	}
	if n := stored(c, topic); n != total {
		t.Fatalf("%d records stored, want %d", n, total)
	}
	all := consume(t, c, topic, total)
	at := 0
	for _, n := range runs {
		for i := range n {
			if got := string(all[at].Value); got != strconv.Itoa(i) {
				t.Fatalf("record %d is %q, want %d", at, got, i)
			}
			at++
		}
	}
}

// TestFinalFaults: each class of refusal comes out with its kind, exactly once
// a record, and the sink is done with that very error.
func TestFinalFaults(t *testing.T) {
	for _, tt := range []struct {
		fault  *kerr.Error
		key    kmsg.Key
		kind   sink.Kind
		reason string
	}{
		{kerr.MessageTooLarge, kmsg.Produce, sink.Poison, reasonTooLarge},
		{kerr.RecordListTooLarge, kmsg.Produce, sink.Poison, reasonTooLarge},
		{kerr.InvalidRecord, kmsg.Produce, sink.Poison, reasonRejected},
		{kerr.CorruptMessage, kmsg.Produce, sink.Poison, reasonRejected},
		{kerr.InvalidTimestamp, kmsg.Produce, sink.Poison, reasonTimestamp},
		{kerr.TopicAuthorizationFailed, kmsg.Produce, sink.Config, reasonNotAuthorized},
		{kerr.ClusterAuthorizationFailed, kmsg.InitProducerID, sink.Config, reasonNotAuthorized},
		{kerr.OutOfOrderSequenceNumber, kmsg.Produce, sink.Retriable, reasonProducerLost},
		{kerr.UnknownProducerID, kmsg.Produce, sink.Retriable, reasonProducerLost},
		{kerr.InvalidProducerEpoch, kmsg.Produce, sink.Retriable, reasonProducerLost},
		{kerr.ProducerFenced, kmsg.Produce, sink.Retriable, reasonProducerLost},
		{kerr.InvalidProducerIDMapping, kmsg.Produce, sink.Retriable, reasonProducerLost},
		{kerr.PolicyViolation, kmsg.Produce, sink.Config, reasonTopicUnusable},
		{kerr.ClusterAuthorizationFailed, kmsg.Produce, sink.Config, reasonNotAuthorized},
		{kerr.UnsupportedCompressionType, kmsg.Produce, sink.Config, reasonUnsupported},
		{kerr.UnknownServerError, kmsg.Produce, sink.Fatal, reasonUnknown},
	} {
		t.Run(tt.fault.Message, func(t *testing.T) {
			c := newCluster(t, kfake.SeedTopics(1, "orders"))
			s, got := newSink(t, c, nil)
			if errs := s.Check(t.Context(), []string{"orders"}); errs[0] != nil {
				t.Fatal(errs[0])
			}
			c.Fault(kfake.Fault{Keys: []kmsg.Key{tt.key}, Err: tt.fault, Count: -1, TopLevel: tt.key == kmsg.InitProducerID})
			r := record("orders", "k", "v")
			if err := s.Send(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			result := got.wait(t, 1)[0].err
			var e *sink.Error
			if !errors.As(result, &e) {
				t.Fatalf("result %v, want a *sink.Error", result)
			}
			if e.Kind != tt.kind || e.Reason != tt.reason || e.Scope != sink.ScopeBatch || e.Destination != "orders" {
				t.Errorf("result %v %q %v %q, want %v %q", e.Kind, e.Reason, e.Scope, e.Destination, tt.kind, tt.reason)
			}
			if (e.Remedy == "") != (e.Kind == sink.Retriable) {
				t.Errorf("remedy %q of a %v error", e.Remedy, e.Kind)
			}
			var refused *sink.Error
			if err := s.Send(t.Context(), r); !errors.As(err, &refused) || refused.Kind != tt.kind || refused.Reason != tt.reason {
				t.Errorf("the next send gave %v, want the same failure", err)
			}
			closeNow(t, s)
			if n := len(got.list()); n != 1 {
				t.Errorf("%d results, want 1", n)
			}
		})
	}
}

// TestFrozenBroker: a broker that reads and never answers holds idempotent
// records for ever; Close with an ended context must return nevertheless.
func TestFrozenBroker(t *testing.T) {
	c := newCluster(t, kfake.SeedTopics(3, "orders"))
	s, got := newSink(t, c, func(cfg *Config) { cfg.RequestTimeout = time.Minute })
	h := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.InitProducerID}, Observe: true, Count: -1})
	sendAll(t, s, "orders", 1)
	got.wait(t, 1)
	if h.Hits() != 2 { // whether we may, and the client's own
		t.Fatalf("%d producer ids asked for, want 2: the producer is not idempotent", h.Hits())
	}
	frozen := freezeAndTell(t, c)
	for i := range 500 {
		if err := s.Send(t.Context(), record("orders", strconv.Itoa(i), "v")); err != nil {
			t.Fatal(err)
		}
	}
	<-frozen // some are on the wire
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	if err := s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("close gave %v, want the context's cause", err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("close took %v", took)
	}
	all := got.list()
	if len(all) != 501 {
		t.Fatalf("%d results when Close returned, want 501", len(all))
	}
	for _, o := range all[1:] {
		if sink.KindOf(o.err) != sink.Retriable {
			t.Fatalf("result %v, want retriable", o.err)
		}
	}
}

// freezeAndTell is freeze with a signal for the first request that is held.
func freezeAndTell(t *testing.T, c *kfake.Cluster) <-chan struct{} {
	t.Helper()
	thaw, first := make(chan struct{}), make(chan struct{}, 1)
	t.Cleanup(func() { close(thaw) })
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		select {
		case first <- struct{}{}:
		default:
		}
		c.SleepControl(func() { <-thaw })
		return nil, nil, true
	})
	return first
}

// TestThaw: a broker that was frozen for less than the caller's patience costs
// nothing but time, and no duplicates.
func TestThaw(t *testing.T) {
	c := newCluster(t, kfake.SeedTopics(1, "orders"))
	s, got := newSink(t, c, nil)
	thaw, first := make(chan struct{}), make(chan struct{})
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		close(first)
		c.DropControl()
		c.SleepControl(func() { <-thaw })
		return nil, nil, false
	})
	sendAll(t, s, "orders", 50)
	<-first
	close(thaw)
	got.wait(t, 50)
	closeNow(t, s)
	checkOrder(t, c, "orders", 50)
}

// TestLeaderMoves: leaders move while records flow; nothing is lost, repeated
// or out of order.
func TestLeaderMoves(t *testing.T) {
	c := newCluster(t, kfake.NumBrokers(3), kfake.SeedTopics(2, "orders"))
	s, got := newSink(t, c, nil)
	const rounds, each = 12, 40
	n := 0
	for range rounds {
		for range each {
			if err := s.Send(t.Context(), record("orders", "k", strconv.Itoa(n))); err != nil {
				t.Fatal(err)
			}
			n++
		}
		c.ShufflePartitionLeaders()
	}
	for _, o := range got.wait(t, n) {
		if o.err != nil {
			t.Fatal(o.err)
		}
	}
	closeNow(t, s)
	checkOrder(t, c, "orders", n)
}

// TestBrokerGoes: a broker leaves the cluster for good, with its connections.
func TestBrokerGoes(t *testing.T) {
	c := newCluster(t, kfake.NumBrokers(3), kfake.SeedTopics(1, "orders"))
	s, got := newSink(t, c, nil)
	sendAll(t, s, "orders", 30)
	if err := c.RemoveNode(c.LeaderFor("orders", 0)); err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		if err := s.Send(t.Context(), record("orders", "k", strconv.Itoa(i))); err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range got.wait(t, 60) {
		if o.err != nil {
			t.Fatal(o.err)
		}
	}
	closeNow(t, s)
	checkOrder(t, c, "orders", 30, 30)
}

// TestConnectionsBreak: the broker drops connections in the middle of requests,
// before and after it has stored what they carry.
func TestConnectionsBreak(t *testing.T) {
	c := newCluster(t, kfake.SeedTopics(1, "orders"))
	s, got := newSink(t, c, nil)
	n := 0
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		n++
		if n%3 == 0 && n < 20 {
			return nil, errors.New("cut"), true
		}
		return nil, nil, false
	})
	sendAll(t, s, "orders", 400)
	for _, o := range got.wait(t, 400) {
		if o.err != nil {
			t.Fatal(o.err)
		}
	}
	closeNow(t, s)
	checkOrder(t, c, "orders", 400)
}

// TestBackPressure: a full window makes Send wait and lets go with the context,
// and the record that waited is neither stored nor answered.
func TestBackPressure(t *testing.T) {
	c := newCluster(t, kfake.SeedTopics(1, "orders"))
	s, got := newSink(t, c, func(cfg *Config) { cfg.MaxBufferedRecords = 10 })
	if errs := s.Check(t.Context(), []string{"orders"}); errs[0] != nil {
		t.Fatal(errs[0])
	}
	thaw := make(chan struct{})
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.DropControl()
		c.SleepControl(func() { <-thaw })
		return nil, nil, false
	})
	sendAll(t, s, "orders", 10)
	cause := errors.New("stopping")
	ctx, cancel := context.WithCancelCause(t.Context())
	blocked := make(chan error, 1)
	go func() { blocked <- s.Send(ctx, record("orders", "k", "never")) }()
	cancel(cause)
	if err := <-blocked; !errors.Is(err, cause) {
		t.Errorf("send gave %v, want the context's cause", err)
	}
	close(thaw)
	got.wait(t, 10)
	sendAll(t, s, "orders", 5) // there is room again
	closeNow(t, s)
	checkOrder(t, c, "orders", 10, 5)
}

// TestFailureEndsAWaitingSend: a Send that waits for room gets the failure that
// comes meanwhile.
func TestFailureEndsAWaitingSend(t *testing.T) {
	c := newCluster(t, kfake.SeedTopics(1, "orders"))
	s, got := newSink(t, c, func(cfg *Config) { cfg.MaxBufferedRecords = 3 })
	answer := make(chan struct{})
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.DropControl()
		c.SleepControl(func() { <-answer })
		return nil, nil, false
	})
	c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.InvalidRecord})
	sendAll(t, s, "orders", 3)
	blocked := make(chan error, 1)
	go func() { blocked <- s.Send(t.Context(), record("orders", "k", "late")) }()
	close(answer)
	if err := <-blocked; sink.KindOf(err) != sink.Poison {
		t.Errorf("the waiting send gave %v, want the failure", err)
	}
	closeNow(t, s)
	if n := len(got.list()); n != 3 {
		t.Errorf("%d results, want 3", n)
	}
	if n := stored(c, "orders"); n != 0 {
		t.Errorf("%d records stored behind the failed one", n)
	}
}
