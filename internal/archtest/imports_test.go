package archtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// limit is all that the packages of a folder may import besides the standard
// library, directly. A name without a dot in its first part is our own folder.
// "folder/" means what is below the folder but not itself.
type limit struct {
	of    string
	exact bool // only the package itself, not what is below
	may   []string
}

// limits are the packages that are meant to know little.
func limits() []limit {
	return []limit{
		{of: "pkg/decoder"},
		{of: "pkg/offset", exact: true, may: []string{"pkg/decoder"}},
		{of: "pkg/router", may: []string{"pkg/decoder", "pkg/router", "internal/rowheaders", "github.com/hashicorp/golang-lru/v2"}},
		{of: "pkg/format", may: []string{"pkg/decoder", "pkg/format", "internal/rowheaders"}},
		{of: "pkg/sink", exact: true},
		{of: "internal/rowheaders"},
		{of: "internal/alert", may: []string{"internal/alert"}},
		{of: "internal/config", may: []string{"internal/config", "github.com/caarlos0/env/v11", "github.com/jackc/pgx/v5", "pkg/router", "pkg/sink", "pkg/decoder"}},
	}
}

// also are packages that anybody in the limits may import: the sink's port.
func also(of string) []string {
	if of == "pkg/router" || of == "pkg/format" {
		return []string{"=pkg/sink"}
	}
	return nil
}

// ban keeps the packages of the folders from another folder, even indirectly
// unless it says direct.
type ban struct {
	why    string
	from   []string
	except []string
	not    []string
	direct bool
}

func bans() []ban {
	everything := []string{"pkg", "internal", "cmd", "test", "bench", "examples"}
	prometheus := []string{"github.com/prometheus/client_golang", "github.com/prometheus/client_model"}
	return []ban{
		{
			why: "only the wiring knows the configuration", from: everything, direct: true, not: []string{"internal/config"},
			except: []string{"internal/config", "internal/app", "cmd", "test"},
		},
		{
			why: "only the wiring builds sinks", from: []string{"pkg", "internal", "cmd"}, direct: true, not: []string{"pkg/sink/"},
			except: []string{"pkg/sink/", "internal/app"},
		},
		{why: "Prometheus is the program's, not the library's", from: []string{"pkg"}, not: prometheus},
		{
			why: "the pipeline knows destinations only as a port", from: []string{"internal/pipeline"},
			not: []string{"pkg/sink/", "github.com/twmb", "github.com/aws", "internal/app"},
		},
		{
			why: "what reads PostgreSQL knows no destination", from: []string{"internal/pgrepl", "internal/catalog", "internal/monitor"},
			not: []string{"pkg/sink", "github.com/twmb", "github.com/aws"},
		},
		{
			why: "destinations know no PostgreSQL", from: []string{"pkg/sink"}, except: []string{"pkg/sink/table"},
			not: []string{"github.com/jackc", "internal/pgrepl", "internal/catalog"},
		},
		{
			why: "one package owns the replication connection", from: everything, direct: true, not: []string{"github.com/jackc/pglogrepl"},
			except: []string{"internal/pgrepl", "internal/pgtest", "test", "bench"},
		},
		{
			why: "the watch outlives the stream", from: []string{"internal/monitor", "internal/alert", "internal/notify"},
			not: []string{"internal/pgrepl", "internal/pipeline"},
		},
		{
			why: "test servers are not part of the program", from: []string{"pkg", "internal", "cmd"},
			except: []string{"internal/pgtest", "internal/kafkatest", "internal/testserver"},
			not:    []string{"internal/pgtest", "internal/kafkatest", "internal/testserver", "github.com/fergusstrange/embedded-postgres"},
		},
		{why: "commands are not imported", from: []string{"pkg", "internal"}, not: []string{"cmd"}},
		{why: "the library does not need the program", from: []string{"pkg"}, except: []string{"pkg/router", "pkg/format"}, not: []string{"internal"}},
	}
}

func TestPackagesImportOnlyWhatTheyMay(t *testing.T) {
	packages := listPackages(t)
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		for _, fault := range importFaults(packages[name], packages) {
			t.Error(fault)
		}
	}
}

// importFaults checks one package of the module against limits and bans.
func importFaults(p pkg, packages map[string]pkg) []string {
	if !within(p.ImportPath, module) {
		return nil
	}
	var faults []string
	for _, l := range limits() {
		if p.name() != l.of && (l.exact || !within(p.name(), l.of)) {
			continue
		}
		for _, imported := range p.Imports {
			if !packages[imported].Standard && !l.allows(local(imported)) {
				faults = append(faults, fmt.Sprintf("%s imports %s: it may import only the standard library and %v",
					p.name(), local(imported), slices.Concat(l.may, also(l.of))))
			}
		}
	}
	for _, b := range bans() {
		if !withinAny(p.name(), b.from) || withinAny(p.name(), b.except) {
			continue
		}
		reached := p.Deps
		if b.direct {
			reached = p.Imports
		}
		for _, imported := range reached {
			if !packages[imported].Standard && withinAny(local(imported), b.not) {
				faults = append(faults, fmt.Sprintf("%s needs %s: %s", p.name(), local(imported), b.why))
			}
		}
	}
	return faults
}

func (l limit) allows(imported string) bool {
	return withinAny(imported, l.may) || slices.Contains(also(l.of), "="+imported)
}

// local shortens a path of our own module.
func local(path string) string { return strings.TrimPrefix(path, module+"/") }

func TestImportFaultsAreFound(t *testing.T) {
	packages := map[string]pkg{"fmt": {ImportPath: "fmt", Standard: true}}
	tests := []struct {
		name    string
		imports []string
		faults  int
	}{
		{"pkg/decoder", []string{"fmt"}, 0},
		{"pkg/decoder", []string{"github.com/jackc/pgx/v5"}, 1},
		{"pkg/offset", []string{"fmt", module + "/pkg/decoder"}, 0},
		{"pkg/offset", []string{module + "/pkg/sink"}, 1},
		{"pkg/offset/pgstore", []string{"github.com/jackc/pgx/v5"}, 0},
		{"pkg/router", []string{module + "/pkg/sink", module + "/pkg/decoder"}, 0},
		{"pkg/router", []string{module + "/pkg/sink/kafka"}, 2},
		{"pkg/sink/kafka", []string{module + "/pkg/sink", "github.com/twmb/franz-go/pkg/kgo"}, 0},
		{"pkg/sink/kafka", []string{"github.com/prometheus/client_golang/prometheus"}, 1},
		{"internal/pipeline", []string{module + "/pkg/sink", module + "/internal/pgrepl"}, 0},
		{"internal/pipeline", []string{module + "/internal/config"}, 1},
		{"internal/pipeline", []string{module + "/pkg/sink/stdout"}, 2},
		{"internal/monitor", []string{module + "/internal/pipeline"}, 1},
		{"internal/app", []string{module + "/internal/config", module + "/pkg/sink/kafka"}, 0},
		{"internal/app", []string{module + "/internal/pgtest"}, 1},
		{"cmd/outbox-cdc", []string{module + "/internal/app"}, 0},
	}
	for _, test := range tests {
		p := pkg{ImportPath: module + "/" + test.name, Imports: test.imports, Deps: test.imports}
		if got := importFaults(p, packages); len(got) != test.faults {
			t.Errorf("%s importing %v: %d faults %q, want %d", test.name, test.imports, len(got), got, test.faults)
		}
	}
}
