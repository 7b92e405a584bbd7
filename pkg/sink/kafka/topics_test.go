package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// alter sets one setting of a topic.
func alter(t *testing.T, c *kfake.Cluster, topic, name, value string) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	res, err := kadm.NewClient(client).AlterTopicConfigs(t.Context(), []kadm.AlterConfig{{Name: name, Value: &value}}, topic)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range res {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
	}
}

// age makes what the sink knows of a topic old enough to ask again.
func age(s *Sink, topic string) {
	if t := s.topics.get(topic); t != nil {
		t.asked = t.asked.Add(-time.Hour)
	}
}

// TestMissingTopic: refused within a bounded time and before it is on its way;
// once the topic is there, the same sink delivers.
func TestMissingTopic(t *testing.T) {
	c := newCluster(t, kfake.SeedTopics(1, "there"))
	s, got := newSink(t, c, nil)
	for range 2 {
		err := s.Send(t.Context(), record("missing", "k", "v"))
		var e *sink.Error
		if !errors.As(err, &e) || e.Kind != sink.Config || e.Reason != reasonTopicMissing || e.Destination != "missing" {
			t.Fatalf("send gave %v, want a missing topic", err)
		}
	}
	sendAll(t, s, "there", 1) // the others are not held up
	if err := c.CreateTopic("missing", 1, nil); err != nil {
		t.Fatal(err)
	}
	sendAll(t, s, "missing", 1)
	closeNow(t, s)
	for _, o := range got.wait(t, 2) {
		if o.err != nil {
			t.Error(o.err)
		}
	}
	if h := stored(c, "missing"); h != 1 {
		t.Errorf("%d records in the topic, want 1", h)
	}
}

// TestTopicThatAppearsLate: a broker that does not know a new topic yet is
// asked again before the topic is called missing.
func TestTopicThatAppearsLate(t *testing.T) {
	c := newCluster(t, kfake.SeedTopics(1, "new"))
	s, _ := newSink(t, c, nil)
	h := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Metadata}, Topic: "new", Err: kerr.UnknownTopicOrPartition, Count: missingTries - 1})
	sendAll(t, s, "new", 1)
	closeNow(t, s)
	if h.Hits() != missingTries-1 {
		t.Errorf("asked %d times in vain, want %d", h.Hits(), missingTries-1)
	}
}

// TestTopicIsDeleted: a topic that goes while it is used is a Config failure
// in bounded time, not an endless retry.
func TestTopicIsDeleted(t *testing.T) {
	c := newCluster(t, kfake.SeedTopics(1, "orders"))
	s, got := newSink(t, c, nil)
	sendAll(t, s, "orders", 1)
	got.wait(t, 1)
	if err := c.DeleteTopic("orders"); err != nil {
		t.Fatal(err)
	}
	if err := s.Send(t.Context(), record("orders", "k", "v")); err != nil {
		t.Fatal(err)
	}
	err := got.wait(t, 2)[1].err
	var e *sink.Error
	if !errors.As(err, &e) || e.Kind != sink.Config || e.Reason != reasonTopicMissing {
		t.Errorf("result %v, want a missing topic", err)
	}
	closeNow(t, s)
}

// TestNullKeyOnCompactedTopic: the broker would refuse the whole batch.
func TestNullKeyOnCompactedTopic(t *testing.T) {
	c := newCluster(t, kfake.SeedTopics(1, "plain"))
	for topic, policy := range map[string]string{"compacted": "compact", "both": "compact,delete"} {
		if err := c.CreateTopic(topic, 1, map[string]string{"cleanup.policy": policy}); err != nil {
			t.Fatal(err)
		}
	}
	s, _ := newSink(t, c, nil)
	for _, tt := range []struct {
		topic string
		key   []byte
		taken bool
	}{
		{"plain", nil, true},
		{"compacted", []byte{}, true},
		{"compacted", []byte("k"), true},
		{"compacted", nil, false},
		{"both", nil, false},
	} {
		err := s.Send(t.Context(), &sink.Record{Destination: tt.topic, Key: tt.key, Value: []byte("v"), Time: time.Now()})
		var e *sink.Error
		switch {
		case tt.taken && err != nil:
			t.Errorf("key %q to %q: %v", tt.key, tt.topic, err)
		case !tt.taken && (!errors.As(err, &e) || e.Kind != sink.Poison || e.Scope != sink.ScopeRecord || e.Reason != reasonNullKey):
			t.Errorf("null key to %q: %v, want poison null_key", tt.topic, err)
		}
	}
	closeNow(t, s)
}

