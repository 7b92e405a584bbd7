package sinktest

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// closeExpired closes while the destination does not answer and without the
// time to wait for it.
func (s *suite) closeExpired() {
	first := newRecord(s.features.Destinations[0], "k", "first")
	s.send(first)
	s.log.wait(s, 1)
	if s.subject.Stall != nil {
		s.subject.Stall(s)
	}
	const more = 50
	sent := append(make([]*sink.Record, 0, 1+more), first)
	for i := range more {
		r := newRecord(s.features.Destinations[0], "k", strconv.Itoa(i))
		s.send(r)
		sent = append(sent, r)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	start := time.Now()
	if err := s.subject.Sink.Close(ctx); err == nil && s.subject.Stall != nil {
		s.Error("close gave no error although records had no answer")
	}
	if took := time.Since(start); took > s.features.MaxClose {
		s.Errorf("close took %v, at most %v is allowed", took, s.features.MaxClose)
	}
	err := s.log.verify(sent, func(err error) bool { return err == nil || sink.KindOf(err) == sink.Retriable })
	if err != nil {
		s.Fatal(err)
	}
	if s.subject.Stall == nil {
		return
	}
	for _, o := range s.log.list() {
		if (o.record == first) != (o.err == nil) {
			s.Errorf("result of %q is %v", o.record.Value, o.err)
		}
	}
	if err := s.subject.Sink.Send(s.Context(), first); err == nil {
		s.Error("send after close was accepted")
	}
}

// tooLarge sends a record that can't be stored between two that can.
func (s *suite) tooLarge() {
	if s.features.TooLarge == 0 {
		r := newRecord(s.features.Destinations[0], "k", "")
		r.Value = make([]byte, 4<<20)
		s.send(r)
		s.closeAndVerify([]*sink.Record{r}, copies([]*sink.Record{r}))
		return
	}
	d := s.features.Destinations[0]
	before, after := newRecord(d, "k", "before"), newRecord(d, "k", "after")
	large := newRecord(d, "k", "")
	large.Value = make([]byte, s.features.TooLarge)
	s.send(before)
	for range 3 { // the verdict is the same each time
		err := s.subject.Sink.Send(s.Context(), large)
		var e *sink.Error
		if !errors.As(err, &e) {
			s.Fatalf("send gave %v, want a *sink.Error", err)
		}
		if e.Kind != sink.Poison || e.Scope != sink.ScopeRecord || e.Reason != "too_large" {
			s.Errorf("verdict %v %v %q, want poison, record, too_large", e.Kind, e.Scope, e.Reason)
		}
		if e.Remedy == "" || e.Sink == "" || e.Destination != d {
			s.Errorf("error %q lacks remedy, sink or destination", e)
		}
	}
	s.send(after)
	sent := []*sink.Record{before, after}
	s.closeAndVerify(sent, copies(sent))
}

// doneAfterFailure sends on while the destination refuses one record: whatever
// came after it must neither be taken nor be stored.
func (s *suite) doneAfterFailure() {
	if s.subject.Break == nil {
		s.Log("the destination can't be made to refuse a record")
		s.close()
		return
	}
	first := newRecord(s.features.Destinations[0], "k", "first")
	s.send(first)
	s.log.wait(s, 1)
	s.subject.Break(s)
	deadline := time.Now().Add(patience)
	var refused error
	taken := 1
	for i := 0; refused == nil; i++ {
		if time.Now().After(deadline) {
			s.Fatalf("send takes records %v after the destination refused one", patience)
		}
		refused = s.subject.Sink.Send(s.Context(), newRecord(s.features.Destinations[0], "k", strconv.Itoa(i)))
		if refused == nil {
			taken++
		}
	}
	if _, ok := errors.AsType[*sink.Error](refused); !ok {
		s.Fatalf("send gave %v, want a *sink.Error", refused)
	}
	s.close()
	all := s.log.list()
	if len(all) != taken {
		s.Errorf("%d results for %d records taken", len(all), taken)
	}
	stored := s.subject.Stored(s)
	for i, r := range stored {
		want := "first"
		if i > 0 {
			want = strconv.Itoa(i - 1)
		}
		if string(r.Value) != want {
			s.Fatalf("record %d stored is %q, want %q: a later one overtook the refused one", i, r.Value, want)
		}
	}
	if len(stored) == taken {
		s.Error("everything is stored although one record was refused")
	}
}
