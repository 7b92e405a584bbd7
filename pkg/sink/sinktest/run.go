package sinktest

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// patience bounds each wait of the suite. A sink that conforms comes nowhere
// near it.
const patience = 30 * time.Second

// Subject is a sink under test and its destination.
type Subject struct {
	Sink sink.Sink
	// Stored gives copies of all that the destination holds, the records of
	// one destination and key in the order in which a consumer sees them. It
	// is called after Close.
	Stored func(tb testing.TB) []sink.Record
	// Stall makes the destination stop answering until the test ends. Nil
	// if it can't be made to.
	Stall func(tb testing.TB)
	// Break makes the destination refuse for good the next record that
	// reaches it. Nil if it can't be made to.
	Break func(tb testing.TB)
}

// Factory makes a sink to a fresh destination. Whatever it starts ends with tb.
type Factory func(tb testing.TB, results sink.Results) Subject

// Features are what a sink's destination can hold.
type Features struct {
	// Destinations are names that the factory's destination has; one or
	// more.
	Destinations []string
	// TooLarge is a length of Value that the destination refuses; 0 if it
	// takes everything.
	TooLarge int
	// MaxClose is how long Close with an ended context may take. Default
	// 5 s.
	MaxClose time.Duration
}

// Run runs the suite, each test with a fresh subject. It fails a sink that
// leaves a goroutine behind.
func Run(t *testing.T, f Features, factory Factory) {
	t.Helper()
	if f.MaxClose == 0 {
		f.MaxClose = 5 * time.Second
	}
	for _, test := range []struct {
		name string
		run  func(*suite)
	}{
		{"order per key", (*suite).orderPerKey},
		{"records are free with their result", (*suite).recordsAreFree},
		{"bytes arrive untouched", (*suite).fidelity},
		{"send after the context ended", (*suite).sendAfterEnd},
		{"send outlives its context", (*suite).sendOutlivesContext},
		{"close flushes", (*suite).closeFlushes},
		{"close of an unused sink", (*suite).closeUnused},
		{"close with an ended context", (*suite).closeExpired},
		{"too large", (*suite).tooLarge},
		{"done after a failure", (*suite).doneAfterFailure},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			t.Cleanup(func() { goleak.VerifyNone(t, before) }) // runs last
			s := &suite{T: t, features: f, log: newLog()}
			s.subject = factory(t, s.log.add)
			test.run(s)
		})
	}
}
