package rowheaders

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape gives the text of a valid JSON string literal without its quotes.
//
// encoding/json is not used because it turns half a surrogate pair, which a
// json column may hold, into U+FFFD without a word: a silent edit.
func unescape(s []byte) ([]byte, error) {
	out := make([]byte, 0, len(s))
	for {
		i := bytes.IndexByte(s, '\\')
		if i < 0 {
			return append(out, s...), nil
		}
		out = append(out, s[:i]...)
		c := s[i+1]
		s = s[i+2:]
		if c != 'u' {
			out = append(out, simpleEscape(c))
			continue
		}
		r := hex4(s)
		s = s[4:]
		if utf16.IsSurrogate(r) {
			if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
				return nil, ErrSurrogate
			}
			r = utf16.DecodeRune(r, hex4(s[2:]))
			if r == utf8.RuneError {
				return nil, ErrSurrogate
			}
			s = s[6:]
		}
		out = utf8.AppendRune(out, r)
	}
}

func simpleEscape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c // '"', '\\' and '/' stand for themselves.
}

// hex4 reads four digits that the JSON check has already seen to be digits.
func hex4(s []byte) rune {
	n, _ := strconv.ParseUint(string(s[:4]), 16, 16)
	return rune(n)
}
