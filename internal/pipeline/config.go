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

// Config is all that a pipeline needs. Every field but Router's and Tables'
// types is a plain value or a function, so that tests replace the
// server and the sinks.
type Config struct {
	Log    *slog.Logger
	Tables *decoder.Tables
	Router *router.Router
	// Formats are the formats by name; "" is that of rules that name none.
	Formats map[string]Formatter
	Limits  offset.Limits
	// Connect reaches the server and checks everything; see Session.
	Connect func(ctx context.Context) (Session, error)
	// OpenSinks makes one sink of each kind that the routes name.
	OpenSinks func(sink.Results) (map[string]sink.Sink, error)

	// OwnsSlot asks over an ordinary connection whether the slot is in use by
	// the walsender with this process id; an error means that it is not known,
	// or that nobody uses it, and the session ends. May be nil.
	OwnsSlot func(ctx context.Context, pid uint32) (bool, error)
	// WALEnd asks over an ordinary connection where the server's WAL ends; it must
	// be the server of the walsender with this process id. May be nil.
	WALEnd func(ctx context.Context, pid uint32) (decoder.LSN, error)
	// ServerStopping asks for a connection, and is true only when the server
	// refuses it because it is shutting down. May be nil.
	ServerStopping func(ctx context.Context) bool
	// Checkpoint stores the position beside the slot; nil for none.
	Checkpoint CheckpointStore
	// Decoded asks how many transactions the server has decoded for the slot
	// since its statistics began; 0 or less where that is not known. The answer
	// is of the slot that is there when it is called. May be nil.
	Decoded func(ctx context.Context) (int64, error)
	// NewerRows asks the tables whether any row is newer than a checkpoint's
	// snapshot. May be nil.
	NewerRows func(ctx context.Context, c *offset.Checkpoint) (offset.NewerRows, error)
	// AcceptGap is the one gap that the operator has accepted; 0 for none.
	AcceptGap decoder.LSN
	// Skip are the events that the operator gave up.
	Skip []SkipEntry
	// FromSlot begins at a slot that stands below its checkpoint, so that an
	// operator who rewinds the slot is obeyed.
	FromSlot bool

	StatusInterval time.Duration
	// OffsetInterval is the time between two writes of the checkpoint.
	OffsetInterval time.Duration
	BackoffMax     time.Duration
	HoldRetry      time.Duration
	StandbyPoll    time.Duration
	ShutdownGrace  time.Duration
	// NoStandby holds where another process has the slot.
	NoStandby bool
	// ExitOnHold ends Run with a *HoldError instead of holding.
	ExitOnHold bool
}

// Formatter makes a record's value and headers from an event; format.Format
// says how.
type Formatter interface {
	Append(rec *sink.Record, ev *decoder.Event, buf []byte) ([]byte, error)
	Room(n int) int
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
	// PID is the walsender's process id.
	PID uint32
	// SlotConfirmed and SlotRestart are the slot's confirmed_flush_lsn and
	// restart_lsn.
	SlotConfirmed, SlotRestart decoder.LSN
	// Insert is the server's WAL insert position at this connect.
	Insert decoder.LSN
	// Slot is the slot's name.
	Slot string
	// Tables are the outbox tables by their OIDs.
	Tables map[uint32]decoder.TableName
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
