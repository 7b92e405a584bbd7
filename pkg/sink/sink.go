package sink

import (
	"context"
	"time"
)

// Record is one message for one destination. The caller owns it and everything
// it points to, and leaves all of it unchanged from Send until Results.
type Record struct {
	// Destination is the topic or queue, without the sink's scheme.
	Destination string
	// Key decides order: records with equal keys for one destination keep
	// the order in which they were sent. Nil is "no key", which promises no
	// order; empty is a key.
	Key []byte
	// Value is the message body. Nil is a null value (a Kafka tombstone).
	Value []byte
	// Headers keep their order; names may repeat.
	Headers []Header
	// Time is when the transaction was committed, by the server's clock.
	Time time.Time
	// Position is the position header's text; sinks use it in errors only.
	Position []byte
	// Owner is the caller's and means nothing to a sink.
	Owner any
}

// Header is one header or message attribute.
type Header struct {
	Name  string
	Value []byte
}

// Results receives the outcome of every record that Send took: exactly once a
// record, with nil when the destination has it durably, else with an *Error.
// It may be called from any goroutine, also before Send has returned, and must
// neither block nor call the sink. The record belongs to its owner again as
// soon as Results is called.
type Results func(*Record, error)

// Sink delivers records. Its constructor takes the Results.
type Sink interface {
	// Send takes a record over. It blocks only while the sink has no room,
	// and ends with the context's cause when ctx ends first. An error means
	// that the record was not taken: Results will not be called for it.
	// Whatever can be known before the record is on its way (too large, null
	// key on a compacted topic, topic missing) is answered here, as an *Error,
	// and leaves the sink usable: the caller may send the same record again
	// later, and has let nothing overtake it meanwhile.
	// After a result that is an error the sink is done: Send refuses every
	// record with that error, so that none can overtake the failed one; the
	// owner closes the sink and makes a new one.
	// Send is called by one goroutine at a time.
	Send(ctx context.Context, r *Record) error
	// Close waits until every taken record has had its result, or until ctx
	// ends; then it gives the rest a Retriable error and lets go of all
	// resources. It returns after the last call of Results. Send must not be
	// called again.
	Close(ctx context.Context) error
}

// Checker is a sink that can say beforehand whether it can deliver somewhere.
type Checker interface {
	// Check asks the destination's own server about each name and returns
	// an error for each that can't be delivered to, in the same order; nil
	// entries are good.
	Check(ctx context.Context, destinations []string) []error
}
