package wire

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Token is the bearer token of a host, or two of them during a rotation
// [rule http-3]. It holds digests in a closure and cannot show a secret. The zero
// Token matches nothing.
type Token struct {
	redaction
	digests func() [][sha256.Size]byte
}

const mint = "mint one with `openssl rand -hex 32`"

// NewToken returns a token of one secret, or of two during a rotation: the new
// one and the one still in use. Each needs at least 32 characters of visible
// ASCII, because an HTTP header carries these unchanged.
func NewToken(secrets ...string) (Token, error) {
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
