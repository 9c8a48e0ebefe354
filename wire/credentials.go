package wire

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/internal/secret"
)

// Credentials are one tenant's upstream secrets, as every authenticated request
// carries them. They live for one request: keep nothing that you derive from
// them [rule http-11].
//
// The values sit in a closure. Printing, logging, marshalling or reflecting on a
// Credentials, or on anything that holds one, does not show them. Only
// [Credentials.Get], [Credentials.Reveal] and [EncodeRequest] do. The zero value
// is the empty set.
type Credentials struct {
	redaction
	vault func() *vault
}

// vault is what a Credentials holds.
type vault struct {
	values map[string]string
	once   sync.Once
	finder *secret.Finder // of the values that are secrets; made once it is needed
}

// minSecret is the length in bytes from which a value is a secret to Scrub.
const minSecret = 4

// NewCredentials returns credentials with a copy of values. Clients and tests
// use it; a connector receives its credentials with each request.
func NewCredentials(values map[string]string) Credentials {
	return hold(maps.Clone(values))
}

// hold returns credentials that keep values itself.
func hold(values map[string]string) Credentials {
	v := &vault{values: values}
	return Credentials{vault: func() *vault { return v }}
}

// scrub returns text without the values that are secrets.
func (v *vault) scrub(text string) string {
	v.once.Do(func() {
		var needles []secret.Needle
		for _, value := range v.values {
			for _, own := range []string{value, strings.TrimSpace(value)} { // a server quotes it without blanks
				if len(own) >= minSecret {
					needles = append(needles, secret.Needle{Text: own, Mark: secret.Redacted})
				}
			}
		}
		v.finder = secret.New(needles, nil)
	})
	return v.finder.Replace(text)
}

func (c Credentials) all() map[string]string {
	if c.vault == nil {
		return nil
	}
	return c.vault().values
}

// Get returns the value of key, or "" if it has none. A blank optional value
// counts as missing.
func (c Credentials) Get(key string) string { return c.all()[key] }

// Keys returns the keys that have a value, sorted. Keys are not secret: the
// capability document publishes them.
func (c Credentials) Keys() []string {
	return slices.Sorted(maps.Keys(c.all()))
}

// Only returns the non-blank values of the given keys.
func (c Credentials) Only(keys ...string) Credentials {
	own := make(map[string]string, len(keys))
	for _, k := range keys {
		if v := c.Get(k); v != "" {
			own[k] = v
		}
	}
	return hold(own)
}

// Reveal returns a copy of the values, for a client that must send them.
func (c Credentials) Reveal() map[string]string {
	own := make(map[string]string, len(c.all()))
	maps.Copy(own, c.all())
	return own
}

// Scrub returns text with "[redacted]" in the place of every credential value, also
// where its characters are escaped as in JSON, URLs, HTML or SQL, each in any way,
// or its bytes are written in hexadecimal, decimal or base64. The library passes log
// lines and messages through it. Values shorter than four bytes stay: they are no
// secrets, and cutting them would mangle every text.
//
// The work is bounded by the lengths of text and values. If a text repeats itself so
// often that this does not suffice, its rest is cut away too.
func (c Credentials) Scrub(text string) string {
	if c.vault == nil {
		return text
	}
	return c.vault().scrub(text)
}

// redaction makes every printer, logger and encoder write "[redacted]" for a type
// that embeds it. It is an alias of a type elsewhere so that its methods do not stand
// in the documentation of each of them.
type redaction = secret.Redaction
