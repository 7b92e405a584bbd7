package pipeline

import (
	"context"
	"log/slog"
	"time"

	"github.com/outbox-cdc/outbox-cdc/internal/pgrepl"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/offset"
	"github.com/outbox-cdc/outbox-cdc/pkg/router"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// Config is all that a pipeline needs. Every field but Formatter's, Router's
// and Tables' types is a plain value or a function, so that tests replace the
// server and the sinks.
type Config struct {
	Log    *slog.Logger
	Tables *decoder.Tables
	Router *router.Router
	Format Formatter
	Limits offset.Limits
	// Connect reaches the server and checks everything; see Session.
	Connect func(ctx context.Context) (Session, error)
	// OpenSinks makes one sink of each kind that the routes name.
	OpenSinks func(sink.Results) (map[string]sink.Sink, error)

	StatusInterval time.Duration
	BackoffMax     time.Duration
	HoldRetry      time.Duration
	StandbyPoll    time.Duration
	ShutdownGrace  time.Duration
	// ExitOnHold ends Run with a *HoldError instead of holding.
	ExitOnHold bool
}

// Formatter makes a record's value and headers from an event.
type Formatter interface {
	Append(rec *sink.Record, ev *decoder.Event, buf []byte) ([]byte, error)
}

// Session is a replication connection on which nothing streams yet. All that
// an operator would have to mend has been checked.
type Session interface {
	// Info is what the server says of itself and of the slot.
	Info() SessionInfo
	// Start streams from the position, or from the slot's own for 0. It uses
	// the session up.
	Start(ctx context.Context, at decoder.LSN) (Source, error)
	Close(ctx context.Context)
}

// SessionInfo describes a session's server and slot.
type SessionInfo struct {
	pgrepl.Identity
	// SlotConfirmed is the slot's confirmed_flush_lsn.
	SlotConfirmed decoder.LSN
	// SenderTimeout is the wal_sender_timeout in force; 0 means off.
	SenderTimeout time.Duration
}

// Source is a stream; *pgrepl.Stream is the real one.
type Source interface {
	Next(deadline time.Time) (pgrepl.Frame, error)
	Buffered() bool
	Received() time.Time
	Interrupt()
	SendStatus(pgrepl.Status) error
	Finish(st pgrepl.Status, deadline time.Time) error
	Close()
}

var _ Source = (*pgrepl.Stream)(nil)
