package router

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDidYouMean(t *testing.T) {
	known := []string{"name", "format", "key"}
	tests := []struct{ name, want string }{
		{"fromat", `did you mean "format"?`},
		{"Name", `did you mean "name"?`},
		{"nam", `did you mean "name"?`},
		{"kez", `did you mean "key"?`},
		{"somethingelse", "want one of name, format, key"},
		{"", "want one of name, format, key"},
		{strings.Repeat("n", 100_000), "want one of name, format, key"},
	}
	for _, tt := range tests {
		if got := didYouMean(tt.name, known); got != tt.want {
			t.Errorf("%.20q: %s", tt.name, got)
		}
	}
}

func TestDistanceIsADistance(t *testing.T) {
	text := rapid.StringOfN(rapid.RuneFrom([]rune("abc")), 0, 6, -1)
	const far = 100
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := text.Draw(t, "a"), text.Draw(t, "b"), text.Draw(t, "c")
		ab := distance(a, b, far)
		switch {
		case (ab == 0) != (a == b):
			t.Fatalf("%q to %q: %d", a, b, ab)
		case ab != distance(b, a, far):
			t.Fatalf("%q and %q: not the same both ways", a, b)
		case distance(a, c, far) > ab+distance(b, c, far):
			t.Fatalf("%q over %q to %q is shorter", a, b, c)
		case distance(a, b, 2) != min(ab, 2):
			t.Fatalf("%q to %q: the limit changes it", a, b)
		}
	})
}
