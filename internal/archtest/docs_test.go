package archtest

import (
	"os"
	"path/filepath"
	"regexp"
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

// all is the text of every Go file below a folder.
func all(t *testing.T, folder string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
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
	tests := all(t, "test") + all(t, "internal") + all(t, "pkg")
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

// Whatever check can refuse has an entry for the operator.
func TestEveryRefusalHasARemedy(t *testing.T) {
	page := read(t, "docs", "operations.md")
	names := regexp.MustCompile(`fs\.add\("([a-z_.]+)", Fail|const name = "([a-z_.]+)"`).FindAllStringSubmatch(all(t, "internal/catalog"), -1)
	if len(names) < 15 {
		t.Fatalf("only %d findings were found", len(names))
	}
	for _, n := range names {
		if name := n[1] + n[2]; !strings.Contains(page, "`"+name+"`") {
			t.Errorf("docs/operations.md has nothing about %s", name)
		}
	}
}
