package session

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// secret is a text that no answer may hold, in every spelling that is looked for.
type secret struct {
	name      string
	spellings [][]byte
}

// minSecret is the length from which a credential is looked for. A shorter one
// occurs in honest data by chance.
const minSecret = 8

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
		document := w.session.Document
		whole = document != nil
		all = []secret{{"the bearer token", spellings(w.session.Token)}}
		for i, t := range w.session.Tenants {
			for _, key := range t.Credentials.Keys() {
				if value := t.Credentials.Get(key); whole && document.masks(key) && len(value) >= minSecret {
					name := fmt.Sprintf("the credential %s of the %s tenant", wire.QuoteName(key), Ordinal(i))
					all = append(all, secret{name, spellings(value)})
				}
			}
		}
		return all
	}
}

// Ordinal returns how texts name a tenant: first or second.
func Ordinal(tenant int) string { return []string{"first", "second"}[tenant] }

// spellings returns a secret as it is, and in the encodings that hide it least.
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

func (w *Watch) leak(text []byte) *check.Finding {
	for _, s := range w.secrets() {
		for i, spelling := range s.spellings {
			if bytes.Contains(text, spelling) {
				how := ""
				if i > 0 {
					how = ", encoded"
				}
				return check.Fail("an answer holds %s%s", s.name, how)
			}
		}
	}
	return nil
}
