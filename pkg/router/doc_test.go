package router_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/outbox-cdc/outbox-cdc/pkg/router"
	"github.com/outbox-cdc/outbox-cdc/pkg/sink"
)

// block is one fenced block of a page.
type block struct {
	kind, text string
	line       int
}

func blocks(page string) []block {
	var all []block
	var open *block
	for i, line := range strings.Split(page, "\n") {
		kind, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && open == nil:
			open = &block{kind: kind, line: i + 2}
		case fence:
			all = append(all, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		}
	}
	return all
}

// The page's rules are good, and its events go where the page says.
func TestRoutingPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/routing.md")
	if err != nil {
		t.Fatal(err)
	}
	var r *router.Router
	events := 0
	for _, b := range blocks(string(page)) {
		switch b.kind {
		case "routes":
			if r, err = router.New(b.text); err != nil {
				t.Errorf("block at line %d: %v", b.line, err)
			}
		case "events":
			for line := range strings.Lines(b.text) {
				events++
				checkPageEvent(t, r, strings.TrimSpace(line))
			}
		default:
			t.Errorf("block at line %d is of kind %q", b.line, b.kind)
		}
	}
	if events < 10 {
		t.Errorf("only %d events found", events)
	}
}

// checkPageEvent reads "role=value ... => result".
func checkPageEvent(t *testing.T, r *router.Router, line string) {
	t.Helper()
	columns, want, ok := strings.Cut(line, "=>")
	if !ok {
		t.Errorf("%q says no result", line)
		return
	}
	ev := row{}
	inQuotes := false
	for _, f := range strings.FieldsFunc(columns, func(c rune) bool {
		// Quotes count only around a whole value, not in JSON.
		if c == '"' && !strings.Contains(columns, "{") {
			inQuotes = !inQuotes
		}
		return c == ' ' && !inQuotes
	}) {
		name, value, _ := strings.Cut(f, "=")
		ev[name] = strings.TrimSuffix(strings.TrimPrefix(value, `"`), `"`)
	}
	if got := pageResult(t, r, ev); got != strings.TrimSpace(want) {
		t.Errorf("%s: got %s", line, got)
	}
}

func pageResult(t *testing.T, r *router.Router, of row) string {
	t.Helper()
	var d router.Decision
	_, err := r.Route(event(t, of), &d, nil)
	var refused *sink.Error
	switch {
	case errors.As(err, &refused):
		return "poison: " + refused.Reason
	case len(d.Targets) == 0:
		return "drop"
	case d.Key == nil:
		return show(d.Targets) + ", no key"
	}
	return show(d.Targets) + ", key " + string(d.Key)
}