// TestMendedLimit: an operator raises max.message.bytes while a record is
// refused; the same sink then delivers it, though its client had kept the old
// limit, and nothing that went before is lost or repeated.
func TestMendedLimit(t *testing.T) {
	c := newCluster(t, kfake.SeedTopics(1, "orders"))
	s, got := newSink(t, c, nil)
	sendAll(t, s, "orders", 3)
	got.wait(t, 3)
	first := s.producer.Load().client
	large := record("orders", "k", strings.Repeat("x", 2_000_000))
	if err := s.Send(t.Context(), large); sink.KindOf(err) != sink.Poison {
		t.Fatalf("2 MB: %v, want poison", err)
	}
	alter(t, c, "orders", "max.message.bytes", "5000000")
	age(s, "orders")
	if err := s.Send(t.Context(), large); err != nil {
		t.Fatalf("2 MB to the mended topic: %v", err)
	}
	sendAll(t, s, "orders", 3)
	closeNow(t, s)
	for _, o := range got.wait(t, 7) {
		if o.err != nil {
			t.Fatal(o.err)
		}
	}
	if s.producer.Load().client == first {
		t.Error("the client that had the old limit is still in use")
	}
	// A client that had merely been told to forget the topic would start its
	// sequence numbers again, and the broker would take 0, 1, 2 for repeats.
	if n := stored(c, "orders"); n != 7 {
		t.Errorf("%d records stored, want 7", n)
	}
}

// TestCheckRefreshes: what Check finds out is used by the next Send.
func TestCheckRefreshes(t *testing.T) {
	c := newCluster(t, kfake.SeedTopics(1, "orders"))
	s, _ := newSink(t, c, nil)
	sendAll(t, s, "orders", 1)
	alter(t, c, "orders", "cleanup.policy", "compact")
	if errs := s.Check(t.Context(), []string{"orders"}); errs[0] != nil {
		t.Fatal(errs[0])
	}
	err := s.Send(t.Context(), &sink.Record{Destination: "orders", Value: []byte("v"), Time: time.Now()})
	if sink.KindOf(err) != sink.Poison {
		t.Errorf("null key to a topic that is compacted now: %v", err)
	}
	closeNow(t, s)
}

func TestTimestampBounds(t *testing.T) {
	now := time.Now()
	bounded := newTopic("t", map[string]string{
		"message.timestamp.type":          "CreateTime",
		"message.timestamp.before.max.ms": "86400000",
		"message.timestamp.after.max.ms":  "3600000",
	}, 0)
	free := newTopic("t", map[string]string{
		"message.timestamp.type":          "LogAppendTime",
		"message.timestamp.before.max.ms": "1",
		"message.timestamp.after.max.ms":  "1",
	}, 0)
	endless := newTopic("t", map[string]string{
		"message.timestamp.type":          "CreateTime",
		"message.timestamp.before.max.ms": "9223372036854775807",
		"message.timestamp.after.max.ms":  "9223372036854775807",
	}, 0)
	for _, tt := range []struct {
		topic *topic
		at    time.Time
		kind  sink.Kind // 0: taken
	}{
		{bounded, now, 0},
		{bounded, now.Add(-23 * time.Hour), 0},
		{bounded, now.Add(-25 * time.Hour), sink.Poison},
		{bounded, now.Add(59 * time.Minute), 0},
		{bounded, now.Add(2 * time.Hour), sink.Config}, // a clock, not the record
		{bounded, time.Time{}, 0},
		{free, now.Add(-time.Hour), 0},
		{free, now.Add(time.Hour), 0},
		{endless, now.Add(-time.Hour * 24 * 365 * 50), 0},
	} {
		r := &sink.Record{Destination: "t", Key: []byte("k"), Time: tt.at}
		e := tt.topic.judge(r, batchSize(r))
		switch {
		case e == nil && tt.kind != 0:
			t.Errorf("%v from now is taken, want %v", tt.at.Sub(now), tt.kind)
		case e != nil && (e.Kind != tt.kind || e.Reason != reasonTimestamp || e.Remedy == ""):
			t.Errorf("%v from now: %v, want %v", tt.at.Sub(now), e, tt.kind)
		}
	}
}

func TestCheck(t *testing.T) {
	// Brokers before 3.7 mind a min.insync.replicas that can't be reached.
	c := newCluster(t, kfake.SeedTopics(2, "good", "denied"), kfake.MaxVersions(kversion.V3_6_0()))
	if err := c.CreateTopic("starved", 1, map[string]string{"min.insync.replicas": "9"}); err != nil {
		t.Fatal(err)
	}
	c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Metadata}, Topic: "denied", Err: kerr.TopicAuthorizationFailed, Count: -1})
	s, _ := newSink(t, c, nil)
	names := []string{"missing", "good", "starved", "denied"}
	errs := s.Check(t.Context(), names)
	for i, want := range []string{reasonTopicMissing, "", reasonTopicUnusable, reasonNotAuthorized} {
		var e *sink.Error
		switch {
		case want == "" && errs[i] != nil:
			t.Errorf("%s: %v", names[i], errs[i])
		case want != "" && (!errors.As(errs[i], &e) || e.Kind != sink.Config || e.Reason != want || e.Destination != names[i] || e.Remedy == ""):
			t.Errorf("%s: %v, want a Config error %q with a remedy", names[i], errs[i], want)
		}
	}
	if errs := s.Check(t.Context(), nil); len(errs) != 0 {
		t.Errorf("check of nothing: %v", errs)
	}
	closeNow(t, s)
}

