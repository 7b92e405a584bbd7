package router

import (
	"crypto/sha256"
	"encoding/hex"
	"unicode"
	"unicode/utf8"
)

type filter uint8

const (
	filterLower filter = iota + 1
	filterUpper
	filterHash
)

// hashLen is how many characters of the hexadecimal SHA-256 "hash" keeps: 128
// bits, more than enough against accidental equality.
const hashLen = 32

func filterNames() []string { return []string{"lower", "upper", "hash"} }

// parseFilter is false for a name that is no filter.
func parseFilter(name string) (f filter, ok bool) {
	for i, n := range filterNames() {
		if n == name {
			return filterLower + filter(i), true
		}
	}
	return 0, false
}

// append appends the filtered value, which may be a part of buf.
func (f filter) append(buf, value []byte) []byte {
	switch f {
	case filterLower:
		return appendMapped(buf, value, unicode.ToLower)
	case filterUpper:
		return appendMapped(buf, value, unicode.ToUpper)
	case filterHash:
		sum := sha256.Sum256(value)
		return hex.AppendEncode(buf, sum[:hashLen/2])
	}
	return buf
}

// appendMapped maps character by character, with Unicode's simple case rules.
// Bytes that are no UTF-8 (a bytea key) stay as they are.
func appendMapped(buf, value []byte, to func(rune) rune) []byte {
	for i := 0; i < len(value); {
		r, n := utf8.DecodeRune(value[i:])
		if r == utf8.RuneError && n <= 1 {
			buf = append(buf, value[i])
			i++
			continue
		}
		buf = utf8.AppendRune(buf, to(r))
		i += n
	}
	return buf
}
