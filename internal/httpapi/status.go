package httpapi

import (
	"time"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// Status is the body of /status. Bytes are numbers, LSNs strings, times
// RFC 3339. It holds no payload and no secret.
type Status struct {
	Name    string    `json:"name"`
	Version string    `json:"version"`
	State   string    `json:"state"`
	Since   time.Time `json:"since"`
	Ready   bool      `json:"ready"`
	Reason  string    `json:"reason"`
	Remedy  string    `json:"remedy"`
	Slot    Slot      `json:"slot"`
	Stream  Stream    `json:"stream"`
	Routes  []Route   `json:"routes"`
	Halted  []Halted  `json:"halted"`
	Alerts  []Alert   `json:"alerts"`

	// Alive is the answer of /healthz: the loops turn.
	Alive bool `json:"-"`
}

// Slot is what is known of the replication slot.
type Slot struct {
	Name         string      `json:"name"`
	ConfirmedLSN decoder.LSN `json:"confirmed_lsn"`
	RestartLSN   decoder.LSN `json:"restart_lsn"`
	// LagBytes is the WAL that is not confirmed, RetainedBytes what the server
	// keeps for the slot.
	LagBytes      int64 `json:"lag_bytes"`
	RetainedBytes int64 `json:"retained_bytes"`
	// WALStatus is "" until the slot was looked at.
	WALStatus string `json:"wal_status"`
	// ReadAt is when the slot was looked at last; null before.
	ReadAt *time.Time `json:"read_at"`
}

// Stream is the replication session.
type Stream struct {
	Timeline       int32 `json:"timeline"`
	InFlightEvents int64 `json:"in_flight_events"`
	InFlightBytes  int64 `json:"in_flight_bytes"`
}

// Route is one rule.
type Route struct {
	Name      string `json:"name"`
	Delivered int64  `json:"delivered"`
	Halted    bool   `json:"halted"`
}

// Halted is an event that can't be delivered.
type Halted struct {
	Position string    `json:"position"`
	EventID  string    `json:"event_id"`
	Route    string    `json:"route"`
	Reason   string    `json:"reason"`
	Error    string    `json:"error"`
	Since    time.Time `json:"since"`
}

// Alert is a firing alert; this version has none.
type Alert struct{}
