package wire

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
)

const redacted = "[redacted]"

// Credentials are one tenant's upstream secrets, as they travel in every
// authenticated body (protocol, What the service does). They live for one
// request: keep nothing that you derive from them (G11).
//
// The values sit in a closure. No way of printing, logging, marshalling or
// reflecting on a Credentials, or on anything that holds one, shows them; the
// explicit [Credentials.Get] and [Credentials.Reveal] do. The zero value is
// the empty set.
type Credentials struct {
	values func() map[string]string
}

// NewCredentials takes a copy of values. Clients and tests use it; a connector
// gets its credentials decoded.
func NewCredentials(values map[string]string) Credentials {
	return hold(maps.Clone(values))
}

// hold takes values over.
func hold(values map[string]string) Credentials {
	return Credentials{func() map[string]string { return values }}
}

func (c Credentials) all() map[string]string {
	if c.values == nil {
		return nil
	}
	return c.values()
}

// Get is the value typed for key, or "" where none was: a blank optional value
// is a missing one (G6).
func (c Credentials) Get(key string) string { return c.all()[key] }

// Keys are the keys that have a value, sorted. Keys are no secret: the
// document publishes them.
func (c Credentials) Keys() []string {
	return slices.Sorted(maps.Keys(c.all()))
}

// Only is the set without blank values and without keys other than these.
func (c Credentials) Only(keys ...string) Credentials {
	own := make(map[string]string, len(keys))
	for _, k := range keys {
		if v := c.Get(k); v != "" {
			own[k] = v
		}
	}
	return hold(own)
}

// Reveal is a copy of the values, for a client that must send them.
func (c Credentials) Reveal() map[string]string {
	own := make(map[string]string, len(c.all()))
	maps.Copy(own, c.all())
	return own
}

// Scrub replaces every credential value in text, and the usual encodings of
// it, by a mark. It is what the SDK passes log lines and messages through.
// Values shorter than four bytes are left: they are no secrets, and cutting
// them would mangle every text.
func (c Credentials) Scrub(text string) string { return scrub(text, c.all()) }

// String is a mark.
func (c Credentials) String() string { return redacted }

// GoString is a mark.
func (c Credentials) GoString() string { return redacted }

// Format writes a mark for every verb.
func (c Credentials) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue is a mark.
func (c Credentials) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText is a mark, so that encoders show nothing. A client that must
// send credentials uses [EncodeRequest].
func (c Credentials) MarshalText() ([]byte, error) { return []byte(redacted), nil }
