package format

import (
	"fmt"
	"strconv"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// The reasons of a format's errors, for metrics.
const (
	ReasonNullPayload    = "null_payload"
	ReasonBadHeaders     = "bad_headers"
	ReasonReservedHeader = "reserved_header"
)

// maxQuoted bounds rows' text in errors, in bytes.
const maxQuoted = 128

// refuse is an error about an event that has no form. It names the event and
// holds nothing of its payload.
func refuse(ev *decoder.Event, reason, what, remedy string) error {
	return &sink.Error{
		Kind: sink.Poison, Scope: sink.ScopeRecord, Reason: reason, Remedy: remedy,
		Sink: "format", Destination: ev.Table.Name.String(),
		Err: fmt.Errorf("event %s of type %s at %s: %s", quote(ev.Field(decoder.RoleID)), quote(ev.Field(decoder.RoleType)), ev.Position, what),
	}
}

// quote makes a row's text safe for one line of a log.
func quote(text []byte) string {
	if len(text) > maxQuoted {
		return strconv.Quote(string(text[:maxQuoted])) + "..."
	}
	return strconv.Quote(string(text))
}
