package config

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

const fileSuffix = "_FILE"

// maxFileSize bounds what a _FILE twin may hold.
const maxFileSize = 1 << 20

// serviceLink matches what Kubernetes injects into every container for a
// Service whose name starts with "outbox-cdc".
var serviceLink = regexp.MustCompile(`^OUTBOX_CDC_(.*_)?(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

// environment is what Load works on: our own variables by full name, empty
// ones left out and twins resolved, and those of libpq.
type environment struct {
	vars   map[string]string
	files  map[string]string // variable -> path of its twin
	libpq  map[string]string // PG*
	faults []error
}

func (e *environment) fault(name, format string, args ...any) {
	e.faults = append(e.faults, &SettingError{Setting: name, Problem: fmt.Sprintf(format, args...)})
}

// readEnvironment sorts environ ("NAME=value") out. Of a repeated name the
// first counts, as in getenv.
func readEnvironment(environ []string, known []Setting) *environment {
	e := &environment{vars: map[string]string{}, files: map[string]string{}, libpq: map[string]string{}}
	byName := make(map[string]Setting, len(known))
	var names []string
	for _, s := range known {
		byName[s.Name] = s
		names = append(names, s.Name)
		if s.Twin {
			names = append(names, s.Name+fileSuffix)
		}
	}
	seen := map[string]bool{}
	for _, kv := range environ {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || seen[name] {
			continue
		}
		seen[name] = true
		switch {
		case strings.HasPrefix(name, "PG"):
			if value != "" {
				e.libpq[name] = value
			}
		case !strings.HasPrefix(name, Prefix), serviceLink.MatchString(name):
		default:
			e.take(name, value, byName, names)
		}
	}
	e.resolveTwins(known)
	return e
}

func (e *environment) take(name, value string, known map[string]Setting, names []string) {
	if _, ok := known[name]; ok {
		if value != "" {
			e.vars[name] = value
		}
		return
	}
	base, isFile := strings.CutSuffix(name, fileSuffix)
	s, ok := known[base]
	switch {
	case isFile && ok && s.Twin:
		if value != "" {
			e.files[base] = value
		}
	case isFile && ok:
		e.fault(name, "%s can't be read from a file; set %s itself", base, base)
	default:
		e.fault(clip(name), "no such setting; the nearest is %s", nearest(name, names))
	}
}

// resolveTwins reads the files, in the contract's order so that faults come in
// the same order each time.
func (e *environment) resolveTwins(known []Setting) {
	for _, s := range known {
		path, ok := e.files[s.Name]
		if !ok {
			continue
		}
		if s.Later {
			e.vars[s.Name] = path // refused later on, whatever it holds
			continue
		}
		if _, both := e.vars[s.Name]; both {
			e.fault(s.Name, "set here and in %s%s; leave one of them out", s.Name, fileSuffix)
			continue
		}
		value, err := readValueFile(path)
		switch {
		case err != nil:
			e.fault(s.Name+fileSuffix, "%v", err)
		case value != "":
			e.vars[s.Name] = value
		default:
			e.fault(s.Name+fileSuffix, "the file %q is empty", clip(path))
		}
	}
}

// readValueFile gives the content of a file but for one trailing newline.
// Errors name the path, never the content.
func readValueFile(path string) (string, error) {
	f, err := os.Open(path) //nolint:gosec // the operator names the file
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err != nil {
		return "", err
	}
	if len(b) > maxFileSize {
		return "", fmt.Errorf("%q is larger than %v", clip(path), Bytes(maxFileSize))
	}
	s := strings.TrimSuffix(string(b), "\n")
	return strings.TrimSuffix(s, "\r"), nil
}
