package config

import (
	"fmt"
	"io"
	"log/slog"
)

const masked = "<secret>"

// Secret is a value that no formatting, log or encoder ever prints. The value
// hides in a closure: fmt calls no methods on unexported fields, so of a struct
// that holds a Secret in one it would print the string itself.
type Secret struct{ reveal func() string }

// NewSecret wraps a value.
func NewSecret(value string) Secret { return Secret{reveal: func() string { return value }} }

// Reveal gives the value, for the one place that must send it.
func (s Secret) Reveal() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}

// IsZero tells whether there is no value.
func (s Secret) IsZero() bool { return s.Reveal() == "" }

// String is "<secret>".
func (Secret) String() string { return masked }

// GoString is "<secret>".
func (Secret) GoString() string { return masked }

// Format writes "<secret>" under every verb: without it, %d or %x of a struct
// would print the field.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, masked) }

// LogValue is "<secret>".
func (Secret) LogValue() slog.Value { return slog.StringValue(masked) }

// MarshalText is "<secret>".
func (Secret) MarshalText() ([]byte, error) { return []byte(masked), nil }
