package sinktest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// suite is one test's state.
type suite struct {
	*testing.T
	features Features
	subject  Subject
	log      *log
}

func (s *suite) send(r *sink.Record) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	if err := s.subject.Sink.Send(ctx, r); err != nil {
		s.Fatalf("send %q: %v", r.Value, err)
	}
}

func (s *suite) close() {
	s.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.subject.Sink.Close(ctx); err != nil {
		s.Fatalf("close: %v", err)
	}
}

// closeAndVerify closes the sink and holds what is stored against what was
// sent.
func (s *suite) closeAndVerify(sent []*sink.Record, copies []sink.Record) {
	s.Helper()
	s.close()
	if err := s.log.verify(sent, func(err error) bool { return err == nil }); err != nil {
		s.Fatal(err)
	}
	if err := sameOrder(copies, s.subject.Stored(s)); err != nil {
		s.Fatal(err)
	}
}

func (s *suite) orderPerKey() {
	const keys, rounds = 40, 25
	sent := make([]*sink.Record, 0, rounds*keys*len(s.features.Destinations))
	for i := range rounds {
		for k := range keys {
			for _, d := range s.features.Destinations {
				r := newRecord(d, fmt.Sprintf("key-%d", k), fmt.Sprintf("%s/%d/%d", d, k, i))
				s.send(r)
				sent = append(sent, r)
			}
		}
	}
	s.closeAndVerify(sent, copies(sent))
}

// recordsAreFree uses few records again and again, each as soon as it has had
// its result, and overwrites its bytes first. A sink that still reads one
// delivers garbage, and the race detector says where.
func (s *suite) recordsAreFree() {
	const n, records = 600, 16
	free := make(chan *sink.Record, records)
	for range records {
		free <- newRecord(s.features.Destinations[0], "key-0000", "value-000000")
	}
	s.log.onResult = func(r *sink.Record) {
		scribble(r)
		free <- r
	}
	want := make([]sink.Record, 0, n)
	for i := range n {
		r := s.next(free)
		copy(r.Key, fmt.Sprintf("key-%04d", i%7))
		copy(r.Value, fmt.Sprintf("value-%06d", i))
		copy(r.Headers[0].Value, "header")
		copy(r.Position, "position")
		want = append(want, clone(r))
		s.send(r)
	}
	s.close()
	if got := len(s.log.list()); got != n {
		s.Fatalf("%d results for %d records", got, n)
	}
	if err := sameOrder(want, s.subject.Stored(s)); err != nil {
		s.Fatal(err)
	}
}

func (s *suite) next(free <-chan *sink.Record) *sink.Record {
	s.Helper()
	select {
	case r := <-free:
		return r
	case <-time.After(patience):
		s.Fatalf("no result for any record in %v", patience)
		return nil
	}
}

func (s *suite) fidelity() {
	var sent []*sink.Record
	add := func(key, value []byte, headers ...sink.Header) {
		sent = append(sent, &sink.Record{
			Destination: s.features.Destinations[0], Key: key, Value: value, Headers: headers,
			Time: time.Date(2024, 2, 29, 23, 59, 59, 123e6, time.UTC),
		})
	}
	add(nil, []byte("no key"))
	add([]byte{}, []byte("empty key"))
	add([]byte("a key"), nil)
	add([]byte("a key"), []byte{})
	add([]byte("\x00\xff not text"), []byte("\xfe\x00\"\\\n"))
	add([]byte("ключ"), []byte(`{"a": 1,  "a": 2, "ü": "\u00fc"}`))
	add([]byte("headers"), []byte("repeated and in order"),
		sink.Header{Name: "b", Value: []byte("1")}, sink.Header{Name: "a", Value: []byte("2")},
		sink.Header{Name: "b", Value: []byte("\x00\xff")}, sink.Header{Name: "", Value: []byte{}}, sink.Header{Name: "n"})
	for _, r := range sent {
		s.send(r)
	}
	s.closeAndVerify(sent, copies(sent))
}

func (s *suite) sendAfterEnd() {
	cause := errors.New("the pipeline stops")
	ctx, cancel := context.WithCancelCause(s.Context())
	cancel(cause)
	r := newRecord(s.features.Destinations[0], "k", "never")
	if err := s.subject.Sink.Send(ctx, r); !errors.Is(err, cause) {
		s.Errorf("send gave %v, want the context's cause", err)
	}
	s.close()
	if all := s.log.list(); len(all) != 0 {
		s.Errorf("a record that was not taken has a result: %v", all[0].err)
	}
	if stored := s.subject.Stored(s); len(stored) != 0 {
		s.Errorf("a record that was not taken is stored: %q", stored[0].Value)
	}
}

// sendOutlivesContext ends the context after Send returned: the record was
// taken and must be delivered.
func (s *suite) sendOutlivesContext() {
	ctx, cancel := context.WithCancel(s.Context())
	const n = 20
	sent := make([]*sink.Record, 0, n)
	for i := range n {
		r := newRecord(s.features.Destinations[0], "k", strconv.Itoa(i))
		if err := s.subject.Sink.Send(ctx, r); err != nil {
			s.Fatal(err)
		}
		sent = append(sent, r)
	}
	cancel()
	s.closeAndVerify(sent, copies(sent))
}

func (s *suite) closeFlushes() {
	const n = 100
	sent := make([]*sink.Record, 0, n)
	for i := range n {
		r := newRecord(s.features.Destinations[0], strconv.Itoa(i), "v")
		s.send(r)
		sent = append(sent, r)
	}
	s.closeAndVerify(sent, copies(sent))
	if err := s.subject.Sink.Close(s.Context()); err != nil {
		s.Errorf("second close: %v", err)
	}
}

func (s *suite) closeUnused() {
	s.close()
	if all := s.log.list(); len(all) != 0 {
		s.Errorf("%d results without a record", len(all))
	}
}
