package sinktest

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

func newRecord(destination, key, value string) *sink.Record {
	return &sink.Record{
		Destination: destination, Key: []byte(key), Value: []byte(value),
		Headers:  []sink.Header{{Name: "h", Value: []byte("header")}},
		Position: []byte("position"), Time: time.Now(),
	}
}

// clone copies a record with all it points to, nil staying nil.
func clone(r *sink.Record) sink.Record {
	c := *r
	c.Key, c.Value, c.Position = bytes.Clone(r.Key), bytes.Clone(r.Value), bytes.Clone(r.Position)
	c.Headers = slices.Clone(r.Headers)
	for i := range c.Headers {
		c.Headers[i].Value = bytes.Clone(c.Headers[i].Value)
	}
	return c
}

func copies(records []*sink.Record) []sink.Record {
	all := make([]sink.Record, len(records))
	for i, r := range records {
		all[i] = clone(r)
	}
	return all
}

// scribble overwrites everything a record points to.
func scribble(r *sink.Record) {
	for _, b := range [][]byte{r.Key, r.Value, r.Position} {
		fill(b)
	}
	for i := range r.Headers {
		fill(r.Headers[i].Value)
	}
}

func fill(b []byte) {
	for i := range b {
		b[i] = '#'
	}
}

// lane is what an order holds for. Records without a key have none.
type lane struct {
	destination, key string
	keyed            bool
}

func laneOf(r *sink.Record) lane { return lane{r.Destination, string(r.Key), r.Key != nil} }

// sameOrder says whether got holds the records of want, no more and no less,
// and those of a lane in the same order. Records without a key may come in any.
func sameOrder(want, got []sink.Record) error {
	if len(want) != len(got) {
		return fmt.Errorf("%d records stored, want %d", len(got), len(want))
	}
	lanes := make(map[lane][]*sink.Record)
	for i := range want {
		l := laneOf(&want[i])
		lanes[l] = append(lanes[l], &want[i])
	}
	for i := range got {
		g := &got[i]
		l := laneOf(g)
		rest := lanes[l]
		if len(rest) == 0 {
			return fmt.Errorf("record %d stored with destination %q, key %q (null: %t) was not sent", i, g.Destination, g.Key, g.Key == nil)
		}
		at := 0
		if !l.keyed {
			at = max(0, slices.IndexFunc(rest, func(r *sink.Record) bool { return same(r, g) == nil }))
		}
		if err := same(rest[at], g); err != nil {
			return fmt.Errorf("record %d stored with key %q: %w", i, g.Key, err)
		}
		lanes[l] = slices.Delete(rest, at, at+1)
	}
	return nil
}

// same compares what a destination holds of a record.
func same(want, got *sink.Record) error {
	switch {
	case !bytes.Equal(want.Value, got.Value) || (want.Value == nil) != (got.Value == nil):
		return fmt.Errorf("value %.64q (null: %t), want %.64q (null: %t)", got.Value, got.Value == nil, want.Value, want.Value == nil)
	case len(want.Headers) != len(got.Headers):
		return fmt.Errorf("%d headers, want %d", len(got.Headers), len(want.Headers))
	case !got.Time.IsZero() && !got.Time.Truncate(time.Millisecond).Equal(want.Time.Truncate(time.Millisecond)):
		return fmt.Errorf("time %v, want %v to the millisecond", got.Time, want.Time)
	}
	for i, w := range want.Headers {
		g := got.Headers[i]
		if w.Name != g.Name || !bytes.Equal(w.Value, g.Value) || (w.Value == nil) != (g.Value == nil) {
			return fmt.Errorf("header %d is %q=%q (null: %t), want %q=%q (null: %t)", i, g.Name, g.Value, g.Value == nil, w.Name, w.Value, w.Value == nil)
		}
	}
	return nil
}
