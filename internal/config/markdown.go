package config

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

const markdownHead = "# Configuration\n\n" +
	"<!-- Made by `go generate ./internal/config` from internal/config/settings*.go. Do not edit. -->\n\n" +
	"All settings are environment variables that start with `OUTBOX_CDC_`. `outbox-cdc lint` checks them offline and reports every fault at once;\n" +
	"`outbox-cdc lint --print` shows the effective values, with secrets masked. Every command takes `--env-file FILE`: lines of `NAME=value`,\n" +
	"lines that start with `#` are comments, a value may stand in quotes, nothing is expanded, and the real environment wins.\n\n" +
	"- An empty variable counts as unset.\n" +
	"- Durations have a unit: `250ms`, `30s`, `5m`, `2h`, `1d`, `1d12h`.\n" +
	"- Sizes have a unit: `KiB MiB GiB` are powers of 1024, `KB MB GB` of 1000. A bare number is an error, except `0`.\n" +
	"- Booleans are `true` or `false`.\n" +
	"- `_FILE`: the value may come from a file instead, named by the variable with `_FILE` behind its name. One newline at its end is dropped; setting both is an error.\n" +
	"- A name that is no setting is an error that says which one is nearest. What Kubernetes injects for a Service named `outbox-cdc...`\n" +
	"  (`*_SERVICE_HOST`, `*_SERVICE_PORT*`, `*_PORT`, `*_PORT_9855_TCP*`) is ignored.\n" +
	"- *Not in this version* marks settings that are reserved: setting one is an error (exit code 2), so that nothing is silently ignored.\n\n" +
	"## PostgreSQL's own variables\n\n" +
	"`PGHOST PGPORT PGDATABASE PGUSER PGPASSWORD PGPASSFILE PGSERVICE PGSERVICEFILE PGOPTIONS PGSSLMODE PGSSLROOTCERT PGSSLCERT PGSSLKEY\n" +
	"PGCHANNELBINDING PGTARGETSESSIONATTRS` mean what they mean to libpq; what the URL says wins. Two defaults differ:\n\n" +
	"- `sslmode` is `verify-full`, or `prefer` when every host is a loopback address or a Unix socket. A weaker mode is honoured if it is set, with a warning at start.\n" +
	"- `target_session_attrs` is `read-write`, so that of several hosts the primary is found.\n"

// WriteMarkdown writes docs/configuration.md.
func WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString(markdownHead)
	group := ""
	for _, s := range Settings() {
		if s.Group != group {
			group = s.Group
			fmt.Fprintf(&b, "\n## %s\n\n| name | values | default | meaning |\n| --- | --- | --- | --- |\n", group)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", s.Name, cell(s.values()), cell(s.defaultText()), cell(s.meaning()))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// quoted finds 'code' in a doc tag, which can't hold backticks. A quote behind a
// letter is an apostrophe.
var quoted = regexp.MustCompile(`(^|[ (])'([^']+)'`)

// cell escapes what would end a table cell.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

func (s Setting) values() string {
	v := s.Kind
	switch s.Kind {
	case "choice":
		v = "`" + strings.Join(s.Choices, "` `") + "`"
	case "boolean":
		v = "`true` `false`"
	}
	if s.Min != "" {
		v += ", " + s.Min + " to " + s.Max
	}
	if s.ZeroAllowed {
		v += ", or 0"
	}
	return v
}

func (s Setting) defaultText() string {
	switch {
	case s.Required:
		return "**required**"
	case s.Default != "":
		return "`" + s.Default + "`"
	case s.Shown != "":
		return s.Shown
	}
	return "none"
}

func (s Setting) meaning() string {
	m := quoted.ReplaceAllString(s.Doc, "$1`$2`")
	if s.Twin {
		m += " `_FILE`."
	}
	if s.Secret {
		m += " Secret: never printed."
	}
	switch {
	case s.Later:
		m += " *Not in this version.*"
	case len(s.Built) < len(s.Choices):
		m += " *In this version only `" + strings.Join(s.Built, "` `") + "`.*"
	}
	return m
}
