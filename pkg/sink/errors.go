package sink

import (
	"errors"
	"fmt"
)

// Kind is what a failure means for the record, and so who has to act.
type Kind uint8

const (
	// Retriable failures pass by themselves: a broker is away, a request was
	// throttled. Sinks retry them inside; they come out only when the sink
	// was closed with the record undelivered, or its client had to be given up.
	Retriable Kind = iota + 1
	// Config failures need an operator: topic missing, access denied. The
	// record is good; it is never dead-lettered.
	Config
	// Poison can never be stored at this destination.
	Poison
	// Fatal is everything unknown.
	Fatal
)

// String is the kind's name in logs and metrics.
func (k Kind) String() string {
	switch k {
	case Retriable:
		return "retriable"
	case Config:
		return "config"
	case Poison:
		return "poison"
	case Fatal:
		return "fatal"
	}
	return "unknown"
}

// Scope is what a verdict is about.
type Scope uint8

const (
	// ScopeRecord is a verdict on this very record.
	ScopeRecord Scope = iota + 1
	// ScopeBatch is a verdict on a batch that held the record: it says
	// nothing about the record alone.
	ScopeBatch
)

// String is the scope's name in logs.
func (s Scope) String() string {
	if s == ScopeBatch {
		return "batch"
	}
	return "record"
}

// Error is why a record was not stored.
type Error struct {
	Kind  Kind
	Scope Scope
	// Sink is the kind of destination ("kafka"), Destination its name.
	Sink, Destination string
	// Reason is one of a few fixed words for metrics, such as "too_large".
	Reason string
	// Err says what happened. It holds no payload and no secret.
	Err error
	// Remedy tells the operator what to do.
	Remedy string
}

// Error says where, what, and what to do about it.
func (e *Error) Error() string {
	s := fmt.Sprintf("%s %q: %v", e.Sink, e.Destination, e.Err)
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}

// Unwrap gives the destination's own error.
func (e *Error) Unwrap() error { return e.Err }

// KindOf is the kind of err: Fatal unless an *Error in its chain says otherwise.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) && e.Kind != 0 {
		return e.Kind
	}
	return Fatal
}
