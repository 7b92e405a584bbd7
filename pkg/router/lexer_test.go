package router

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// showTokens prints tokens as line:col and kind or word.
func showTokens(tokens []token) []string {
	var all []string
	for _, t := range tokens {
		text := map[tokenKind]string{tokenArrow: "->", tokenComma: ",", tokenEnd: "end", tokenEOF: "eof"}[t.kind]
		if t.kind == tokenWord {
			text = fmt.Sprintf("%q", t.word.text)
		}
		all = append(all, fmt.Sprintf("%d:%d %s", t.at.line, t.at.col, text))
	}
	return all
}

func TestLex(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", []string{"1:1 eof"}},
		{"rule", "a -> b", []string{`1:1 "a"`, "1:3 ->", `1:6 "b"`, "1:7 eof"}},
		{"lines", "a\n\tb\r\n", []string{`1:1 "a"`, "1:2 end", `2:2 "b"`, "2:4 end", "3:1 eof"}},
		{"semicolons", "a;b ;", []string{`1:1 "a"`, "1:2 end", `1:3 "b"`, "1:5 end", "1:6 eof"}},
		{"newline after an arrow", "a ->\n\n b", []string{`1:1 "a"`, "1:3 ->", `3:2 "b"`, "3:3 eof"}},
		{"newline after a comma and a comment", "a, # x\nb", []string{`1:1 "a"`, "1:2 ,", `2:1 "b"`, "2:2 eof"}},
		{"semicolon after a comma still ends", "a,;b", []string{`1:1 "a"`, "1:2 ,", "1:3 end", `1:4 "b"`, "1:5 eof"}},
		{"comment to the end", "a # -> \"", []string{`1:1 "a"`, "1:3 eof"}},
		{"wide characters count once", `é世 b`, []string{`1:1 "é世"`, `1:4 "b"`, "1:5 eof"}},
		{"empty quotes are a word", `a "" b`, []string{`1:1 "a"`, `1:3 ""`, `1:6 "b"`, "1:7 eof"}},
		{"quotes join", `a"b c"d`, []string{`1:1 "ab cd"`, "1:8 eof"}},
		{"escapes", `"\"\\"`, []string{`1:1 "\"\\"`, "1:7 eof"}},
		{"minus and greater are characters", "a-b>c -x >", []string{`1:1 "a-b>c"`, `1:7 "-x"`, `1:10 ">"`, "1:11 eof"}},
		{"backslash outside quotes", `a\b`, []string{`1:1 "a\\b"`, "1:4 eof"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var f faults
			tokens := lex(tt.text, &f)
			if got := showTokens(tokens); !slices.Equal(got, tt.want) || len(f.list) > 0 {
				t.Errorf("got %q, want %q; faults %v", got, tt.want, f.join())
			}
		})
	}
}

// A word that is written in quotes comes out as it was, with the column of each
// of its characters.
func TestLexQuotesCarryAnything(t *testing.T) {
	anything := rapid.StringOf(rapid.RuneFrom([]rune("ab ;,#|=\"\\->{}*?é世\u00a0")))
	rapid.Check(t, func(t *rapid.T) {
		want := anything.Draw(t, "word")
		escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(want)
		var f faults
		tokens := lex("x "+`"`+escaped+`" y`, &f)
		if len(f.list) > 0 || len(tokens) != 4 || tokens[1].word.text != want {
			t.Fatalf("got %q: %v", showTokens(tokens), f.join())
		}
		w := tokens[1].word
		if end := 4 + utf8.RuneCountInString(escaped); tokens[2].at.col != end+2 {
			t.Fatalf("the next word is at %d, want %d", tokens[2].at.col, end+2)
		}
		for i := range w.text {
			if !w.marks[i].quoted || w.pos(i).col < 4 || i > 0 && w.pos(i).col < w.pos(i-1).col {
				t.Fatalf("byte %d of %q is marked %+v", i, w.text, w.marks[i])
			}
		}
	})
}

func TestWordSplitMindsQuotes(t *testing.T) {
	var f faults
	w := lex(`a"|"b|c||"d"`, &f)[0].word
	var got []string
	for _, part := range w.split('|') {
		got = append(got, fmt.Sprintf("%s@%d", part.text, part.at.col))
	}
	// The empty part stands where the "|" behind it does.
	if want := []string{"a|b@1", "c@7", "@9", "d@11"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
