package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
)

// The headers of a delivery. Only the body is signed, so [Receiver] believes the body
// alone about the run and the event.
const (
	HeaderSignature = "X-Service-Signature"
	HeaderRunID     = "X-Service-Run-Id"
	HeaderEvent     = "X-Service-Event"
)

// ErrSignature is the error of a body whose signature is missing or wrong.
var ErrSignature = errors.New("webhook: the signature does not match the body")

// Secret is what the deliveries for a key are signed with: the SHA-256 digest of the
// key. The key itself need not be kept. Printing a Secret does not show it.
type Secret struct{ reveal func() string }

// NewSecret returns the secret of a key.
func NewSecret(key string) Secret {
	digest := sha256.Sum256([]byte(key))
	// The text in lowercase hex is the secret, not the bytes.
	text := hex.EncodeToString(digest[:])
	return Secret{func() string { return text }}
}

// Sign returns the value of the signature header for a body.
func (s Secret) Sign(body []byte) string {
	mac := hmac.New(sha256.New, []byte(s.reveal()))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// Verify returns [ErrSignature] unless the value of the signature header is the one
// of the body, byte for byte as it was received. It takes the same time wherever the
// values differ. Call it before you parse the body.
func (s Secret) Verify(header string, body []byte) error {
	if s.reveal == nil || !hmac.Equal([]byte(header), []byte(s.Sign(body))) {
		return ErrSignature
	}
	return nil
}
