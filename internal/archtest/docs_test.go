package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// read is a file of the repository.
func read(t *testing.T, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{root}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// all is the text of every Go file below a folder: of its tests, or of the rest.
func all(t *testing.T, folder string, tests bool) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") != tests {
			return err
		}
		text, err := os.ReadFile(path)
		b.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A promise that names a test must name one that exists.
func TestPromisesNameTests(t *testing.T) {
	tests := all(t, "test", true) + all(t, "internal", true) + all(t, "pkg", true)
	names := regexp.MustCompile("`(Test[A-Za-z0-9]+)`").FindAllStringSubmatch(read(t, "docs", "delivery.md"), -1)
	if len(names) < 20 {
		t.Fatalf("only %d tests are named", len(names))
	}
	for _, n := range names {
		if !strings.Contains(tests, "func "+n[1]+"(t *testing.T)") {
			t.Errorf("docs/delivery.md names %s, which does not exist", n[1])
		}
	}
}

// Whatever check can say has an entry for the operator.
func TestEveryFindingHasARemedy(t *testing.T) {
	page := read(t, "docs", "operations.md")
	names := regexp.MustCompile(`"((?:server|role|publication|table|checkpoint|slot)\.[a-z_]+)"`).FindAllStringSubmatch(all(t, "internal/catalog", false), -1)
	if len(names) < 25 {
		t.Fatalf("only %d findings were found", len(names))
	}
	for _, n := range names {
		if !strings.Contains(page, "`"+n[1]+"`") {
			t.Errorf("docs/operations.md has nothing about %s", n[1])
		}
	}
}

// Every text of a hold, every SQLSTATE that holds, and every reason why an event
// is not delivered is in docs/operations.md, as far as it is fixed.
func TestEveryHoldIsDocumented(t *testing.T) {
	prose := regexp.MustCompile("(?s)```.*?```").ReplaceAllString(read(t, "docs", "operations.md"), "")
	phrases := regexp.MustCompile("`([^`\n]{5,})`").FindAllStringSubmatch(prose, -1)
	for _, test := range []struct {
		folder, literal string
		atLeast         int
	}{
		{"internal/pipeline", `(?:Reason: +|Reason = |reason := )(?:fmt\.Sprintf\()?"([^"\\]+)"`, 5},
		{"pkg/offset", `(?:Reason: +|Reason = |reason := |foreign\()(?:fmt\.Sprintf\()?"([^"\\]+)`, 6},
		{"internal/pipeline", `(?m)^\t"([0-9A-Z]{5})": "`, 8},
		{"pkg/router", `\bReason[A-Za-z]+ += "([a-z_]+)"`, 5},
		{"pkg/format", `\bReason[A-Za-z]+ += "([a-z_]+)"`, 3},
		{"pkg/sink/kafka", `sink\.(?:Config|Poison|Fatal), (reason[A-Za-z]+)`, 8},
	} {
		found := regexp.MustCompile(test.literal).FindAllStringSubmatch(all(t, test.folder, false), -1)
		if len(found) < test.atLeast {
			t.Errorf("%s: only %d texts were found", test.folder, len(found))
		}
		for _, f := range found {
			said := f[1]
			if name, ok := strings.CutPrefix(said, "reason"); ok {
				said = snake(name)
			}
			if !slices.ContainsFunc(phrases, func(p []string) bool { return strings.Contains(said, p[1]) }) {
				t.Errorf("docs/operations.md has nothing about %q (%s)", said, test.folder)
			}
		}
	}
}

// snake is a Go name as our reasons are written.
func snake(name string) string {
	return strings.ToLower(strings.TrimPrefix(regexp.MustCompile("[A-Z]").ReplaceAllString(name, "_$0"), "_"))
}
