package stdout

import (
	"encoding/base64"
	"time"
	"unicode/utf8"

	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// AppendLine appends a record's line, with its newline. A route, where there is
// one, is the line's first member. It needs no Sink, and any goroutine may call
// it.
func AppendLine(b []byte, route string, r *sink.Record) []byte {
	b = append(b, '{')
	if route != "" {
		b = append(b, `"route":`...)
		b = appendString(b, route)
		b = append(b, ',')
	}
	b = append(b, `"destination":`...)
	b = appendString(b, r.Destination)
	if !r.Time.IsZero() {
		b = append(b, `,"time":"`...)
		b = r.Time.UTC().AppendFormat(b, time.RFC3339Nano)
		b = append(b, '"')
	}
	b = append(b, ',')
	b = appendBytes(b, "key", r.Key)
	b = append(b, `,"headers":[`...)
	for i := range r.Headers {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		b = appendBytes(b, "name", []byte(r.Headers[i].Name))
		b = append(b, ',')
		b = appendBytes(b, "value", r.Headers[i].Value)
		b = append(b, '}')
	}
	b = append(b, `],`...)
	b = appendBytes(b, "value", r.Value)
	return append(b, "}\n"...)
}

// appendBytes appends a member: null for nil, a string for text, else base64
// under another name.
func appendBytes(b []byte, name string, v []byte) []byte {
	b = append(b, '"')
	b = append(b, name...)
	switch {
	case v == nil:
		return append(b, `":null`...)
	case utf8.Valid(v):
		b = append(b, `":`...)
		return appendString(b, v)
	}
	b = append(b, `_base64":"`...)
	b = base64.StdEncoding.AppendEncode(b, v)
	return append(b, '"')
}

const lowerHex = "0123456789abcdef"

// appendString appends valid UTF-8 as a JSON string, escaping no more than JSON
// demands. In a destination, the only text that is not checked, bytes that are
// not UTF-8 go out as they are.
func appendString[T string | []byte](b []byte, s T) []byte {
	b = append(b, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, `\n`...)
		case '\t':
			b = append(b, `\t`...)
		case '\r':
			b = append(b, `\r`...)
		default:
			b = append(b, `\u00`...)
			b = append(b, lowerHex[c>>4], lowerHex[c&0xf])
		}
	}
	b = append(b, s[from:]...)
	return append(b, '"')
}
