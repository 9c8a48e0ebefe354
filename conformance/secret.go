package conformance

import (
	"fmt"
	"io"
	"log/slog"
)

const redacted = "[redacted]"

// Secret holds a bearer token. Printing, logging or marshalling it, or anything that
// holds it, shows "[redacted]"; only [Secret.Reveal] returns the token.
type Secret struct{ value func() string }

// NewSecret returns a secret that holds value.
func NewSecret(value string) Secret { return Secret{func() string { return value }} }

// Reveal returns the secret's value. It is empty for the zero Secret.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return s.value()
}

// String returns "[redacted]".
func (s Secret) String() string { return redacted }

// GoString returns "[redacted]".
func (s Secret) GoString() string { return redacted }

// Format writes "[redacted]" for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue returns "[redacted]".
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText returns "[redacted]".
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
