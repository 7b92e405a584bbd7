package archtest

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// module is the path of the module under test.
const module = "github.com/outbox-cdc/outbox-cdc"

// root is the module's folder seen from this package's.
var root = filepath.Join("..", "..")

// pkg is what go list tells of a package, tests left out.
type pkg struct {
	ImportPath string
	Standard   bool
	Imports    []string // direct
	Deps       []string // all
}

// name is the package's path within the module: "pkg/decoder".
func (p pkg) name() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

// listPackages returns every package the module's own packages need.
func listPackages(t *testing.T) map[string]pkg {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Standard,Imports,Deps", "./...")
	cmd.Dir = root
	output, err := cmd.Output()
	if err != nil {
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			t.Fatalf("go list: %v\n%s", err, failed.Stderr)
		}
		t.Fatalf("go list: %v", err)
	}
	packages := map[string]pkg{}
	for decoder := json.NewDecoder(strings.NewReader(string(output))); ; {
		var p pkg
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatalf("read go list: %v", err)
		}
		packages[p.ImportPath] = p
	}
}

// within says whether a path is the folder or below it; a folder that ends in
// "/" means only what is below.
func within(path, folder string) bool {
	below := strings.TrimSuffix(folder, "/") + "/"
	return strings.HasPrefix(path, below) || path == folder
}

func withinAny(path string, folders []string) bool {
	for _, folder := range folders {
		if within(path, folder) {
			return true
		}
	}
	return false
}
