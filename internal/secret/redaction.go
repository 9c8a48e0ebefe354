package secret

import (
	"fmt"
	"io"
	"log/slog"
)

// Redaction gives a type that embeds it the text [Redacted] for every printer,
// logger and encoder. Keep the secret itself in a function value beside it: that
// hides it from reflection too, at any depth.
type Redaction struct{}

// String returns "[redacted]".
func (Redaction) String() string { return Redacted }

// GoString returns "[redacted]".
func (Redaction) GoString() string { return Redacted }

// Format writes "[redacted]" for every verb.
func (Redaction) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, Redacted) }

// LogValue returns "[redacted]".
func (Redaction) LogValue() slog.Value { return slog.StringValue(Redacted) }

// MarshalText returns "[redacted]".
func (Redaction) MarshalText() ([]byte, error) { return []byte(Redacted), nil }
