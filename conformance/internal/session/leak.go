package session

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/internal/secret"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// maxWord is how long a single word in small letters may be to be taken for a word
// of a language. A credential such as password occurs in honest data.
const maxWord = 12

// byChance reports whether a credential may occur in honest answers: a word, or a text
// of the public document.
func byChance(value, document string) bool {
	word := len(value) <= maxWord && strings.Trim(value, "abcdefghijklmnopqrstuvwxyz") == ""
	return len(value) < secret.MinLength || word || strings.Contains(strings.ToLower(document), strings.ToLower(value))
}

// learnSecrets notes what no answer may hold: the token and the credentials of all tenants, as they
// are, reversed, and as a connector may disguise them. Their marks are their names. The document says
// which credentials are secrets, so until it was read there is only the token.
func (w *Watch) learnSecrets() {
	plain := []secret.Needle{{Text: w.session.Token, Mark: "the bearer token"}}
	if document := w.session.Document; document != nil {
		plain = append(plain, w.credentials(document)...)
	}
	all := slices.Clone(plain)
	for _, s := range plain {
		reversed := []byte(s.Text)
		slices.Reverse(reversed)
		all = append(all, secret.Needle{Text: string(reversed), Mark: s.Mark})
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.secrets, w.disguises = plain, secret.New(all, secret.Fold)
}

// credentials returns those that the document makes secrets.
func (w *Watch) credentials(document *Document) (list []secret.Needle) {
	text, err := wire.EncodeAnswer(&document.Document)
	if err != nil {
		text = nil // it was read, so it can be written
	}
	for i, t := range w.session.Tenants {
		for _, key := range t.Credentials.Keys() {
			if value := t.Credentials.Get(key); document.masks(key) && !byChance(value, string(text)) {
				name := fmt.Sprintf("the credential %s of the %s tenant", terms.QuoteName(key), Ordinal(i))
				list = append(list, secret.Needle{Text: value, Mark: name})
			}
		}
	}
	return list
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
	w.mu.Lock()
	secrets, disguises := w.secrets, w.disguises
	w.mu.Unlock()
	for _, s := range secrets {
		if bytes.Contains(text, []byte(s.Text)) {
			return check.Fail("an answer holds %s", s.Mark)
		}
	}
	if len(text) > maxDisguised {
		return nil
	}
	if name, ok := disguises.Find(string(text)); ok {
		return check.Fail("an answer holds %s, encoded", name)
	}
	return nil
}
