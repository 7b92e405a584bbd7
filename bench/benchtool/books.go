package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
)

// verdict is what a topic holds, compared with ids 1 to n. Sizes are bytes.
type verdict struct {
	Records       int64   `json:"records"`
	Distinct      int64   `json:"distinct"`
	Duplicates    int64   `json:"duplicates"`
	Missing       int64   `json:"missing"`
	FirstMissing  []int64 `json:"first_missing,omitempty"`
	Unknown       int64   `json:"unknown_ids"`
	OrderBroken   int64   `json:"key_order_violations"`
	KeysMoved     int64   `json:"keys_on_two_partitions"`
	UserBytes     int64   `json:"user_bytes"`
	TopicBytes    int64   `json:"topic_bytes"`
	AvgValueBytes int64   `json:"avg_value_bytes"`
}

// kept tells that every promise holds: nothing is missing, invented, or out of
// its key's order. Duplicates are allowed after a crash.
func (v verdict) kept() bool { return v.Missing+v.Unknown+v.OrderBroken+v.KeysMoved == 0 }

// exact is kept without a duplicate, as it must be when nothing failed.
func (v verdict) exact() bool { return v.kept() && v.Duplicates == 0 }

// books account for the records of a topic. The load gives every row its id in
// commit order within a key, so the first deliveries of a key have rising ids.
// Memory: a byte a row and an entry a key. Not safe for concurrent use.
type books struct {
	verdict
	n          int64
	valueBytes int64
	seen       []bool
	keys       map[string]keyState
}

// keyState is the newest first delivery of a key.
type keyState struct {
	id        int64
	partition int32
}

func newBooks(n int64) *books {
	return &books{n: n, seen: make([]bool, n+1), keys: map[string]keyState{}}
}

// add takes the records of one partition in the order of their offsets.
func (b *books) add(r *kgo.Record) error {
	id, err := rowID(r)
	if err != nil {
		return fmt.Errorf("partition %d, offset %d: %w", r.Partition, r.Offset, err)
	}
	b.Records++
	b.valueBytes += int64(len(r.Value))
	b.UserBytes += int64(len(r.Value) + len(r.Key))
	for _, h := range r.Headers {
		b.UserBytes += int64(len(h.Key) + len(h.Value))
	}
	switch {
	case id < 1 || id > b.n:
		b.Unknown++
		return nil
	case b.seen[id]:
		b.Duplicates++
		return nil
	}
	b.seen[id] = true
	b.Distinct++
	state, known := b.keys[string(r.Key)]
	if known && state.partition != r.Partition {
		b.KeysMoved++
	}
	if id < state.id {
		b.OrderBroken++
	}
	b.keys[string(r.Key)] = keyState{max(id, state.id), r.Partition}
	return nil
}

// close looks for what never came.
func (b *books) close() verdict {
	for id := int64(1); id <= b.n; id++ {
		if b.seen[id] {
			continue
		}
		b.Missing++
		if len(b.FirstMissing) < 5 {
			b.FirstMissing = append(b.FirstMissing, id)
		}
	}
	if b.Records > 0 {
		b.AvgValueBytes = b.valueBytes / b.Records
	}
	return b.verdict
}

// rowID is the row's id: the last 12 hex digits of the event id, which is in the
// header event-id, or id where Debezium wrote it.
func rowID(r *kgo.Record) (int64, error) {
	for _, h := range r.Headers {
		if h.Key != "id" && h.Key != "event-id" {
			continue
		}
		text := strings.Trim(string(h.Value), `"`)
		if len(text) != len(eventID(0)) {
			return 0, fmt.Errorf("header %s holds no UUID", h.Key)
		}
		return strconv.ParseInt(text[24:], 16, 64)
	}
	return 0, errors.New("no header holds the event id")
}

// eventID is the event id of a row, as schema.sql makes it.
func eventID(row int64) string { return fmt.Sprintf("00000000-0000-4000-8000-%012x", row) }
