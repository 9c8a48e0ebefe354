package conformance

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// secret is one that no answer may hold, in every spelling that is looked for.
type secret struct {
	name      string
	spellings [][]byte
}

// minSecret is the length from which a credential is looked for: a shorter one
// stands in honest data by chance.
const minSecret = 8

// secretsOnce are the token and the credentials of all tenants. Which of these
// are secrets is for the document to say, so nothing is made before it is read.
func (w *watch) secretsOnce() func() []secret {
	var mu sync.Mutex
	var all []secret
	whole := false
	return func() []secret {
		mu.Lock()
		defer mu.Unlock()
		if whole {
			return all
		}
		whole = w.s.doc != nil
		all = []secret{{"the bearer token", spellings(w.s.target.Token)}}
		for i, t := range w.s.tenants {
			for _, key := range t.credentials.Keys() {
				if value := t.credentials.Get(key); whole && w.s.doc.masks(key) && len(value) >= minSecret {
					all = append(all, secret{fmt.Sprintf("the credential %s of the %s tenant", wire.QuoteName(key), []string{"first", "second"}[i]), spellings(value)})
				}
			}
		}
		return all
	}
}

// masks tells whether a credential is a secret. A user's name or an address may
// stand in honest data; what the form masks, or takes as a block of text such
// as a key file, may not.
func (d *document) masks(key string) bool {
	return slices.ContainsFunc(d.CredentialSchema, func(f wire.CredentialField) bool {
		return f.Key == key && f.Type != wire.CredentialText
	})
}

// spellings are a secret as it is, and in the encodings that hide it least.
func spellings(value string) (all [][]byte) {
	add := func(text string) {
		if !slices.ContainsFunc(all, func(b []byte) bool { return string(b) == text }) {
			all = append(all, []byte(text))
		}
	}
	add(value)
	if escaped, err := jsontext.AppendString(nil, value); err == nil {
		add(string(bytes.Trim(escaped, `"`)))
	}
	add(url.QueryEscape(value))
	add(url.PathEscape(value))
	add(hex.EncodeToString([]byte(value)))
	// Without the last letters, which depend on what follows.
	add(base64.RawStdEncoding.EncodeToString([]byte(value[:len(value)/3*3])))
	add(base64.RawURLEncoding.EncodeToString([]byte(value[:len(value)/3*3])))
	return all
}

// leaks searches an answer for what no answer may hold.
func (w *watch) leaks(a *answer, body []byte) *finding {
	f := w.leak(body)
	for _, values := range a.header {
		for _, value := range values {
			if f == nil {
				f = w.leak([]byte(value))
			}
		}
	}
	return f.of(a)
}

func (w *watch) leak(text []byte) *finding {
	for _, s := range w.secrets() {
		for i, spelling := range s.spellings {
			if bytes.Contains(text, spelling) {
				how := ""
				if i > 0 {
					how = ", encoded"
				}
				return &finding{detail: "an answer holds " + s.name + how}
			}
		}
	}
	return nil
}
