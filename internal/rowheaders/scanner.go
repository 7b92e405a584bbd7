package rowheaders

import (
	"bytes"
	"encoding/json"
	"errors"
)

// The faults of a headers column. None carries any of its text.
var (
	ErrInvalid   = errors.New("the headers column is not valid JSON")
	ErrNotObject = errors.New("the headers column is not a JSON object")
	ErrSurrogate = errors.New("the headers column holds half of a surrogate pair, which is no character")
)

// Member is one name and value of the object.
type Member struct {
	// Name is the unescaped name.
	Name []byte
	// Value is a string's unescaped text; any other value's JSON text as the
	// server printed it.
	Value []byte
	// Null tells that the value is JSON's null, which is "no such header".
	Null bool
}

// Scanner walks the members of one object. Use it in one goroutine.
type Scanner struct {
	s   []byte
	pos int
	err error
}

// Scan begins to read a headers column. Member slices point into it where
// nothing had to be unescaped, so they live as long as it does.
func Scan(column []byte) Scanner {
	s := Scanner{s: column}
	// The scanner below relies on the syntax having been checked as a whole:
	// it never looks at a byte twice and needs no bounds of its own.
	if !json.Valid(column) {
		s.err = ErrInvalid
		return s
	}
	s.space()
	if s.s[s.pos] != '{' {
		s.err = ErrNotObject
		return s
	}
	s.pos++
	return s
}

// Next gives the next member. It is false at the end and on a fault; ask Err.
func (s *Scanner) Next() (m Member, ok bool) {
	if s.err != nil {
		return Member{}, false
	}
	s.space()
	if s.s[s.pos] == ',' {
		s.pos++
		s.space()
	}
	if s.s[s.pos] == '}' {
		return Member{}, false
	}
	m.Name = s.str()
	s.space()
	s.pos++ // the colon
	s.space()
	if s.s[s.pos] == '"' {
		m.Value = s.str()
	} else {
		m.Value = s.raw()
		m.Null = string(m.Value) == "null"
	}
	return m, s.err == nil
}

// Err is why Next stopped before the end: one of the package's errors, or nil.
func (s *Scanner) Err() error { return s.err }

func (s *Scanner) space() {
	for s.pos < len(s.s) {
		switch s.s[s.pos] {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return
		}
	}
}

// skipString moves past a string literal and tells whether it has escapes.
func (s *Scanner) skipString() (escaped bool) {
	for s.pos++; ; s.pos++ {
		switch s.s[s.pos] {
		case '\\':
			escaped = true
			s.pos++
		case '"':
			s.pos++
			return escaped
		}
	}
}

// str reads a string literal.
func (s *Scanner) str() []byte {
	start := s.pos + 1
	escaped := s.skipString()
	text := s.s[start : s.pos-1 : s.pos-1]
	if !escaped {
		return text
	}
	out, err := unescape(text)
	if err != nil {
		s.err = err
	}
	return out
}

// raw reads any other value: its text up to the member's end.
func (s *Scanner) raw() []byte {
	start, depth := s.pos, 0
	for {
		switch s.s[s.pos] {
		case '"':
			s.skipString()
			continue
		case '{', '[':
			depth++
		case ',':
			if depth == 0 {
				return bytes.TrimRight(s.s[start:s.pos:s.pos], " \t\r\n")
			}
		case '}', ']':
			if depth == 0 {
				return bytes.TrimRight(s.s[start:s.pos:s.pos], " \t\r\n")
			}
			depth--
		}
		s.pos++
	}
}
