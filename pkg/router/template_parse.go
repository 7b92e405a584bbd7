package router

import "strings"

// parseTemplate reads literal text and "{field|filter}"; on a fault it reports
// it and ok is false.
func parseTemplate(w word, f *faults) (t *template, ok bool) {
	t = &template{text: w.text}
	before := len(f.list)
	var literal []byte
	flush := func() {
		if len(literal) > 0 {
			t.parts = append(t.parts, part{literal: string(literal)})
			literal = nil
		}
	}
	for i := 0; i < len(w.text); i++ {
		c := w.text[i]
		switch {
		case strings.HasPrefix(w.text[i:], "${"):
			return t, false // the lexer has refused it already
		case c != '{' && c != '}':
			literal = append(literal, c)
		case i+1 < len(w.text) && w.text[i+1] == c:
			literal = append(literal, c)
			i++
		case c == '}':
			f.add(w.pos(i), `write "}}" for a literal brace`, `"}" without "{"`)
		default:
			n := strings.IndexAny(w.text[i+1:], "{}")
			if n < 0 || w.text[i+1+n] == '{' {
				f.add(w.pos(i), `close it with "}", or write "{{" for a literal brace`, `"{" is never closed`)
				return t, false
			}
			flush()
			if p, good := parsePart(w.slice(i+1, i+1+n), f); good {
				p.at = w.pos(i)
				t.parts = append(t.parts, p)
			}
			i += n + 1
		}
	}
	flush()
	return t, len(f.list) == before
}

// parsePart reads what stands between the braces.
func parsePart(w word, f *faults) (p part, ok bool) {
	name, rest, more := cutWord(w, '|')
	p.field, ok = parseField(name, f)
	for more {
		var one word
		one, rest, more = cutWord(rest, '|')
		fl, known := parseFilter(one.text)
		if !known {
			f.add(one.at, didYouMean(one.text, filterNames()), "unknown filter %s", quote(one.text))
			ok = false
			continue
		}
		p.filters = append(p.filters, fl)
	}
	return p, ok
}

// cutWord cuts at the first c, quoted or not: inside braces quotes have no
// meaning, so that a whole template can be quoted.
func cutWord(w word, c byte) (before, after word, found bool) {
	i := strings.IndexByte(w.text, c)
	if i < 0 {
		return w, word{}, false
	}
	return w.slice(0, i), w.slice(i+1, len(w.text)), true
}
