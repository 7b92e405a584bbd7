package catalog

import (
	"fmt"
	"strings"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

// Status is the verdict of a Finding.
type Status string

// The verdicts. Warn is worth reading and stops nothing; Skip could not be
// looked at, for the reason in the message.
const (
	OK   Status = "ok"
	Warn Status = "warn"
	Fail Status = "fail"
	Skip Status = "skip"
)

// Finding is one thing that was looked at. Its texts hold no payload and no
// secret.
type Finding struct {
	// Name is fixed for each check, such as "publication.tables".
	Name string `json:"name"`
	// Status is the verdict.
	Status Status `json:"status"`
	// Subject is what was looked at: a table, a slot, a setting.
	Subject string `json:"subject"`
	// Message says what was found, in one line.
	Message string `json:"message"`
	// Remedy is what to do, as SQL or as a setting where that is possible;
	// empty when there is nothing to do.
	Remedy string `json:"remedy"`
}

// String is the finding in one line.
func (f Finding) String() string {
	s := f.Name
	if f.Subject != "" {
		s += " " + f.Subject
	}
	s += ": " + f.Message
	if f.Remedy != "" {
		s += "; " + f.Remedy
	}
	return s
}

// findings collects verdicts.
type findings []Finding

func (fs *findings) add(name string, s Status, subject, remedy, format string, args ...any) {
	*fs = append(*fs, Finding{Name: name, Status: s, Subject: subject, Message: fmt.Sprintf(format, args...), Remedy: remedy})
}

func (fs *findings) ok(name, subject, format string, args ...any) {
	fs.add(name, OK, subject, "", format, args...)
}

// Error is what a report found wrong.
type Error struct {
	// Findings are those with status Fail, in their order; at least one.
	Findings []Finding
}

// Error has one line a finding.
func (e *Error) Error() string {
	lines := make([]string, len(e.Findings))
	for i, f := range e.Findings {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// clip bounds text from the server's catalog.
func clip(s string) string {
	if len(s) > 128 {
		return s[:128] + "..."
	}
	return s
}

// literal is s as an SQL string constant.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// identifier is s as an SQL identifier, quoted if it has to be; the decoder
// knows the server's key words.
func identifier(s string) string {
	return strings.TrimPrefix(decoder.TableName{Schema: "x", Name: s}.String(), "x.")
}
