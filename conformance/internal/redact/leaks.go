package redact

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/phrase"
	"github.com/connectorsdk/connector-sdk-go/internal/secret"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// maxWord is how long a single word in small letters may be to be taken for a word
// of a language. A credential such as password occurs in honest data.
const maxWord = 12

// byChance reports whether a credential may occur in honest answers: a word, or a text of the public document.
func byChance(value, document string) bool {
	word := len(value) <= maxWord && strings.Trim(value, "abcdefghijklmnopqrstuvwxyz") == ""
	return len(value) < secret.MinLength || word || strings.Contains(strings.ToLower(document), strings.ToLower(value))
}

// masks reports whether a credential is a secret. A user's name or an address may occur in honest data; what the form
// masks, or takes as a block of text such as a key file, may not.
func masks(d *wire.Document, key string) bool {
	return slices.ContainsFunc(d.CredentialSchema, func(f wire.CredentialField) bool {
		return f.Key == key && f.Type != wire.CredentialText
	})
}

// Leaks returns a function that searches a text for what no answer may hold: the token and the credentials of all
// tenants, as they are, reversed, and as a connector may disguise them. The document says which credentials are
// secrets; without it there is only the token.
func Leaks(token string, tenants []Tenant, document *wire.Document) func(text []byte) *check.Finding {
	plain := []secret.Needle{{Text: token, Mark: "the bearer token"}} // the marks are names
	if document != nil {
		plain = append(plain, credentials(tenants, document)...)
	}
	all := slices.Clone(plain)
	for _, s := range plain {
		reversed := []byte(s.Text)
		slices.Reverse(reversed)
		all = append(all, secret.Needle{Text: string(reversed), Mark: s.Mark})
	}
	disguises := secret.New(all, secret.Fold)
	clean := seen{seed: maphash.MakeSeed()}
	return func(text []byte) *check.Finding {
		slot, sum := clean.at(text)
		if slot.Load() == sum {
			return nil
		}
		for _, s := range plain {
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
		slot.Store(sum)
		return nil
	}
}

// seen are the texts that were looked at last: the same rows are read again and again.
type seen struct {
	seed maphash.Seed
	sums [8192]atomic.Uint64
}

// at returns the place of a text, and what stands there once it was looked at: a hash of 64 bits with a seed by chance.
func (s *seen) at(text []byte) (slot *atomic.Uint64, sum uint64) {
	sum = maphash.Bytes(s.seed, text) | 1 // a place that is free has 0
	return &s.sums[sum>>1%uint64(len(s.sums))], sum
}

// credentials returns those that the document makes secrets.
func credentials(tenants []Tenant, document *wire.Document) (list []secret.Needle) {
	text, err := wire.EncodeAnswer(document)
	if err != nil {
		text = nil // it was read, so it can be written
	}
	for i, t := range tenants {
		for _, key := range t.Credentials.Keys() {
			if value := t.Credentials.Get(key); masks(document, key) && !byChance(value, string(text)) {
				name := fmt.Sprintf("the credential %s of the %s tenant", terms.QuoteName(key), phrase.Ordinal(i))
				list = append(list, secret.Needle{Text: value, Mark: name})
			}
		}
	}
	return list
}

// maxDisguised is how long a text is that is searched for disguises. Messages are
// shorter; rows of data are searched for the secret itself.
const maxDisguised = 64 << 10
