package main

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// entry is a record as the books see it.
type entry struct {
	id        int64
	key       string
	partition int32
}

func (e entry) record() *kgo.Record {
	return &kgo.Record{Key: []byte(e.key), Value: []byte("1234"), Partition: e.partition, Headers: []kgo.RecordHeader{
		{Key: "event-type", Value: []byte("x")}, {Key: "event-id", Value: []byte(eventID(e.id))},
	}}
}

func TestBooks(t *testing.T) {
	tests := []struct {
		name    string
		entries []entry
		want    verdict // sizes are looked at apart
		kept    bool
		exact   bool
	}{
		{
			"all there",
			[]entry{{1, "a", 0}, {3, "b", 1}, {2, "a", 0}},
			verdict{Records: 3, Distinct: 3},
			true, true,
		},
		{
			"a replay is no disorder",
			[]entry{{1, "a", 0}, {2, "a", 0}, {1, "a", 0}, {2, "a", 0}, {3, "a", 0}},
			verdict{Records: 5, Distinct: 3, Duplicates: 2},
			true, false,
		},
		{
			"missing",
			[]entry{{2, "a", 0}},
			verdict{Records: 1, Distinct: 1, Missing: 2},
			false, false,
		},
		{
			"out of order within a key",
			[]entry{{1, "a", 0}, {3, "a", 0}, {2, "a", 0}},
			verdict{Records: 3, Distinct: 3, OrderBroken: 1},
			false, false,
		},
		{
			"a key on two partitions",
			[]entry{{1, "a", 0}, {2, "a", 1}, {3, "b", 1}},
			verdict{Records: 3, Distinct: 3, KeysMoved: 1},
			false, false,
		},
		{
			"invented",
			[]entry{{1, "a", 0}, {2, "b", 0}, {3, "c", 0}, {4, "d", 0}, {0, "e", 0}},
			verdict{Records: 5, Distinct: 3, Unknown: 2},
			false, false,
		},
	}
	for _, test := range tests {
		b := newBooks(3)
		for _, e := range test.entries {
			if err := b.add(e.record()); err != nil {
				t.Fatal(err)
			}
		}
		got := b.close()
		if got.kept() != test.kept || got.exact() != test.exact {
			t.Errorf("%s: kept %v, exact %v", test.name, got.kept(), got.exact())
		}
		if got.AvgValueBytes != 4 || got.UserBytes != got.Records*int64(1+4+len("event-typex")+len("event-id")+36) {
			t.Errorf("%s: sizes %+v", test.name, got)
		}
		if int64(len(got.FirstMissing)) != got.Missing {
			t.Errorf("%s: missing %v", test.name, got.FirstMissing)
		}
		got.AvgValueBytes, got.UserBytes, got.FirstMissing = 0, 0, nil
		if g, w := got, test.want; g.Records != w.Records || g.Distinct != w.Distinct || g.Duplicates != w.Duplicates ||
			g.Missing != w.Missing || g.Unknown != w.Unknown || g.OrderBroken != w.OrderBroken || g.KeysMoved != w.KeysMoved {
			t.Errorf("%s: %+v, want %+v", test.name, g, w)
		}
	}
}

func TestRowID(t *testing.T) {
	for _, test := range []struct {
		header, value string
		id            int64
		fails         bool
	}{
		{"event-id", eventID(1 << 40), 1 << 40, false},
		{"id", `"` + eventID(255) + `"`, 255, false},
		{"id", "255", 0, true},
		{"id", "00000000-0000-4000-8000-00000000000g", 0, true},
		{"other", eventID(1), 0, true},
	} {
		id, err := rowID(&kgo.Record{Headers: []kgo.RecordHeader{{Key: test.header, Value: []byte(test.value)}}})
		if id != test.id || (err != nil) != test.fails {
			t.Errorf("%s %s: %d, %v", test.header, test.value, id, err)
		}
	}
}
