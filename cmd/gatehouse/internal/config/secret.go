package config

import (
	"fmt"
	"log/slog"
)

// hidden is what every way of printing a Secret gives.
const hidden = "***"

// Secret is a token, a key or a URL with a password in it. Only Reveal gives
// it; whatever is printed, logged or marshalled is "***".
type Secret struct{ value string }

// NewSecret hides a value.
func NewSecret(value string) Secret { return Secret{value} }

// Reveal gives the value, for the one call that needs it.
func (s Secret) Reveal() string { return s.value }

// IsZero reports whether there is no value.
func (s Secret) IsZero() bool { return s.value == "" }

func (s Secret) String() string               { return hidden }
func (s Secret) LogValue() slog.Value         { return slog.StringValue(hidden) }
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// Format covers the verbs that do not ask for a String, such as %d and %#v.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(hidden)) }
