package config

import (
	"reflect"
	"strings"
)

// Setting describes one variable, as the documentation shows it.
type Setting struct {
	// Name is the full variable name.
	Name string
	// Group heads the part of the documentation that it stands in.
	Group string
	// Kind is text, duration, size, integer, boolean, list or choice.
	Kind string
	// Default is the value when unset; Shown words it where it is no value.
	Default, Shown string
	// Min and Max bound durations, sizes and integers; "" is no bound.
	Min, Max string
	// ZeroAllowed lets 0 through although it is below Min.
	ZeroAllowed bool
	// Choices are all values of the contract, Built those of this version.
	Choices, Built []string
	// Twin tells whether NAME_FILE is accepted.
	Twin bool
	// Secret values are never printed.
	Secret bool
	// Later settings are refused in this version.
	Later bool
	// Required settings must not be empty.
	Required bool
	// Doc is the meaning, in a sentence or two.
	Doc string
}

// Settings lists the whole contract in its order.
func Settings() []Setting {
	var all []Setting
	for group := range reflect.TypeFor[settings]().Fields() {
		for f := range group.Type.Fields() {
			s := describe(f)
			s.Group = group.Tag.Get("title")
			all = append(all, s)
		}
	}
	return all
}

func describe(f reflect.StructField) Setting {
	tag := func(key string) string { return f.Tag.Get(key) }
	lo, hi, _ := strings.Cut(tag("range"), "..")
	s := Setting{
		Name:        Prefix + tag("env"),
		Kind:        f.Type.Name(),
		Default:     tag("envDefault"),
		Shown:       tag("shown"),
		Min:         lo,
		Max:         hi,
		ZeroAllowed: tag("zero") == "true",
		Choices:     strings.Fields(tag("choices")),
		Built:       strings.Fields(tag("built")),
		Twin:        tag("twin") == "true",
		Secret:      tag("secret") == "true",
		Later:       tag("later") == "true",
		Required:    tag("required") == "true",
		Doc:         tag("doc"),
	}
	if len(s.Built) == 0 {
		s.Built = s.Choices
	}
	return s
}
