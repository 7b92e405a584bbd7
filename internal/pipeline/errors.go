package pipeline

import (
	"errors"
	"fmt"
)

var (
	errStopping   = errors.New("stopping")
	errNewHistory = errors.New("the slot's history is no longer the one that was streamed")
	errResume     = errors.New("after the reconnect the server did not go on with the transaction that was cut off")
	errLedger     = errors.New("the ledger and the stream disagree about the open transaction")
	errSinkFailed = errors.New("a sink has failed")
	errNoFormat   = errors.New("a rule names a format that is not there")
	errNoSink     = errors.New("a rule names a sink that was not opened")
)

// HoldError is something that only an operator, or time, can mend. The process
// stays up and looks again.
type HoldError struct {
	// Reason says what is wrong and where.
	Reason string
	// Remedy says what to do.
	Remedy string
	// Err is the cause, if another error says more.
	Err error
}

// Error is reason and remedy.
func (e *HoldError) Error() string {
	if e.Remedy == "" {
		return e.Reason
	}
	return e.Reason + "; " + e.Remedy
}

// Unwrap gives the cause.
func (e *HoldError) Unwrap() error { return e.Err }

// BusyError says that another process streams from the slot.
type BusyError struct {
	Slot string
	PID  int
}

// Error names the slot and the process.
func (e *BusyError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("slot %q is in use", e.Slot)
	}
	return fmt.Sprintf("slot %q is in use by the server process %d", e.Slot, e.PID)
}
