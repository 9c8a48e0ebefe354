package standin

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// account is an Account and the user that its token belongs to.
type account struct {
	Account
	user *user
}

// authenticate finds who is calling: the account of an access token, or the
// account that created a workflow key. Anything else is 401.
func (s *Service) authenticate(c *call) error {
	headers := c.request.Header.Values("Authorization")
	if len(headers) != 1 {
		return unauthorized("Send one Authorization header.")
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return unauthorized("Send a bearer token.")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.accounts[token]; a != nil {
		c.account = a
	} else if k := s.keys[hashKey(token)]; k != nil && k.valid(c.now) {
		c.account, c.key = k.owner, k
	} else {
		return unauthorized("The token is not valid.")
	}
	c.org = s.organizations[c.account.Organization]
	return nil
}

// hashKey returns what is kept of a workflow key. It is also the secret that
// signs the webhooks of the key's runs.
func hashKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// sign returns an HMAC-SHA256 in lowercase hexadecimal.
func sign(secret, message []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write(message)
	return hex.EncodeToString(mac.Sum(nil))
}

// signed reports, in constant time, whether signature is that of message.
func signed(secret, message []byte, signature string) bool {
	return hmac.Equal([]byte(sign(secret, message)), []byte(signature))
}