// TestMoreInSyncReplicasThanReplicas: brokers from 3.7 on take records in spite
// of it, and so do we.
func TestMoreInSyncReplicasThanReplicas(t *testing.T) {
	c := newCluster(t, kfake.SeedTopics(1, "any"))
	if err := c.CreateTopic("eager", 1, map[string]string{"min.insync.replicas": "9"}); err != nil {
		t.Fatal(err)
	}
	s, _ := newSink(t, c, nil)
	if err := s.Check(t.Context(), []string{"eager"})[0]; err != nil {
		t.Errorf("refused: %v", err)
	}
	closeNow(t, s)
}

// TestWriteNotGranted: DESCRIBE without WRITE is found before the first record.
func TestWriteNotGranted(t *testing.T) {
	c := newCluster(t, kfake.SeedTopics(1, "orders"))
	c.ControlKey(int16(kmsg.Metadata), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		if !req.(*kmsg.MetadataRequest).IncludeTopicAuthorizedOperations {
			return nil, nil, false
		}
		resp := req.ResponseKind().(*kmsg.MetadataResponse)
		rt := kmsg.NewMetadataResponseTopic()
		rt.Topic = new("orders")
		rt.AuthorizedOperations = 1 << 8 // DESCRIBE
		resp.Topics = append(resp.Topics, rt)
		return resp, nil, true
	})
	s, _ := newSink(t, c, nil)
	err := s.Send(t.Context(), record("orders", "k", "v"))
	if e := new(sink.Error); !errors.As(err, &e) || e.Kind != sink.Config || e.Reason != reasonNotAuthorized {
		t.Errorf("send gave %v, want not authorized", err)
	}
	closeNow(t, s)
}

// TestSettingsDenied: without DESCRIBE_CONFIGS we take Kafka's own limit, and
// say so once.
func TestSettingsDenied(t *testing.T) {
	c := newCluster(t, kfake.SeedTopics(1, "a", "b"))
	c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.DescribeConfigs}, Err: kerr.TopicAuthorizationFailed, Count: -1})
	var log lines
	s, _ := newSink(t, c, func(cfg *Config) { cfg.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	for _, topic := range []string{"a", "b"} {
		sendAll(t, s, topic, 1)
		if err := s.Send(t.Context(), record(topic, "k", strings.Repeat("x", fallbackMaxMessageBytes))); sink.KindOf(err) != sink.Poison {
			t.Errorf("%s: %d bytes of value: %v", topic, fallbackMaxMessageBytes, err)
		}
	}
	closeNow(t, s)
	if n := strings.Count(log.text(), "topic settings can't be read"); n != 1 {
		t.Errorf("said %d times, want once:\n%s", n, log.text())
	}
}

// TestBrokersAway: the first record of a topic waits for the brokers, and lets
// go with its context; Check answers within its own time.
func TestBrokersAway(t *testing.T) {
	c := newCluster(t)
	addrs := c.ListenAddrs()
	c.Close()
	s, err := New(Config{Brokers: addrs, RequestTimeout: 200 * time.Millisecond}, func(*sink.Record, error) { t.Error("a result") })
	if err != nil {
		t.Fatal(err)
	}
	errs := s.Check(t.Context(), []string{"orders", "audit"})
	for _, err := range errs {
		if sink.KindOf(err) != sink.Retriable {
			t.Errorf("check gave %v, want retriable", err)
		}
	}
	cause := errors.New("stopping")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 300*time.Millisecond, cause)
	defer cancel()
	if err := s.Send(ctx, record("orders", "k", "v")); !errors.Is(err, cause) {
		t.Errorf("send gave %v, want the context's cause", err)
	}
	closeNow(t, s)
}

// TestManyTopics: what is remembered of topics is bounded, and going beyond the
// bound costs no record.
func TestManyTopics(t *testing.T) {
	c := newCluster(t, kfake.SeedTopics(1, "orders", "audit"))
	s, _ := newSink(t, c, nil)
	sendAll(t, s, "orders", 5)
	p := s.producer.Load()
	for i := range maxTopics - 1 {
		name := fmt.Sprintf("t%d", i)
		if !p.adopt(name, 1000) {
			t.Fatalf("no room for topic %d of %d", i+2, maxTopics)
		}
		s.topics.put(newTopic(name, nil, 0))
	}
	sendAll(t, s, "audit", 1)
	if s.producer.Load() == p {
		t.Error("the client was not replaced")
	}
	sendAll(t, s, "orders", 5)
	closeNow(t, s)
	checkOrder(t, c, "orders", 5, 5)
	if n := len(s.topics.byName); n > maxTopics {
		t.Errorf("%d topics remembered, at most %d", n, maxTopics)
	}
}
