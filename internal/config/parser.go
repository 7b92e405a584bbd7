package config

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// parser gives typed values by variable name (without the prefix) and collects
// what is wrong with them. Names that are not in the contract panic: only code
// of this package passes names, and a test loads every one.
type parser struct {
	settings map[string]Setting
	values   map[string]string
	explicit map[string]bool
	files    map[string]string // by full name: what a twin names
	faults   []error
}

func (p *parser) fault(s Setting, problem string) {
	p.faults = append(p.faults, &SettingError{Setting: s.Name, Problem: problem})
}

// badValue is the fault of a value that can't be read.
func (p *parser) badValue(s Setting, value, problem string) {
	if s.Secret {
		p.fault(s, problem)
		return
	}
	p.fault(s, strconv.Quote(clip(value))+": "+problem)
}

func (p *parser) get(name string) (Setting, string) {
	s, ok := p.settings[Prefix+name]
	if !ok {
		panic("config: no setting " + name)
	}
	return s, p.values[s.Name]
}

func (p *parser) text(name string) string {
	s, v := p.get(name)
	if _, file := p.files[s.Name]; v == "" && s.Required && !file { // else the file is at fault
		p.fault(s, "required. "+s.Doc)
	}
	return v
}

// list splits at commas and trims; an empty element is a fault.
func (p *parser) list(name string) []string {
	s, v := p.get(name)
	if v == "" {
		return nil
	}
	parts := strings.Split(v, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	if slices.Contains(parts, "") {
		p.badValue(s, v, "has an empty element; remove the extra comma")
		parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	}
	return parts
}

func (p *parser) choice(name string) string {
	s, v := p.get(name)
	switch {
	case v == "" || slices.Contains(s.Built, v):
		return v
	case slices.Contains(s.Choices, v):
		p.fault(s, v+" is not in this version; use "+oneOf(s.Built))
	default:
		p.badValue(s, v, "want "+oneOf(s.Choices))
	}
	return ""
}

// oneOf is "a", "a or b", "a, b or c".
func oneOf(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func (p *parser) boolean(name string) bool {
	s, v := p.get(name)
	if v != "true" && v != "false" {
		p.badValue(s, v, "want true or false")
	}
	return v == "true"
}

func (p *parser) duration(name string) time.Duration {
	return number(p, name, ParseDuration)
}

func (p *parser) size(name string) Bytes {
	return number(p, name, ParseBytes)
}

func (p *parser) integer(name string) int {
	return number(p, name, parseInteger)
}

func parseInteger(s string) (int, error) {
	if !isDigits(s) {
		return 0, errInteger
	}
	return strconv.Atoi(s)
}

// number parses a value and holds it against the setting's range. Unset values
// without a default are zero.
func number[T cmp.Ordered](p *parser, name string, parse func(string) (T, error)) T {
	s, v := p.get(name)
	var zero T
	if v == "" {
		return zero
	}
	n, err := parse(v)
	if err != nil {
		p.badValue(s, v, err.Error())
		return zero
	}
	if n == zero && s.ZeroAllowed {
		return n
	}
	lo, errLo := parse(s.Min)
	hi, errHi := parse(s.Max)
	if errLo != nil || errHi != nil {
		panic("config: range of " + s.Name)
	}
	if n < lo || n > hi {
		problem := "want " + s.Min + " to " + s.Max
		if s.ZeroAllowed {
			problem += ", or 0"
		}
		p.badValue(s, v, problem)
	}
	return n
}
