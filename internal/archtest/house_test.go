package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	maxFileLines = 400
	maxFuncLines = 80
	maxTestLines = 120 // a table of cases is long, not complicated
)

// pure are the packages without I/O, clock, logger and goroutine.
func pure(folder string) bool {
	switch folder {
	case "pkg/decoder", "pkg/offset", "pkg/router", "pkg/format", "internal/rowheaders", "internal/alert":
		return true
	default:
		return false
	}
}

// source is one parsed Go file; path is relative to the module's root.
type source struct {
	path string
	set  *token.FileSet
	file *ast.File
}

func (s source) folder() string { return filepath.ToSlash(filepath.Dir(s.path)) }
func (s source) test() bool     { return strings.HasSuffix(s.path, "_test.go") }

func parseSource(t *testing.T, path string, text []byte) source {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return source{path, set, file}
}

// sources parses all Go files of the module that people wrote.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "tools") {
			return filepath.SkipDir
		}
		if entry.IsDir() || filepath.Ext(name) != ".go" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if s := parseSource(t, relative, text); !ast.IsGenerated(s.file) {
			all = append(all, s)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestHouseRules(t *testing.T) {
	documented := map[string]bool{}
	for _, s := range sources(t) {
		for _, fault := range houseFaults(s) {
			t.Error(fault)
		}
		documented[s.folder()] = documented[s.folder()] || s.file.Doc != nil
	}
	if len(documented) < 5 {
		t.Fatalf("only %d packages were found", len(documented))
	}
	for folder, yes := range documented {
		if !yes {
			t.Errorf("%s: no file has a package comment", folder)
		}
	}
}

// houseFaults checks one file.
func houseFaults(s source) []string {
	var faults []string
	add := func(node ast.Node, format string, args ...any) {
		position := s.set.Position(node.Pos())
		faults = append(faults, fmt.Sprintf("%s:%d: ", s.path, position.Line)+fmt.Sprintf(format, args...))
	}
	if lines := s.set.File(s.file.Pos()).LineCount(); lines > maxFileLines {
		add(s.file.Name, "%d lines, the limit is %d: cut it by concept", lines, maxFileLines)
	}
	switch s.file.Name.Name {
	case "util", "utils", "common", "types", "models", "helpers":
		add(s.file.Name, "package %s says nothing: name it after what it knows", s.file.Name.Name)
	}
	for _, group := range s.file.Comments {
		for _, comment := range group.List {
			if unfinished(comment.Text) {
				add(comment, "unfinished work: do it or describe the limit")
			}
		}
	}
	ast.Inspect(s.file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.FuncDecl:
			checkFunc(s, node, add)
		case *ast.SelectorExpr:
			checkSelector(s, node, add)
		case *ast.GoStmt:
			if pure(s.folder()) && !s.test() {
				add(node, "a goroutine in a pure package")
			}
		}
		return true
	})
	return faults
}

// unfinished spells the marks in two parts, or this file would be one.
func unfinished(comment string) bool {
	for _, mark := range []string{"TO" + "DO", "FIX" + "ME", "XX" + "X:"} {
		if strings.Contains(comment, mark) {
			return true
		}
	}
	return false
}

func checkFunc(s source, node *ast.FuncDecl, add func(ast.Node, string, ...any)) {
	lines := s.set.Position(node.End()).Line - s.set.Position(node.Pos()).Line + 1
	limit := maxFuncLines
	if s.test() {
		limit = maxTestLines
	}
	if lines > limit {
		add(node, "%s has %d lines, the limit is %d", node.Name.Name, lines, limit)
	}
	if node.Name.Name == "init" && node.Recv == nil {
		add(node, "init hides work from who reads main")
	}
}

// checkSelector finds calls that wait for time, give up a test, or, in a pure
// package, look at the clock.
func checkSelector(s source, node *ast.SelectorExpr, add func(ast.Node, string, ...any)) {
	left, ok := node.X.(*ast.Ident)
	if !ok {
		return
	}
	switch name := left.Name + "." + node.Sel.Name; name {
	case "time.Sleep":
		add(node, "%s: wait for a signal, a timer or a context", name)
	case "t.Skip", "t.Skipf", "t.SkipNow", "b.Skip", "b.Skipf", "tb.Skip", "tb.Skipf", "tb.SkipNow":
		add(node, "%s: a test that can be skipped proves nothing", name)
	case "time.Now", "time.Since", "time.Until", "time.After", "time.Tick", "time.NewTimer", "time.NewTicker", "time.AfterFunc":
		if pure(s.folder()) && !s.test() {
			add(node, "%s: a pure package has no clock", name)
		}
	}
}

func TestPurePackagesDoNoIO(t *testing.T) {
	packages := listPackages(t)
	for _, p := range packages {
		for _, fault := range ioFaults(p) {
			t.Error(fault)
		}
	}
}

// ioFaults finds packages of the standard library that a pure package has no
// business with.
func ioFaults(p pkg) []string {
	if !within(p.ImportPath, module) || !pure(p.name()) {
		return nil
	}
	var faults []string
	for _, imported := range p.Imports {
		switch imported {
		case "os", "os/exec", "os/signal", "net", "net/http", "log", "log/slog", "database/sql", "io/ioutil", "syscall", "context":
			faults = append(faults, p.name()+" imports "+imported+": the package is pure")
		}
	}
	return faults
}

func TestHouseFaultsAreFound(t *testing.T) {
	long := strings.Repeat("\n", maxFuncLines)
	tests := []struct {
		name, path, text string
		faults           int
	}{
		{"nothing", "pkg/decoder/a.go", "package decoder\n", 0},
		{"long file", "a.go", "package a\n" + strings.Repeat("\n", maxFileLines), 1},
		{"longest file", "a.go", "package a\n" + strings.Repeat("\n", maxFileLines-1), 0},
		{"long function", "a.go", "package a\nfunc f() {" + long + "}\n", 1},
		{"long table", "a_test.go", "package a\nfunc f() {" + long + "}\n", 0},
		{"name", "a.go", "package util\n", 1},
		{"mark", "a.go", "package a\n// TO" + "DO: later\n", 1},
		{"init", "a.go", "package a\nfunc init() {}\n", 1},
		{"sleep", "a_test.go", "package a\nimport \"time\"\nfunc f() { time.Sleep(1) }\n", 1},
		{"skip", "a_test.go", "package a\nimport \"testing\"\nfunc f(t *testing.T) { t.Skip() }\n", 1},
		{"clock", "pkg/router/a.go", "package router\nimport \"time\"\nfunc f() { time.Now() }\n", 1},
		{"clock in a test", "pkg/router/a_test.go", "package router\nimport \"time\"\nfunc f() { time.Now() }\n", 0},
		{"clock elsewhere", "internal/app/a.go", "package app\nimport \"time\"\nfunc f() { time.Now() }\n", 0},
		{"goroutine", "pkg/offset/a.go", "package offset\nfunc f() { go f() }\n", 1},
	}
	for _, test := range tests {
		if got := houseFaults(parseSource(t, test.path, []byte(test.text))); len(got) != test.faults {
			t.Errorf("%s: %d faults %q, want %d", test.name, len(got), got, test.faults)
		}
	}
	if got := ioFaults(pkg{ImportPath: module + "/pkg/router", Imports: []string{"os", "strings"}}); len(got) != 1 {
		t.Errorf("ioFaults = %q, want one", got)
	}
}
