package config

import "strings"

// SettingError is one thing wrong with the configuration. It holds no secret.
type SettingError struct {
	// Setting is the full name of the variable at fault.
	Setting string
	// Problem says what is wrong and what to do.
	Problem string
}

// Error is "NAME: problem".
func (f *SettingError) Error() string { return f.Setting + ": " + f.Problem }

// Error is everything that is wrong with the configuration.
type Error struct {
	// Faults are *SettingError, and what validators gave.
	Faults []error
}

// Error has one line a fault.
func (e *Error) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the faults to errors.As.
func (e *Error) Unwrap() []error { return e.Faults }

const maxQuoted = 128

// clip bounds a value that goes into an error.
func clip(s string) string {
	if len(s) > maxQuoted {
		return s[:maxQuoted] + "..."
	}
	return s
}
