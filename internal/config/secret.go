package config

import (
	"fmt"
	"io"
	"log/slog"
)

const masked = "<secret>"

// Secret is a value that no formatting, log or encoder ever prints.
type Secret struct{ value string }

// NewSecret wraps a value.
func NewSecret(value string) Secret { return Secret{value: value} }

// Reveal gives the value, for the one place that must send it.
func (s Secret) Reveal() string { return s.value }

// IsZero tells whether there is no value.
func (s Secret) IsZero() bool { return s.value == "" }

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
