package format

// appendString appends v as a JSON string. Only what must be is escaped
// (RFC 8259, section 7); the server's text is valid UTF-8.
func appendString[T ~string | ~[]byte](to []byte, v T) []byte {
	const hex = "0123456789abcdef"
	to = append(to, '"')
	from := 0
	for i := range len(v) {
		c := v[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		to = append(to, v[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			to = append(to, '\\', c)
		case '\n':
			to = append(to, '\\', 'n')
		case '\r':
			to = append(to, '\\', 'r')
		case '\t':
			to = append(to, '\\', 't')
		default:
			to = append(to, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xF])
		}
	}
	to = append(to, v[from:]...)
	return append(to, '"')
}

// appendTime appends a timestamp in RFC 3339, in UTC. The session pins DateStyle
// to ISO and TimeZone to UTC, so that the server's text is
// "2026-03-01 12:00:00.123456+00", without the zone for a type that has none.
// What RFC 3339 can't say (infinity, years of five digits, BC) stays as it is.
func appendTime(to, v []byte) []byte {
	text := v
	if n := len(text) - len("+00"); n > 0 && string(text[n:]) == "+00" {
		text = text[:n]
	}
	const shape = "0000-00-00 00:00:00"
	if len(text) < len(shape) || !hasShape(text[:len(shape)], shape) || !isFraction(text[len(shape):]) {
		return appendString(to, v)
	}
	to = append(append(to, '"'), text...)
	to[len(to)-len(text)+len("0000-00-00")] = 'T'
	return append(to, 'Z', '"')
}

// hasShape compares the text with a shape in which 0 stands for any digit.
func hasShape(text []byte, shape string) bool {
	for i := range len(shape) {
		if isDigit(text[i]) != (shape[i] == '0') || shape[i] != '0' && text[i] != shape[i] {
			return false
		}
	}
	return true
}

// isFraction tells whether the text is nothing, or a point and digits.
func isFraction(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	if text[0] != '.' || len(text) == 1 {
		return false
	}
	for _, c := range text[1:] {
		if !isDigit(c) {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
