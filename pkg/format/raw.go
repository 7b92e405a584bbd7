package format

import (
	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// Raw is the format "raw": the value is the payload column, untouched, and all
// else are headers. It never changes; any goroutine may use it.
type Raw struct {
	source  []byte
	columns [8]roleHeader
}

// NewRaw makes the format; source is the value of the header "source".
func NewRaw(source string) *Raw {
	return &Raw{source: []byte(source), columns: columnHeaders()}
}

// Append sets the record's Value, Headers (appended to rec.Headers[:0]), Time
// and Position; Destination, Key and Owner are the caller's. What had to be
// made, the text of the position, is appended to buf, which is returned,
// extended. The record then points into the event, into buf and into the
// format: all three must stay unchanged until the record has its result.
//
// A column that is NULL or that the table does not have gives no header, an
// empty one an empty header. Behind our headers come the members of the row's
// headers column in the server's order: strings as their text, null not at
// all, anything else as its JSON text; repeated names stay repeated. Only rows
// with such a column cost allocations.
//
// An error is a *sink.Error of kind Poison and scope ScopeRecord with one of
// the Reason constants; the record's contents are undefined then.
func (f *Raw) Append(rec *sink.Record, ev *decoder.Event, buf []byte) ([]byte, error) {
	rec.Value = ev.Field(decoder.RolePayload)
	if rec.Value == nil {
		return buf, refuse(ev, ReasonNullPayload, "the payload is NULL", "mend the writer; this version delivers no null values")
	}
	rec.Time = ev.CommitTime

	start := len(buf)
	buf, err := ev.Position.AppendText(buf)
	if err != nil {
		return buf, err
	}
	rec.Position = buf[start:len(buf):len(buf)]

	h := rec.Headers[:0]
	h = appendColumn(h, ev, HeaderEventID, decoder.RoleID)
	h = appendColumn(h, ev, HeaderEventType, decoder.RoleType)
	h = append(h, sink.Header{Name: HeaderPosition, Value: rec.Position}, sink.Header{Name: HeaderSource, Value: f.source})
	for i := range f.columns {
		h = appendColumn(h, ev, f.columns[i].name, f.columns[i].role)
	}
	rec.Headers, err = appendRowHeaders(h, ev)
	return buf, err
}

func appendColumn(to []sink.Header, ev *decoder.Event, name string, r decoder.Role) []sink.Header {
	v := ev.Field(r)
	if v == nil {
		return to
	}
	return append(to, sink.Header{Name: name, Value: v})
}
