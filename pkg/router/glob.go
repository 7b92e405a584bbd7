package router

import (
	"strings"
	"unicode/utf8"
)

// glob is a compiled pattern of one alternative: "*" is any run of characters,
// also an empty one, "?" is exactly one character, everything else is itself.
type glob struct {
	text    string
	literal bool // no wildcard in it
}

func newGlob(text string) glob {
	return glob{text: text, literal: !strings.ContainsAny(text, "*?")}
}

// any tells that the glob takes every text.
func (g glob) any() bool { return g.text != "" && strings.Trim(g.text, "*") == "" }

// match tells whether the whole of s fits. Only the last "*" is ever tried
// again, so the time is at most len(s) x len(pattern), with no recursion.
func (g glob) match(s []byte) bool {
	if g.literal {
		return string(s) == g.text
	}
	p := g.text
	i, j := 0, 0          // next byte of s and p
	star, retry := -1, -1 // behind the last "*" in p; where in s to go on
	for i < len(s) {
		switch {
		case j < len(p) && p[j] == '*':
			j++
			star, retry = j, i
		case j < len(p) && p[j] == '?':
			i += charLen(s[i:])
			j++
		case j < len(p) && p[j] == s[i]:
			i++
			j++
		case star >= 0:
			// A run grows by whole characters, so that "?" behind it never
			// sees the middle of one.
			retry += charLen(s[retry:])
			i, j = retry, star
		default:
			return false
		}
	}
	return strings.Trim(p[j:], "*") == ""
}

func charLen(s []byte) int {
	_, n := utf8.DecodeRune(s)
	return n
}

// pattern is a list of alternatives.
type pattern []glob

func (p pattern) match(s []byte) bool {
	for _, g := range p {
		if g.match(s) {
			return true
		}
	}
	return false
}

// any tells that the pattern takes every text.
func (p pattern) any() bool {
	for _, g := range p {
		if g.any() {
			return true
		}
	}
	return false
}

func newPattern(w word) pattern {
	parts := w.split('|')
	p := make(pattern, len(parts))
	for i, part := range parts {
		p[i] = newGlob(part.text)
	}
	return p
}
