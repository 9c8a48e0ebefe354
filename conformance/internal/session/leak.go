package session

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// secret is a text that no answer may hold, in every spelling that is looked for: as
// it is, and then as a connector may disguise it, in lower case.
type secret struct {
	name      string
	plain     []byte
	disguises [][]byte
}

func newSecret(name, value string) secret {
	s := secret{name: name, plain: []byte(value)}
	reversed := []byte(value)
	for i, j := 0, len(reversed)-1; i < j; i, j = i+1, j-1 {
		reversed[i], reversed[j] = reversed[j], reversed[i]
	}
	for _, text := range append(disguises(value), string(reversed)) {
		s.disguises = append(s.disguises, []byte(lowerASCII(text)))
	}
	return s
}

// minSecret is the length from which a credential is looked for. A shorter one
// occurs in honest data by chance.
const minSecret = 8

// maxWord is how long a single word in small letters may be to be taken for a word
// of a language. A credential such as password occurs in honest data.
const maxWord = 12

// byChance reports whether a credential may occur in honest answers: a word, or a text
// of the public document.
func byChance(value, document string) bool {
	word := len(value) <= maxWord && strings.Trim(value, "abcdefghijklmnopqrstuvwxyz") == ""
	return len(value) < minSecret || word || strings.Contains(lowerASCII(document), lowerASCII(value))
}

// secretsOnce returns a function that lists the token and the credentials of all
// tenants. The document says which credentials are secrets, so until it was read
// only the token is listed.
func (w *Watch) secretsOnce() func() []secret {
	var mu sync.Mutex
	var all []secret
	whole := false
	return func() []secret {
		mu.Lock()
		defer mu.Unlock()
		if whole {
			return all
		}
		all = []secret{newSecret("the bearer token", w.session.Token)}
		document := w.session.Document
		if whole = document != nil; !whole {
			return all
		}
		text, err := wire.EncodeAnswer(&document.Document)
		if err != nil {
			text = nil // it was read, so it can be written
		}
		for i, t := range w.session.Tenants {
			for _, key := range t.Credentials.Keys() {
				if value := t.Credentials.Get(key); document.masks(key) && !byChance(value, string(text)) {
					name := fmt.Sprintf("the credential %s of the %s tenant", wire.QuoteName(key), Ordinal(i))
					all = append(all, newSecret(name, value))
				}
			}
		}
		return all
	}
}

// Ordinal returns how texts name a tenant: first or second.
func Ordinal(tenant int) string { return []string{"first", "second"}[tenant] }

// leaks searches an answer for what no answer may hold.
func (w *Watch) leaks(a *Answer, body []byte) *check.Finding {
	f := w.leak(body)
	for _, values := range a.Header {
		for _, value := range values {
			if f == nil {
				f = w.leak([]byte(value))
			}
		}
	}
	return f.From(a.Request)
}

// maxDisguised is how long a text is that is searched for disguises. Messages are
// shorter; rows of data are searched for the secret itself.
const maxDisguised = 64 << 10

func (w *Watch) leak(text []byte) *check.Finding {
	for _, s := range w.secrets() {
		if bytes.Contains(text, s.plain) {
			return check.Fail("an answer holds %s", s.name)
		}
	}
	if len(text) > maxDisguised {
		return nil
	}
	lower := []byte(lowerASCII(string(text)))
	for _, s := range w.secrets() {
		for _, spelling := range s.disguises {
			if bytes.Contains(lower, spelling) {
				return check.Fail("an answer holds %s, encoded", s.name)
			}
		}
	}
	return nil
}
