package wire

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bearer is the bearer token that a client sends. Printing, logging or marshalling
// it, or anything that holds it, shows "[redacted]"; only [Bearer.Reveal] returns the
// token. A host, which compares what it is sent, has a [Token] instead.
type Bearer struct {
	redaction
	value func() string
}

// NewBearer returns a bearer token to send, as the connector's host issued it.
func NewBearer(token string) Bearer { return Bearer{value: func() string { return token }} }

// Reveal returns the token. It is empty for the zero Bearer.
func (b Bearer) Reveal() string {
	if b.value == nil {
		return ""
	}
	return b.value()
}

// Token is what a host compares bearer tokens with: the digest of one, or of two
// during a rotation [rule http-3]. It holds digests in a closure and cannot show a
// secret. The zero Token matches nothing. A client sends a [Bearer].
type Token struct {
	redaction
	digests func() [][sha256.Size]byte
}

const mint = "mint one with `openssl rand -hex 32`"

// NewToken returns a token of one secret, or of two during a rotation: the one
// in use and the next one. A comma separates two secrets in one text, as the
// environment holds them [rule http-11b]. Each needs at least 32 characters of
// visible ASCII, because an HTTP header carries these unchanged.
func NewToken(secrets ...string) (Token, error) {
	if len(secrets) > 0 {
		secrets = strings.Split(strings.Join(secrets, ","), ",")
	}
	if len(secrets) < 1 || len(secrets) > 2 {
		return Token{}, errors.New("a token is one secret, or two during a rotation")
	}
	digests := make([][sha256.Size]byte, len(secrets))
	for i, s := range secrets {
		if utf8.RuneCountInString(s) < MinTokenLength {
			return Token{}, fmt.Errorf("a token needs at least %d characters: %s", MinTokenLength, mint)
		}
		for _, c := range []byte(s) {
			if c <= ' ' || c > '~' {
				return Token{}, errors.New("a token must be visible ASCII without blanks, as a header carries it: " + mint)
			}
		}
		digests[i] = sha256.Sum256([]byte(s))
	}
	return Token{digests: func() [][sha256.Size]byte { return digests }}, nil
}

// IsZero reports whether t is the zero Token.
func (t Token) IsZero() bool { return t.digests == nil }

// Matches reports whether presented is one of the secrets. It compares digests
// in constant time and looks at all of them.
func (t Token) Matches(presented string) bool {
	if t.digests == nil {
		return false
	}
	digest := sha256.Sum256([]byte(presented))
	match := 0
	for _, d := range t.digests() {
		match |= subtle.ConstantTimeCompare(d[:], digest[:])
	}
	return match == 1
}
