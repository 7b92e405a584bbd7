package router

// word is one word of the rules. Quotes are gone, but each byte remembers
// whether it was quoted and where it stood, so that later stages can tell a
// literal "|" from an alternative and name the column of a fault.
type word struct {
	text  string
	marks []mark // one for each byte of text
	at    place
}

type mark struct {
	col    int
	quoted bool
}

// pos is where byte i stands; i may be len(text), just behind the word.
func (w word) pos(i int) place {
	switch {
	case i < len(w.marks):
		return place{w.at.line, w.marks[i].col}
	case len(w.marks) > 0:
		return place{w.at.line, w.marks[len(w.marks)-1].col + 1}
	}
	return w.at
}

// slice is the part [i:j) of the word.
func (w word) slice(i, j int) word {
	return word{text: w.text[i:j], marks: w.marks[i:j], at: w.pos(i)}
}

// index finds the first unquoted c, or -1.
func (w word) index(c byte) int {
	for i := range len(w.text) {
		if w.text[i] == c && !w.marks[i].quoted {
			return i
		}
	}
	return -1
}

// split cuts the word at each unquoted c.
func (w word) split(c byte) []word {
	var parts []word
	for {
		i := w.index(c)
		if i < 0 {
			return append(parts, w)
		}
		parts = append(parts, w.slice(0, i))
		w = w.slice(i+1, len(w.text))
	}
}
