package kafka

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// topic is what we know of one. Only stale ever changes.
type topic struct {
	name string
	// limit bounds a record batch: the topic's max.message.bytes, or
	// Config.BatchMaxBytes if that is smaller.
	limit int
	// limitName is the setting that limit comes from.
	limitName string
	// compacted topics take no null keys.
	compacted bool
	// maxAge and maxAhead bound a record's timestamp against the broker's
	// clock (message.timestamp.before.max.ms, …after.max.ms); 0 is no bound.
	maxAge, maxAhead time.Duration
	asked            time.Time
	// stale is set when Check has found out more since.
	stale atomic.Bool
}

// recheckAfter is for how long a refusal is repeated without asking the brokers
// whether it still holds.
const recheckAfter = time.Second

var errNullKey = errors.New("record without a key for a compacted topic")

// judge tells whether the broker would refuse r, whose batch of one has size
// bytes. It is nil for nearly all records, and costs a few comparisons.
func (t *topic) judge(r *sink.Record, size int) *sink.Error {
	switch {
	case size+framing > t.limit:
		return verdict{sink.Poison, reasonTooLarge, "raise " + t.limitName + ", or route the event elsewhere"}.error(
			t.name, sink.ScopeRecord, fmt.Errorf("record of %d bytes, encoded, is above %s = %d", size+framing, t.limitName, t.limit))
	case r.Key == nil && t.compacted:
		return verdict{sink.Poison, reasonNullKey, "give the event a key, or the topic another cleanup.policy"}.error(
			t.name, sink.ScopeRecord, errNullKey)
	}
	// The clock is read only for a record that is beyond the bound at the
	// time when the topic was described, or where there is a lower bound.
	if t.maxAhead > 0 && r.Time.Sub(t.asked) > t.maxAhead && time.Until(r.Time) > t.maxAhead {
		// Not poison: time, or a mended clock, makes it acceptable.
		return verdict{sink.Config, reasonTimestamp, "set the database server's clock right, or raise message.timestamp.after.max.ms"}.error(
			t.name, sink.ScopeRecord, fmt.Errorf("commit time %s is more than %v ahead", r.Time.Format(time.RFC3339), t.maxAhead))
	}
	if t.maxAge > 0 && !r.Time.IsZero() && time.Since(r.Time) > t.maxAge {
		return verdict{sink.Poison, reasonTimestamp, "raise message.timestamp.before.max.ms"}.error(
			t.name, sink.ScopeRecord, fmt.Errorf("commit time %s is more than %v ago", r.Time.Format(time.RFC3339), t.maxAge))
	}
	return nil
}

// newTopic reads a topic's settings. Unknown ones (nil, where we may not read
// them) give Kafka's own least limit and no further checks.
func newTopic(name string, settings map[string]string, batchMaxBytes int) *topic {
	t := &topic{name: name, limit: fallbackMaxMessageBytes, limitName: "max.message.bytes", asked: time.Now()}
	if n, ok := number(settings["max.message.bytes"]); ok && n > 0 {
		t.limit = int(min(n, maxRequestBytes))
	}
	if batchMaxBytes > 0 && batchMaxBytes < t.limit {
		t.limit, t.limitName = batchMaxBytes, "the batch size limit (KAFKA_BATCH_MAX_BYTES)"
	}
	if t.limit == maxRequestBytes {
		t.limitName = "the request size limit"
	}
	t.compacted = strings.Contains(settings["cleanup.policy"], "compact")
	if settings["message.timestamp.type"] == "CreateTime" {
		t.maxAge = bound(settings["message.timestamp.before.max.ms"])
		t.maxAhead = bound(settings["message.timestamp.after.max.ms"])
	}
	return t
}

// bound is a setting in milliseconds as a duration; 0 when it is absent or so
// large that it bounds nothing.
func bound(ms string) time.Duration {
	const century = 100 * 365 * 24 * time.Hour
	n, ok := number(ms)
	if !ok || n <= 0 || n > century.Milliseconds() {
		return 0
	}
	return time.Duration(n) * time.Millisecond
}
