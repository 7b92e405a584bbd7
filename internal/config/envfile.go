package config

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// ReadEnvFile reads NAME=value lines from a file, in the form of os.Environ.
// Empty lines and lines that start with "#" are skipped. A value may stand in
// single or double quotes, which are taken off; nothing is expanded or
// unescaped, and "#" inside a value is part of it. Errors name the line and
// never repeat it.
func ReadEnvFile(path string) ([]string, error) {
	f, err := os.Open(path) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, fmt.Errorf("read env file: %w", err)
	}
	defer func() { _ = f.Close() }()
	vars, err := parseEnvFile(f)
	if err != nil {
		return nil, fmt.Errorf("read env file %q: %w", path, err)
	}
	return vars, nil
}

func parseEnvFile(r io.Reader) ([]string, error) {
	var vars []string
	seen := map[string]int{}
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 0, 64<<10), maxFileSize)
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		name = strings.TrimSpace(name)
		if !ok || !isVariable(name) {
			return nil, fmt.Errorf("line %d: want NAME=value", n)
		}
		if first, dup := seen[name]; dup {
			return nil, fmt.Errorf("line %d: %s was set in line %d already", n, clip(name), first)
		}
		seen[name] = n
		value, err := unquote(strings.TrimSpace(value))
		if err != nil {
			return nil, fmt.Errorf("line %d: %s: %w", n, clip(name), err)
		}
		vars = append(vars, name+"="+value)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("a line is longer than %v or can't be read", Bytes(maxFileSize))
	}
	return vars, nil
}

func isVariable(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

var (
	errUnclosed   = errors.New("the quote is not closed")
	errAfterQuote = errors.New("text after the closing quote; put a value that holds quotes into the other kind of quotes")
)

// unquote takes off one pair of quotes. After the closing quote only a comment
// may follow.
func unquote(v string) (string, error) {
	if v == "" || v[0] != '\'' && v[0] != '"' {
		return v, nil
	}
	inner, rest, ok := strings.Cut(v[1:], v[:1])
	if !ok {
		return "", errUnclosed
	}
	if rest = strings.TrimSpace(rest); rest != "" && rest[0] != '#' {
		return "", errAfterQuote
	}
	return inner, nil
}

// MergeEnv puts environ in front of what a file gave: where both set a name,
// also to nothing, the real environment wins.
func MergeEnv(environ, file []string) []string {
	set := make(map[string]bool, len(environ))
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		set[name] = true
	}
	merged := append([]string(nil), environ...)
	for _, kv := range file {
		if name, _, _ := strings.Cut(kv, "="); !set[name] {
			merged = append(merged, kv)
		}
	}
	return merged
}
