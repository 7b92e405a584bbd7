package router

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokenWord tokenKind = iota + 1
	tokenArrow
	tokenComma
	tokenEnd // the end of a rule: a newline or ";"
	tokenEOF
)

type token struct {
	kind tokenKind
	at   place
	word word // of tokenWord
}

// lexer turns the text into tokens. It knows nothing of what words mean.
type lexer struct {
	text      string
	off       int
	line, col int
	tokens    []token
	faults    *faults
}

// lex splits the whole text; the last token is tokenEOF.
func lex(text string, f *faults) []token {
	l := &lexer{text: strings.TrimPrefix(text, "\uFEFF"), line: 1, col: 1, faults: f}
	for l.off < len(l.text) {
		l.next()
	}
	l.emit(tokenEOF)
	return l.tokens
}

func (l *lexer) here() place { return place{l.line, l.col} }

func (l *lexer) emit(k tokenKind) { l.tokens = append(l.tokens, token{kind: k, at: l.here()}) }

func (l *lexer) startsWith(s string) bool { return strings.HasPrefix(l.text[l.off:], s) }

// advance moves over n bytes that are n characters of one line.
func (l *lexer) advance(n int) { l.off += n; l.col += n }

func (l *lexer) next() {
	switch c := l.text[l.off]; {
	case c == ' ' || c == '\t' || c == '\r':
		l.advance(1)
	case c == '\n':
		l.newline()
	case c == ';':
		l.emit(tokenEnd)
		l.advance(1)
	case c == ',':
		l.emit(tokenComma)
		l.advance(1)
	case c == '#':
		for l.off < len(l.text) && l.text[l.off] != '\n' {
			l.off++
		}
	case l.startsWith("->"):
		l.arrow(false)
	default:
		l.scanWord()
	}
}

// newline ends the rule unless it visibly goes on.
func (l *lexer) newline() {
	n := len(l.tokens)
	if n == 0 || l.tokens[n-1].kind != tokenArrow && l.tokens[n-1].kind != tokenComma {
		l.emit(tokenEnd)
	}
	l.off++
	l.line++
	l.col = 1
}

// arrow insists on blanks around "->": without them the reader cannot tell it
// from a part of a name.
func (l *lexer) arrow(glued bool) {
	at := l.here()
	l.emit(tokenArrow)
	l.advance(2)
	if l.off < len(l.text) && !strings.ContainsRune(" \t\r\n;,", rune(l.text[l.off])) {
		glued = true
	}
	if glued {
		l.faults.add(at, `put a space on both sides of it, or quote what holds it`, `"->" touches a word`)
	}
}

// scanWord reads bare and quoted stretches up to a blank or a separator.
func (l *lexer) scanWord() {
	b := wordBuilder{w: word{at: l.here()}}
	for l.off < len(l.text) {
		c := l.text[l.off]
		if c == '"' {
			l.quoted(&b)
			continue
		}
		if strings.IndexByte(" \t\r\n;,", c) >= 0 {
			break
		}
		if l.startsWith("->") {
			l.pushWord(&b)
			l.arrow(true)
			return
		}
		l.char(&b, false)
	}
	l.pushWord(&b)
}

func (l *lexer) pushWord(b *wordBuilder) {
	b.w.text = string(b.text)
	if i := strings.Index(b.w.text, "${"); i >= 0 {
		l.faults.add(b.w.pos(i), `shells and compose files eat it; write the value itself, or "{field}" for a field of the event`, `"${" is refused`)
	}
	l.tokens = append(l.tokens, token{kind: tokenWord, at: b.w.at, word: b.w})
}

// quoted reads from the opening quote over the closing one.
func (l *lexer) quoted(b *wordBuilder) {
	open := l.here()
	l.advance(1)
	for l.off < len(l.text) && l.text[l.off] != '\n' {
		switch l.text[l.off] {
		case '"':
			l.advance(1)
			return
		case '\\':
			if l.startsWith(`\"`) || l.startsWith(`\\`) {
				l.off, l.col = l.off+1, l.col+1
				l.char(b, true)
				continue
			}
			l.faults.add(l.here(), `inside quotes write \" for a quote and \\ for a backslash`, `unknown escape`)
			l.char(b, true)
		default:
			l.char(b, true)
		}
	}
	l.faults.add(open, `close it on the same line`, `this quote is never closed`)
}

// char takes one character into the word, or reports why it can't.
func (l *lexer) char(b *wordBuilder, quoted bool) {
	r, size := utf8.DecodeRuneInString(l.text[l.off:])
	switch {
	case r == utf8.RuneError && size == 1:
		l.faults.add(l.here(), `save the rules as UTF-8`, `not UTF-8`)
	case unicode.IsControl(r):
		l.faults.add(l.here(), `remove it`, `control character %s`, codepoint(r))
	case !quoted && r > unicode.MaxASCII && (unicode.IsSpace(r) || r == '\uFEFF' || r == '\u200B'):
		l.faults.add(l.here(), `use an ordinary space, or quote it`, `invisible character %s`, codepoint(r))
	default:
		b.add(l.text[l.off:l.off+size], mark{l.col, quoted})
	}
	l.off += size
	l.col++
}

func codepoint(r rune) string { return fmt.Sprintf("%U", r) }

type wordBuilder struct {
	w    word
	text []byte
}

func (b *wordBuilder) add(char string, m mark) {
	b.text = append(b.text, char...)
	for range len(char) {
		b.w.marks = append(b.w.marks, m)
	}
}
