package sinktest_test

import (
	"errors"
	"testing"

	"go.uber.org/goleak"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink/sinktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestMemoryConforms(t *testing.T) {
	sinktest.Run(t, sinktest.Features{Destinations: []string{"a", "b"}}, func(_ testing.TB, results sink.Results) sinktest.Subject {
		m := sinktest.NewMemory(results)
		return sinktest.Subject{
			Sink:   m,
			Stored: func(testing.TB) []sink.Record { return m.Stored() },
			Stall:  func(testing.TB) { m.Hold() },
			Break: func(testing.TB) {
				m.Refuse(&sink.Error{Kind: sink.Poison, Scope: sink.ScopeBatch, Sink: "memory", Err: errors.New("refused")})
			},
		}
	})
}

func TestMemoryHoldsUntilRelease(t *testing.T) {
	var answered []string
	m := sinktest.NewMemory(func(r *sink.Record, err error) {
		if err != nil {
			t.Errorf("result of %q: %v", r.Value, err)
		}
		answered = append(answered, string(r.Value))
	})
	m.Hold()
	for _, v := range []string{"1", "2"} {
		if err := m.Send(t.Context(), &sink.Record{Value: []byte(v)}); err != nil {
			t.Fatal(err)
		}
	}
	if len(answered) != 0 || len(m.Stored()) != 0 {
		t.Fatalf("answered %q and stored %d records while holding", answered, len(m.Stored()))
	}
	m.Release()
	if err := m.Send(t.Context(), &sink.Record{Value: []byte("3")}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"1", "2", "3"} {
		if answered[i] != want || string(m.Stored()[i].Value) != want {
			t.Errorf("record %d: answered %q, stored %q, want %q", i, answered[i], m.Stored()[i].Value, want)
		}
	}
}

func TestMemoryIsDoneAfterARefusal(t *testing.T) {
	refusal := &sink.Error{Kind: sink.Config, Sink: "memory", Err: errors.New("no such topic")}
	var results []error
	m := sinktest.NewMemory(func(_ *sink.Record, err error) { results = append(results, err) })
	m.Refuse(refusal)
	r := &sink.Record{Value: []byte("v")}
	if err := m.Send(t.Context(), r); err != nil {
		t.Fatalf("the record that is refused is taken first, got %v", err)
	}
	if err := m.Send(t.Context(), r); !errors.Is(err, refusal) {
		t.Errorf("second send gave %v, want the refusal", err)
	}
	if len(results) != 1 || !errors.Is(results[0], refusal) {
		t.Errorf("results %v, want the refusal once", results)
	}
}
