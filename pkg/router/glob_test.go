package router

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestGlob(t *testing.T) {
	tests := []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true},
		{"", "a", false},
		{"a", "a", true},
		{"a", "A", false},
		{"a", "ab", false},
		{"*", "", true},
		{"*", "a.b.c", true},
		{"**", "", true},
		{"order.*", "order.", true},
		{"order.*", "order.a.b", true},
		{"order.*", "order", false},
		{"*Failure", "LoginFailure", true},
		{"*Failure", "Failure", true},
		{"*Failure", "FailureX", false},
		{"a*c", "abcbc", true},
		{"a*b*c", "a-b-b-c", true},
		{"a*b*c", "acb", false},
		{"*ab", "aab", true},
		{"*a?b", "aaxaxb", true},
		{"?", "", false},
		{"?", "a", true},
		{"?", "é", true},
		{"?", "ab", false},
		{"??", "é", false},
		{"*?", "é", true},
		{"*?é", "xéé", true},
		{"?*?", "a", false},
		{"a?", "a\xff", true},
		{"*??", "\xff\xfe", true},
		{"[a]", "a", false},
		{`a\*`, "a*", false},
		{"a.b", "axb", false},
	}
	for _, tt := range tests {
		if got := newGlob(tt.pattern).match([]byte(tt.text)); got != tt.want {
			t.Errorf("%q on %q: %v", tt.pattern, tt.text, got)
		}
	}
}

// naive is the definition, with as many branches as it has.
func naive(p, s []rune) bool {
	switch {
	case len(p) == 0:
		return len(s) == 0
	case p[0] == '*':
		return naive(p[1:], s) || len(s) > 0 && naive(p, s[1:])
	case len(s) == 0:
		return false
	}
	return (p[0] == '?' || p[0] == s[0]) && naive(p[1:], s[1:])
}

func TestGlobAgreesWithItsDefinition(t *testing.T) {
	pattern := rapid.StringOfN(rapid.RuneFrom([]rune("ab*?é世")), 0, 9, -1)
	text := rapid.StringOfN(rapid.RuneFrom([]rune("abé世")), 0, 12, -1)
	rapid.Check(t, func(t *rapid.T) {
		p, s := pattern.Draw(t, "pattern"), text.Draw(t, "text")
		if got, want := newGlob(p).match([]byte(s)), naive([]rune(p), []rune(s)); got != want {
			t.Fatalf("%q on %q: %v, want %v", p, s, got, want)
		}
	})
}

// A text made of pieces of the pattern is found however they are filled up.
func TestGlobFindsWhatItsStarsStandFor(t *testing.T) {
	word := rapid.StringOfN(rapid.RuneFrom([]rune("ab.é")), 0, 5, -1)
	rapid.Check(t, func(t *rapid.T) {
		var p, s strings.Builder
		for range rapid.IntRange(1, 6).Draw(t, "pieces") {
			piece := word.Draw(t, "piece")
			p.WriteString(piece + "*")
			s.WriteString(piece + word.Draw(t, "fill"))
		}
		if !newGlob(p.String()).match([]byte(s.String())) {
			t.Fatalf("%q does not match %q", p.String(), s.String())
		}
	})
}

// A pattern from a rule and a long text from a row must not take for ever. An
// exponential matcher would need 2^30 steps here.
func TestGlobIsNotExponential(t *testing.T) {
	g := newGlob(strings.Repeat("*a", 30) + "b")
	text := []byte(strings.Repeat("a", 20_000))
	done := make(chan bool, 1)
	go func() { done <- g.match(text) }()
	select {
	case matched := <-done:
		if matched {
			t.Error("it matched")
		}
	case <-time.After(20 * time.Second):
		t.Fatal("still at it")
	}
}

func TestPatternAny(t *testing.T) {
	tests := []struct {
		word string
		want bool
	}{{"*", true}, {"**", true}, {"a|*", true}, {"a*", false}, {"?*", false}, {"", false}}
	for _, tt := range tests {
		w := word{text: tt.word, marks: make([]mark, len(tt.word))}
		if got := newPattern(w).any(); got != tt.want {
			t.Errorf("%q: %v", tt.word, got)
		}
	}
}

func FuzzGlob(f *testing.F) {
	f.Add("a*b?c", "axxbyc")
	f.Add("*é?", "aé世")
	f.Fuzz(func(t *testing.T, p, s string) {
		if len(p) > 12 || len(s) > 16 {
			return // the naive model is exponential
		}
		got := newGlob(p).match([]byte(s))
		if strings.ToValidUTF8(p, "") == p && strings.ToValidUTF8(s, "") == s {
			if want := naive([]rune(p), []rune(s)); got != want {
				t.Fatalf("%q on %q: %v, want %v", p, s, got, want)
			}
		}
	})
}
