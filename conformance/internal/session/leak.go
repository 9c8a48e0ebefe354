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

// secrets are texts that no answer may hold: as they are, and as a connector may
// disguise them. Their marks are their names.
type secrets struct {
	document  *Document // that says which credentials are secrets; nil: none was read
	plain     []secret.Needle
	disguises *secret.Finder
}

// newSecrets adds to each text its reverse.
func newSecrets(document *Document, plain []secret.Needle) *secrets {
	all := slices.Clone(plain)
	for _, s := range plain {
		reversed := []byte(s.Text)
		slices.Reverse(reversed)
		all = append(all, secret.Needle{Text: string(reversed), Mark: s.Mark})
	}
	return &secrets{document, plain, secret.New(all, fold)}
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
	return len(value) < minSecret || word || strings.Contains(strings.ToLower(document), strings.ToLower(value))
}

// knownSecrets returns the token and the credentials of all tenants. The document says which
// credentials are secrets, so until it was read there is only the token.
func (w *Watch) knownSecrets() *secrets {
	w.mu.Lock()
	defer w.mu.Unlock()
	document := w.session.Document
	if w.secrets == nil || w.secrets.document != document {
		plain := []secret.Needle{{Text: w.session.Token, Mark: "the bearer token"}}
		if document != nil {
			plain = append(plain, w.credentials(document)...)
		}
		w.secrets = newSecrets(document, plain)
	}
	return w.secrets
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
	all := w.knownSecrets()
	for _, s := range all.plain {
		if bytes.Contains(text, []byte(s.Text)) {
			return check.Fail("an answer holds %s", s.Mark)
		}
	}
	if len(text) > maxDisguised {
		return nil
	}
	if name, ok := all.disguises.Find(string(text)); ok {
		return check.Fail("an answer holds %s, encoded", name)
	}
	return nil
}
