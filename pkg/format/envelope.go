package format

import (
	"encoding/base64"
	"encoding/json"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// Envelope is the format "envelope": a JSON object with the event's columns and
// the payload as it is. Its headers are those of raw.
type Envelope struct {
	headers headers
	source  string // the beginning of the member "source"
}

var _ Format = (*Envelope)(nil)

// NewEnvelope makes the format.
func NewEnvelope(o Options) *Envelope {
	source := appendString([]byte(`,"source":{"name":`), o.Source)
	source = appendString(append(source, `,"database":`...), o.Database)
	return &Envelope{newHeaders(o), string(append(source, `,"schema":`...))}
}

// member is a member of the envelope that holds a column.
type member struct {
	// name with the comma before it, the quotes, and the colon.
	name string
	role decoder.Role
	kind memberKind
}

type memberKind uint8

const (
	memberText   memberKind = iota
	memberNumber            // a number where the column is an integer
	memberTime              // RFC 3339 where the column is a timestamp
)

func envelopeMembers() [10]member {
	return [...]member{
		{`,"eventId":`, decoder.RoleID, memberText},
		{`,"eventType":`, decoder.RoleType, memberText},
		{`,"partitionKey":`, decoder.RoleKey, memberText},
		{`,"occurredAt":`, decoder.RoleCreatedAt, memberTime},
		{`,"aggregateType":`, decoder.RoleAggregateType, memberText},
		{`,"aggregateId":`, decoder.RoleAggregateID, memberText},
		{`,"sequence":`, decoder.RoleSequence, memberNumber},
		{`,"schemaVersion":`, decoder.RoleSchemaVersion, memberNumber},
		{`,"tenant":`, decoder.RoleTenant, memberText},
		{`,"correlationId":`, decoder.RoleCorrelationID, memberText},
	}
}

// envelopeRoom is what the envelope's own text and the short columns take.
const envelopeRoom = 640

// Room implements Format: a payload that is JSON stands in it as it is.
func (f *Envelope) Room(n int) int { return n + envelopeRoom }

// commitTime is RFC 3339 with the six digits that PostgreSQL has.
const commitTime = "2006-01-02T15:04:05.000000Z07:00"

// Append implements Format.
func (f *Envelope) Append(rec *sink.Record, ev *decoder.Event, buf []byte) ([]byte, error) {
	payload := ev.Field(decoder.RolePayload)
	if payload == nil {
		return buf, refuseNullPayload(ev)
	}
	buf, err := f.headers.append(rec, ev, buf)
	if err != nil {
		return buf, err
	}
	start := len(buf)
	buf = append(buf, `{"v":1`...)
	for _, m := range envelopeMembers() {
		if v := ev.Field(m.role); v != nil {
			buf = appendMember(append(buf, m.name...), ev, m, v)
		}
	}
	buf = appendString(append(buf, f.source...), ev.Table.Name.Schema)
	buf = appendString(append(buf, `,"table":`...), ev.Table.Name.Name)
	buf = appendString(append(buf, `,"position":`...), rec.Position)
	buf = append(buf, `,"commitTime":"`...)
	buf = ev.CommitTime.UTC().AppendFormat(buf, commitTime)
	buf = append(buf, `"},"payload":`...)
	buf = append(appendPayload(buf, ev, payload), '}')
	rec.Value = buf[start:len(buf):len(buf)]
	return buf, nil
}

// appendMember appends a column as its kind and its type have it.
func appendMember(to []byte, ev *decoder.Event, m member, v []byte) []byte {
	_, oid, _ := ev.Table.Column(m.role)
	switch {
	case oid == decoder.OIDBytea:
		return appendBase64(to, v)
	case m.kind == memberNumber && (oid == decoder.OIDInt2 || oid == decoder.OIDInt4 || oid == decoder.OIDInt8):
		return append(to, v...)
	case m.kind == memberTime && (oid == decoder.OIDTimestamp || oid == decoder.OIDTimestamptz):
		return appendTime(to, v)
	}
	return appendString(to, v)
}

// appendPayload embeds what is JSON as it is. Text that is not becomes a string.
func appendPayload(to []byte, ev *decoder.Event, payload []byte) []byte {
	switch _, oid, _ := ev.Table.Column(decoder.RolePayload); {
	case oid == decoder.OIDBytea:
		return appendBase64(to, payload)
	case oid == decoder.OIDJSON, oid == decoder.OIDJSONB, json.Valid(payload):
		return append(to, payload...)
	}
	return appendString(to, payload)
}

func appendBase64(to, v []byte) []byte {
	return append(base64.StdEncoding.AppendEncode(append(to, '"'), v), '"')
}
