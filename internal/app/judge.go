package app

import (
	"errors"
	"strings"

	"github.com/outbox-cdc/outbox-cdc/internal/catalog"
	"github.com/outbox-cdc/outbox-cdc/internal/pipeline"
)

// holdFor makes everything that was found wrong one hold: the problems are its
// reason, a line each, and what mends them its remedy.
func holdFor(err error) error {
	var report *catalog.Error
	if !errors.As(err, &report) {
		return &pipeline.HoldError{Reason: err.Error(), Err: err}
	}
	var problems, remedies []string
	for _, f := range report.Findings {
		remedy := strings.TrimSuffix(f.Remedy, ";")
		f.Remedy = ""
		problems = append(problems, f.String())
		if remedy == "" {
			continue
		}
		if len(report.Findings) > 1 {
			remedy = f.Name + ": " + remedy
		}
		remedies = append(remedies, remedy)
	}
	return &pipeline.HoldError{Reason: strings.Join(problems, "\n"), Remedy: strings.Join(remedies, "\n"), Err: err}
}
