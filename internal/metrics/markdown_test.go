package metrics

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/outbox-cdc/outbox-cdc/internal/pipeline"
)

// picture is a Source of one moment in which everything has happened.
type picture struct{}

func (picture) Status() pipeline.Status {
	return pipeline.Status{
		Condition: pipeline.Condition{State: pipeline.StateStreaming}, Ready: true,
		AllHalted: []pipeline.HaltedEvent{{Route: "order.*"}}, InFlightRecords: 3, InFlightBytes: 4096, Blocked: 1500 * time.Millisecond,
	}
}

func (picture) Totals() pipeline.Totals {
	return pipeline.Totals{
		IgnoredOps: 4, OtherTable: 5, Transactions: 6, Skipped: 13,
		Tables:   []pipeline.Count{{Name: "public.outbox", N: 7}},
		Sessions: []pipeline.Count{{Name: "lost", N: 1}},
		Routes: []pipeline.RouteTotals{{
			Name: "order.*", Delivered: []pipeline.Count{{Name: "kafka", N: 8}, {Name: "stdout", N: 9}}, Dropped: 10, Bytes: 11, Skipped: 12,
		}},
	}
}

// family is one metric as it is served.
type family struct {
	kind, help string
	samples    map[string]string // value by labels: `{a="b",c="d"}`
}

// serve returns what /metrics serves, by name.
func serve(t *testing.T) map[string]*family {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	if err := Register(registry, picture{}, view, Labels{Source: "shop", Slot: "cdc"}, Build{Version: "1.2.3", Revision: "abc"}); err != nil {
		t.Fatal(err)
	}
	answer := httptest.NewRecorder()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody)
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(answer, request)
	all := map[string]*family{}
	var last *family
	for line := range strings.Lines(answer.Body.String()) {
		line = strings.TrimSpace(line)
		if text, ok := strings.CutPrefix(line, "# HELP "); ok {
			name, help, _ := strings.Cut(text, " ")
			last = &family{help: help, samples: map[string]string{}}
			all[name] = last
		} else if text, ok := strings.CutPrefix(line, "# TYPE "); ok {
			_, last.kind, _ = strings.Cut(text, " ")
		} else {
			at := strings.LastIndexByte(line, ' ')
			_, labels, _ := strings.Cut(line[:at], "{")
			last.samples["{"+labels] = line[at+1:]
		}
	}
	return all
}

// labelNames matches the names in a sample's labels.
var labelNames = regexp.MustCompile(`([a-z_]+)="`)

// row is the line of docs/metrics.md that a metric must have.
func row(t *testing.T, name string, f *family) string {
	t.Helper()
	var names []string
	for labels := range f.samples {
		names = nil
		for _, found := range labelNames.FindAllStringSubmatch(labels, -1) {
			names = append(names, found[1])
		}
		if !slices.Contains(names, "source") || !slices.Contains(names, "slot") {
			t.Errorf("%s%s lacks a constant label", name, labels)
		}
	}
	names = slices.DeleteFunc(names, func(n string) bool { return n == "source" || n == "slot" })
	list := strings.Join(names, ", ")
	if list != "" {
		list += " "
	}
	return fmt.Sprintf("| %s | %s | %s| %s |", name, f.kind, list, f.help)
}

// TestDocumentIsComplete compares docs/metrics.md with what is served.
func TestDocumentIsComplete(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	var documented, served []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "| outbox_cdc_") {
			documented = append(documented, strings.TrimSpace(line))
		}
	}
	for name, f := range serve(t) {
		if strings.HasPrefix(name, "outbox_cdc_") {
			served = append(served, row(t, name, f))
		}
	}
	slices.Sort(served)
	if len(served) == 0 || !slices.Equal(documented, served) {
		t.Errorf("docs/metrics.md must have these lines:\n%s\nand not:\n%s", strings.Join(served, "\n"), strings.Join(documented, "\n"))
	}
	for _, s := range pipeline.States() {
		if !strings.Contains(string(text), "`"+string(s)+"`") {
			t.Errorf("docs/metrics.md does not name the state %s", s)
		}
	}
}
