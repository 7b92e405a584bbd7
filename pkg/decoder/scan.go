package decoder

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxIdent is NAMEDATALEN-1: PostgreSQL cuts longer names.
const maxIdent = 63

// ident is an SQL identifier and whether it was quoted.
type ident struct {
	text   string
	quoted bool
}

// scanner reads the texts of ParseTables and ParseMapping, and collects their faults.
type scanner struct {
	what   string
	text   string
	off    int
	faults []error
}

// fault notes an error about the character at offset at, which it counts from 1.
func (s *scanner) fault(at int, format string, args ...any) {
	at = min(at, len(s.text))
	s.faults = append(s.faults, fmt.Errorf("%s, character %d: %w", s.what,
		utf8.RuneCountInString(s.text[:at])+1, fmt.Errorf(format, args...)))
}

// err joins the faults.
func (s *scanner) err() error { return errors.Join(s.faults...) }

// peek is the next byte that is not white space, or 0 at the end.
func (s *scanner) peek() byte {
	rest := strings.TrimLeftFunc(s.text[s.off:], unicode.IsSpace)
	s.off = len(s.text) - len(rest)
	if rest == "" {
		return 0
	}
	return rest[0]
}

// take consumes c if it is next.
func (s *scanner) take(c byte) bool {
	if s.off < len(s.text) && s.peek() == c {
		s.off++
		return true
	}
	return false
}

// end tells whether only white space is left.
func (s *scanner) end() bool {
	s.peek()
	return s.off == len(s.text)
}

// skipTo goes on to the next of the bytes in stops that is not inside quotes,
// so that one fault does not hide those after it.
func (s *scanner) skipTo(stops string) {
	quoted := false
	for ; s.off < len(s.text); s.off++ {
		c := s.text[s.off]
		if c == '"' {
			quoted = !quoted
		}
		if !quoted && strings.IndexByte(stops, c) >= 0 {
			return
		}
	}
}

// ident reads an SQL identifier. It notes the fault itself if there is none.
func (s *scanner) ident(what string) (ident, bool) {
	c := s.peek()
	at := s.off
	var id ident
	if c == '"' {
		var ok bool
		if id, ok = s.quoted(); !ok {
			return ident{}, false
		}
	} else {
		id.text = s.bare()
	}
	switch {
	case id.text == "" && id.quoted:
		s.fault(at, "the %s is empty", what)
	case id.text == "" && s.off == len(s.text):
		s.fault(at, "a %s is missing", what)
	case id.text == "":
		s.fault(at, "want a %s, got %s; quote names that hold more than letters, digits, _ and $", what, s.next())
	case len(id.text) > maxIdent:
		s.fault(at, "the %s is longer than %d bytes, where PostgreSQL cuts names", what, maxIdent)
	case strings.ContainsRune(id.text, 0) || !utf8.ValidString(id.text):
		s.fault(at, "the %s is not valid UTF-8 without zero bytes", what)
	default:
		return id, true
	}
	return ident{}, false
}

// next is the next character, for an error.
func (s *scanner) next() string {
	c, _ := utf8.DecodeRuneInString(s.text[s.off:])
	return fmt.Sprintf("%q", c)
}

// bare reads letters, digits, _ and $, not beginning with a digit or $.
func (s *scanner) bare() string {
	rest := s.text[s.off:]
	n := strings.IndexFunc(rest, func(c rune) bool {
		return c != '_' && c != '$' && (c < '0' || c > '9') && !unicode.IsLetter(c) && !unicode.IsMark(c)
	})
	if n < 0 {
		n = len(rest)
	}
	if n > 0 && (rest[0] == '$' || '0' <= rest[0] && rest[0] <= '9') {
		n = 0
	}
	s.off += n
	return rest[:n]
}

// quoted reads "a ""quoted"" name".
func (s *scanner) quoted() (ident, bool) {
	at := s.off
	var b strings.Builder
	for i := at + 1; i < len(s.text); i++ {
		if s.text[i] != '"' {
			b.WriteByte(s.text[i])
			continue
		}
		if i+1 < len(s.text) && s.text[i+1] == '"' {
			b.WriteByte('"')
			i++
			continue
		}
		s.off = i + 1
		return ident{text: b.String(), quoted: true}, true
	}
	s.off = len(s.text)
	s.fault(at, "the closing quote is missing")
	return ident{}, false
}

// table reads schema.name.
func (s *scanner) table() (TableName, bool) {
	schema, ok := s.ident("schema")
	if !ok {
		return TableName{}, false
	}
	return s.tableAfter(schema)
}

// tableAfter reads the rest of a table name, from its dot on.
func (s *scanner) tableAfter(schema ident) (TableName, bool) {
	at := s.off
	if !s.take('.') {
		s.fault(at, "table %q needs its schema: write schema.table", clip(schema.text))
		return TableName{}, false
	}
	name, ok := s.ident("table name")
	if !ok {
		return TableName{}, false
	}
	return TableName{
		Schema: schema.text, foldSchema: !schema.quoted && foldASCII(schema.text) != schema.text,
		Name: name.text, foldName: !name.quoted && foldASCII(name.text) != name.text,
	}, true
}

// ParseTables reads a list of tables, such as
//
//	public.outbox, "Billing"."Outbox"
//
// Each needs its schema. A name that is not quoted stands for what is written
// and, where no table has exactly that name, for its lower-case form. The
// error joins all faults, each with its place.
func ParseTables(text string) ([]TableName, error) {
	s := scanner{what: "table list", text: text}
	if s.end() {
		return nil, errors.New(`table list: no table is named; want a list such as "public.outbox"`)
	}
	var all []TableName
	for {
		s.peek()
		at := s.off
		if n, ok := s.table(); ok {
			switch {
			case !s.end() && s.peek() != ',':
				s.fault(s.off, "want a comma between tables, got %s; quote names that hold more than letters, digits, _ and $", s.next())
			case contains(all, n):
				s.fault(at, "table %s is named twice", n)
			default:
				all = append(all, n)
			}
		}
		s.skipTo(",")
		if !s.take(',') {
			break
		}
	}
	if err := s.err(); err != nil {
		return nil, err
	}
	return all, nil
}

func contains(all []TableName, n TableName) bool {
	for _, m := range all {
		if m.plain() == n.plain() {
			return true
		}
	}
	return false
}
