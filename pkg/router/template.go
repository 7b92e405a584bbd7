package router

import (
	"errors"
	"fmt"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// template is text with fields of the event in it.
type template struct {
	text  string // as written, without quotes
	parts []part
}

// part is either literal text or a field with its filters.
type part struct {
	literal string
	field   field // kind 0: this part is literal
	filters []filter
	at      place // of the field
}

var errTooLong = errors.New("the name is too long")

// emptyFieldError names the field that a name cannot do without.
type emptyFieldError struct{ field field }

func (e *emptyFieldError) Error() string {
	return fmt.Sprintf("field %s is empty or NULL", e.field)
}

// literal is the text of a template without fields.
func (t *template) literal() (text string, ok bool) {
	switch {
	case len(t.parts) == 0:
		return "", true
	case len(t.parts) == 1 && t.parts[0].field.kind == 0:
		return t.parts[0].literal, true
	}
	return "", false
}

// firstField is the first part that is a field, or nil, and whether literal
// text stands before it.
func (t *template) firstField() (p *part, prefixed bool) {
	for i := range t.parts {
		if t.parts[i].field.kind != 0 {
			return &t.parts[i], i > 0
		}
	}
	return nil, false
}

// private tells that what was rendered may hold parts of the payload, a key or
// a header, none of which belongs into an error.
func (t *template) private() bool {
	for i := range t.parts {
		p := &t.parts[i]
		switch {
		case p.hashed():
		case p.field.kind == fieldHeader,
			p.field.role == decoder.RolePayload, p.field.role == decoder.RoleKey, p.field.role == decoder.RoleHeaders:
			return true
		}
	}
	return false
}

// column is the role of a template that is one unfiltered column, such as
// "{aggregate_id}": its value needs no copy.
func (t *template) column() (decoder.Role, bool) {
	if len(t.parts) != 1 || t.parts[0].field.kind != fieldRole || len(t.parts[0].filters) > 0 {
		return 0, false
	}
	return t.parts[0].field.role, true
}

// appendText renders for a key: an empty field is empty text.
func (t *template) appendText(buf []byte, ev *decoder.Event, scratch []byte) ([]byte, error) {
	for i := range t.parts {
		p := &t.parts[i]
		if p.field.kind == 0 {
			buf = append(buf, p.literal...)
			continue
		}
		v, err := p.field.value(ev, scratch)
		if err != nil {
			return buf, err
		}
		buf = p.appendFiltered(buf, v)
	}
	return buf, nil
}

// appendName renders a destination's name of at most limit bytes: an empty
// field is an *emptyFieldError. A field that is far too long is not even
// copied, so that no row can make the router keep a large buffer.
func (t *template) appendName(buf []byte, ev *decoder.Event, scratch []byte, limit int) ([]byte, error) {
	start := len(buf)
	for i := range t.parts {
		p := &t.parts[i]
		if p.field.kind == 0 {
			buf = append(buf, p.literal...)
			continue
		}
		v, err := p.field.value(ev, scratch)
		switch {
		case err != nil:
			return buf, err
		case len(v) == 0:
			return buf, &emptyFieldError{p.field}
		case len(v) > 4*limit && !p.hashed():
			return buf, errTooLong
		}
		buf = p.appendFiltered(buf, v)
		if len(buf)-start > limit {
			return buf, errTooLong
		}
	}
	return buf, nil
}

// hashed tells that the field's length does not matter.
func (p *part) hashed() bool { return len(p.filters) > 0 && p.filters[0] == filterHash }

// appendFiltered appends the value through all filters. An empty value stays
// empty, also under "hash": a hash of nothing would look like a value.
func (p *part) appendFiltered(buf, value []byte) []byte {
	if len(value) == 0 {
		return buf
	}
	if len(p.filters) == 0 {
		return append(buf, value...)
	}
	start := len(buf)
	buf = p.filters[0].append(buf, value)
	for _, f := range p.filters[1:] {
		// The next filter reads what the last one wrote and writes behind it.
		end := len(buf)
		buf = f.append(buf, buf[start:end])
		buf = buf[:start+copy(buf[start:], buf[end:])]
	}
	return buf
}
