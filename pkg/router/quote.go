package router

import (
	"strconv"
	"strings"
)

// maxQuoted bounds text of unknown origin in errors, in bytes.
const maxQuoted = 128

// quote makes rows' and rules' text safe for one line of a log.
func quote[T string | []byte](text T) string {
	if len(text) > maxQuoted {
		return strconv.Quote(string(text[:maxQuoted])) + "..."
	}
	return strconv.Quote(string(text))
}

// quoteWord is quote for a word of the rules that may be a URL in the wrong
// place: what follows the scheme may hold a password and is left out.
func quoteWord(text string) string {
	if scheme, _, url := strings.Cut(text, "://"); url {
		text = scheme + "://..."
	}
	return quote(text)
}
