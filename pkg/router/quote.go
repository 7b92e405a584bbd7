package router

import "strconv"

// maxQuoted bounds text of unknown origin in errors, in bytes.
const maxQuoted = 128

// quote makes rows' and rules' text safe for one line of a log.
func quote[T string | []byte](text T) string {
	if len(text) > maxQuoted {
		return strconv.Quote(string(text[:maxQuoted])) + "..."
	}
	return strconv.Quote(string(text))
}

// clip bounds text that is quoted later.
func clip(text string) string {
	if len(text) > maxQuoted {
		return text[:maxQuoted] + "..."
	}
	return text
}
