package pgrepl

import (
	"errors"
	"fmt"
)

var (
	errNoRow = errors.New("the server returned no row")
	// ErrSilent says that the server was silent for longer than it may be.
	ErrSilent = errors.New("the server was silent for longer than the liveness limit")
	// ErrServerDone says that the server ended the stream by itself.
	ErrServerDone = errors.New("the server ended the stream")
)

// ProtocolError is a message that the server should never send. The stream
// can't be trusted any more.
type ProtocolError struct {
	// Type is the message's type byte.
	Type byte
	Msg  string
}

// Error names the message.
func (e *ProtocolError) Error() string {
	return fmt.Sprintf("replication protocol: message %q: %s", e.Type, e.Msg)
}
