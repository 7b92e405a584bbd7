package router

import (
	"errors"
	"fmt"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// The reasons of Route's errors, for metrics.
const (
	ReasonNullID      = "null_id"
	ReasonNullType    = "null_type"
	ReasonNoRoute     = "no_route"
	ReasonEmptyField  = "empty_field"
	ReasonIllegalName = "illegal_name"
	ReasonBadHeaders  = "bad_headers"
)

// refuseRendering is an error about a name that could not be made. It stands
// apart from the hot path because errors.As makes its target escape.
func refuseRendering(to *dest, ev *decoder.Event, err error) error {
	var empty *emptyFieldError
	switch {
	case errors.As(err, &empty):
		return refuseName(to, ev, ReasonEmptyField, err.Error(), "fill the column, or route such events by a rule of their own")
	case errors.Is(err, errTooLong):
		return refuseName(to, ev, ReasonIllegalName, fmt.Sprintf("the topic's name has more than %d characters", maxTopic), "shorten the field with the filter hash")
	}
	return refuseHeaders(ev, err)
}

// refuse is an error about an event that no destination was found for.
func refuse(ev *decoder.Event, reason, what, remedy string) error {
	return &sink.Error{
		Kind: sink.Poison, Scope: sink.ScopeRecord, Reason: reason, Remedy: remedy,
		Sink: "router", Destination: ev.Table.Name.String(), Err: describe(ev, what),
	}
}

// refuseName is an error about a destination's name.
func refuseName(to *dest, ev *decoder.Event, reason, what, remedy string) error {
	return &sink.Error{
		Kind: sink.Poison, Scope: sink.ScopeRecord, Reason: reason, Remedy: remedy,
		Sink: to.sink, Destination: to.name.text, Err: describe(ev, what),
	}
}

func refuseHeaders(ev *decoder.Event, err error) error {
	return refuse(ev, ReasonBadHeaders, err.Error(), "mend the writer: the column holds one JSON object")
}

// describe names the event without its payload.
func describe(ev *decoder.Event, what string) error {
	return fmt.Errorf("event %s of type %s at %s: %s", quote(ev.Field(decoder.RoleID)), quote(ev.Field(decoder.RoleType)), ev.Position, what)
}
