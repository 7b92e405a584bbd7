package sinktest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// TestSameOrder is what makes the suite able to fail.
func TestSameOrder(t *testing.T) {
	rec := func(key, value string) sink.Record {
		return sink.Record{Destination: "d", Key: []byte(key), Value: []byte(value)}
	}
	other := rec("a", "1")
	other.Destination = "e"
	unkeyed := func(value string) sink.Record { return sink.Record{Destination: "d", Value: []byte(value)} }
	null := rec("a", "")
	null.Value = nil
	header := func(name string, value []byte) sink.Record {
		r := rec("a", "1")
		r.Headers = []sink.Header{{Name: name, Value: value}}
		return r
	}
	timed := func(at time.Time) sink.Record {
		r := rec("a", "1")
		r.Time = at
		return r
	}
	at := time.Date(2024, 1, 2, 3, 4, 5, 6789000, time.UTC)
	for _, tt := range []struct {
		name      string
		want, got []sink.Record
		problem   string // part of the error, "" for none
	}{
		{"same", []sink.Record{rec("a", "1"), rec("b", "1")}, []sink.Record{rec("b", "1"), rec("a", "1")}, ""},
		{"order within a key", []sink.Record{rec("a", "1"), rec("a", "2")}, []sink.Record{rec("a", "2"), rec("a", "1")}, "value"},
		{"lost", []sink.Record{rec("a", "1")}, nil, "0 records stored, want 1"},
		{"twice", []sink.Record{rec("a", "1")}, []sink.Record{rec("a", "1"), rec("a", "1")}, "2 records stored"},
		{"another key", []sink.Record{rec("a", "1")}, []sink.Record{rec("b", "1")}, "was not sent"},
		{"another destination", []sink.Record{rec("a", "1")}, []sink.Record{other}, "was not sent"},
		{"empty key for null", []sink.Record{unkeyed("1")}, []sink.Record{rec("", "1")}, "was not sent"},
		{"null key in any order", []sink.Record{unkeyed("1"), unkeyed("2")}, []sink.Record{unkeyed("2"), unkeyed("1")}, ""},
		{"null key, changed", []sink.Record{unkeyed("1")}, []sink.Record{unkeyed("2")}, "value"},
		{"empty value for null", []sink.Record{null}, []sink.Record{rec("a", "")}, "null: false"},
		{"header missing", []sink.Record{header("h", nil)}, []sink.Record{rec("a", "1")}, "0 headers"},
		{"header name", []sink.Record{header("h", nil)}, []sink.Record{header("H", nil)}, "header 0"},
		{"header empty for null", []sink.Record{header("h", nil)}, []sink.Record{header("h", []byte{})}, "header 0"},
		{"time to the millisecond", []sink.Record{timed(at)}, []sink.Record{timed(at.Truncate(time.Millisecond))}, ""},
		{"time", []sink.Record{timed(at)}, []sink.Record{timed(at.Add(time.Second))}, "time"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := sameOrder(tt.want, tt.got)
			if tt.problem == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.problem) {
				t.Fatalf("got %v, want an error with %q", err, tt.problem)
			}
		})
	}
}

func TestVerifyResults(t *testing.T) {
	a, b := newRecord("d", "k", "a"), newRecord("d", "k", "b")
	sent := []*sink.Record{a, b}
	bad := errors.New("bad")
	for _, tt := range []struct {
		name    string
		results []outcome
		problem string
	}{
		{"once each", []outcome{{b, nil}, {a, nil}}, ""},
		{"none", []outcome{{a, nil}}, `no result for "b"`},
		{"twice", []outcome{{a, nil}, {b, nil}, {a, nil}}, `second result for "a"`},
		{"not sent", []outcome{{a, nil}, {newRecord("d", "k", "c"), nil}}, "not sent"},
		{"failed", []outcome{{a, bad}, {b, nil}}, "bad"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLog()
			for _, o := range tt.results {
				l.add(o.record, o.err)
			}
			err := l.verify(sent, func(err error) bool { return err == nil })
			if tt.problem == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.problem) {
				t.Fatalf("got %v, want an error with %q", err, tt.problem)
			}
		})
	}
}

func TestCloneSharesNothing(t *testing.T) {
	r := newRecord("d", "key", "value")
	r.Headers = append(r.Headers, sink.Header{Name: "null"})
	c := clone(r)
	scribble(r)
	if string(c.Key) != "key" || string(c.Value) != "value" || string(c.Headers[0].Value) != "header" || string(c.Position) != "position" {
		t.Errorf("the copy changed with the record: %q %q %q %q", c.Key, c.Value, c.Headers[0].Value, c.Position)
	}
	if c.Headers[1].Value != nil {
		t.Error("a null header value became empty")
	}
	if string(r.Value) != "#####" {
		t.Errorf("scribble left %q", r.Value)
	}
}
