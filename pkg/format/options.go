package format

import (
	"errors"
	"fmt"
	"slices"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// The formats' names in settings and rules.
const (
	NameRaw      = "raw"
	NameEnvelope = "envelope"
)

// Options are what the formats are made from.
type Options struct {
	// Source is the value of the header "source", and a member of it in an
	// envelope: OUTBOX_CDC_NAME.
	Source string
	// Database is the database's name, for envelopes.
	Database string
	// Headers are the roles that become headers; nil is all that can.
	Headers []decoder.Role
}

// Format makes a record's value and headers from an event. Implementations
// never change; any goroutine may use them.
type Format interface {
	// Append sets the record's Value, Headers (appended to rec.Headers[:0]),
	// Time and Position; Destination, Key and Owner are the caller's. What had
	// to be made is appended to buf, which is returned, extended. The record
	// then points into the event, into buf and into the format: all three must
	// stay unchanged until the record has its result.
	//
	// An error is a *sink.Error of kind Poison and scope ScopeRecord with one
	// of the Reason constants; the record's contents are undefined then.
	Append(rec *sink.Record, ev *decoder.Event, buf []byte) ([]byte, error)
	// Room is how much Append usually adds to buf for a row of n bytes, beyond
	// the text of a position. It may add more; then buf grows.
	Room(n int) int
}

var errNoFormat = errors.New("no such format")

// New makes the format of the given name.
func New(name string, o Options) (Format, error) {
	switch name {
	case NameRaw:
		return NewRaw(o), nil
	case NameEnvelope:
		return NewEnvelope(o), nil
	}
	return nil, fmt.Errorf("%w: %.32q", errNoFormat, name)
}

// HeaderRoles lists the roles that can become headers: those with a header of
// their own, and RoleHeaders, whose column holds the row's own ones.
func HeaderRoles() []decoder.Role {
	roles := []decoder.Role{decoder.RoleID, decoder.RoleType}
	for _, h := range columnHeaders() {
		roles = append(roles, h.role)
	}
	return append(roles, decoder.RoleHeaders)
}

// headers makes the headers that raw and envelope have in common.
type headers struct {
	source  []byte
	id      []roleHeader // those in front of position and source
	columns []roleHeader // those behind them
	rows    bool         // the row's own ones, too
}

func newHeaders(o Options) headers {
	wanted := func(r decoder.Role) bool { return o.Headers == nil || slices.Contains(o.Headers, r) }
	h := headers{source: []byte(o.Source), rows: wanted(decoder.RoleHeaders)}
	for _, c := range []roleHeader{{HeaderEventID, decoder.RoleID}, {HeaderEventType, decoder.RoleType}} {
		if wanted(c.role) {
			h.id = append(h.id, c)
		}
	}
	for _, c := range columnHeaders() {
		if wanted(c.role) {
			h.columns = append(h.columns, c)
		}
	}
	return h
}

// append sets the record's position, time and headers; only the position is
// appended to buf.
//
// A column that is NULL or that the table does not have gives no header, an
// empty one an empty header. Behind our headers come the members of the row's
// headers column in the server's order: strings as their text, null not at
// all, anything else as its JSON text; repeated names stay repeated. Only rows
// with such a column cost allocations.
func (f *headers) append(rec *sink.Record, ev *decoder.Event, buf []byte) ([]byte, error) {
	rec.Time = ev.CommitTime
	start := len(buf)
	buf, err := ev.Position.AppendText(buf)
	if err != nil {
		return buf, err
	}
	rec.Position = buf[start:len(buf):len(buf)]
	h := rec.Headers[:0]
	for i := range f.id {
		h = appendColumn(h, ev, f.id[i].name, f.id[i].role)
	}
	h = append(h, sink.Header{Name: HeaderPosition, Value: rec.Position}, sink.Header{Name: HeaderSource, Value: f.source})
	for i := range f.columns {
		h = appendColumn(h, ev, f.columns[i].name, f.columns[i].role)
	}
	if f.rows {
		h, err = appendRowHeaders(h, ev)
	}
	rec.Headers = h
	return buf, err
}

func appendColumn(to []sink.Header, ev *decoder.Event, name string, r decoder.Role) []sink.Header {
	v := ev.Field(r)
	if v == nil {
		return to
	}
	return append(to, sink.Header{Name: name, Value: v})
}
