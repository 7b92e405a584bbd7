package format

import (
	"strings"

	"github.com/outbox-cdc/outbox-cdc/internal/rowheaders"
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// The names of our own headers, in the order in which they go out.
const (
	HeaderEventID       = "event-id"
	HeaderEventType     = "event-type"
	HeaderPosition      = "position"
	HeaderSource        = "source"
	HeaderCreatedAt     = "created-at"
	HeaderAggregateType = "aggregate-type"
	HeaderAggregateID   = "aggregate-id"
	HeaderSequence      = "sequence"
	HeaderSchemaVersion = "schema-version"
	HeaderTenant        = "tenant"
	HeaderCorrelationID = "correlation-id"
	HeaderTrace         = "traceparent"
)

// Prefixes of names that are kept for formats and dead letters.
const (
	prefixCloudEvents = "ce_"
	prefixDeadLetter  = "dlq-"
)

// roleHeader is a header that holds a column's text.
type roleHeader struct {
	name string
	role decoder.Role
}

// columnHeaders are the headers behind position and source, in their order.
func columnHeaders() [8]roleHeader {
	return [...]roleHeader{
		{HeaderCreatedAt, decoder.RoleCreatedAt},
		{HeaderAggregateType, decoder.RoleAggregateType},
		{HeaderAggregateID, decoder.RoleAggregateID},
		{HeaderSequence, decoder.RoleSequence},
		{HeaderSchemaVersion, decoder.RoleSchemaVersion},
		{HeaderTenant, decoder.RoleTenant},
		{HeaderCorrelationID, decoder.RoleCorrelationID},
		{HeaderTrace, decoder.RoleTrace},
	}
}

// Reserved tells whether a row's own header must not have this name, in any
// mix of capital and small letters: it is one of ours, or begins with "ce_" or
// "dlq-". Such a row is poison, else its writer could forge our headers.
func Reserved(name string) bool {
	switch strings.ToLower(name) {
	case HeaderEventID, HeaderEventType, HeaderPosition, HeaderSource, HeaderCreatedAt,
		HeaderAggregateType, HeaderAggregateID, HeaderSequence, HeaderSchemaVersion,
		HeaderTenant, HeaderCorrelationID, HeaderTrace:
		return true
	}
	return hasPrefixFold(name, prefixCloudEvents) || hasPrefixFold(name, prefixDeadLetter)
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// appendRowHeaders appends the members of the row's headers column.
func appendRowHeaders(to []sink.Header, ev *decoder.Event) ([]sink.Header, error) {
	column := ev.Field(decoder.RoleHeaders)
	if column == nil {
		return to, nil
	}
	s := rowheaders.Scan(column)
	for m, ok := s.Next(); ok; m, ok = s.Next() {
		name := string(m.Name)
		if Reserved(name) {
			return to, refuse(ev, ReasonReservedHeader, "the row's header "+quote(m.Name)+" has a reserved name",
				"rename it in the writer")
		}
		if !m.Null {
			to = append(to, sink.Header{Name: name, Value: m.Value})
		}
	}
	if err := s.Err(); err != nil {
		return to, refuse(ev, ReasonBadHeaders, err.Error(), "mend the writer: the column holds one JSON object")
	}
	return to, nil
}
