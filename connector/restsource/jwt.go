package restsource

import (
	"cmp"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// SignedJWT signs a token with the tenant's private key, by RS256 if that is an RSA key
// and by ES256 if it is an elliptic one over P-256. The token is sent as Bearer does, or
// exchanged for an access token first.
//
//	Authorize: restsource.SignedJWT{Key: "privateKey", KeyID: "keyId",
//		Claims: func(credentials wire.Credentials) map[string]any {
//			return map[string]any{"iss": credentials.Get("issuer"), "aud": "example-v1"}
//		},
//	}.Authorize(),
type SignedJWT struct {
	// Key is the key of the credential with the private key, in PEM.
	Key string
	// KeyID is the key of the credential that names the private key, for the header kid.
	// Empty: no kid is sent.
	KeyID string
	// Claims returns the claims. The times iat and exp are added.
	Claims func(credentials wire.Credentials) map[string]any
	// Lifetime is how long the token is good. Default: 5 minutes.
	Lifetime time.Duration
	// TokenURL, if it is set, is the token endpoint that gives an access token for the
	// signed one, as with a service account (RFC 7523). It is spelled as in
	// ClientCredentials.
	TokenURL string
	// Answer is what the answer of the token endpoint says beyond OAuth, and where the token
	// is put.
	Answer TokenAnswer
}

// Authorize returns the function for API.Authorize.
func (j SignedJWT) Authorize() Authorize {
	return j.Answer.authorize(func(ctx context.Context, creds wire.Credentials) (obtained, error) {
		lifetime := cmp.Or(max(j.Lifetime, 0), 5*time.Minute)
		token, err := j.sign(creds, time.Now(), lifetime)
		if err != nil || j.TokenURL == "" {
			return obtained{token: token, lifetime: lifetime}, err
		}
		g := grant{url: j.TokenURL, answer: j.Answer,
			form: url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {token}}}
		return g.request(ctx, creds)
	})
}

// sign returns the signed token.
func (j SignedJWT) sign(creds wire.Credentials, now time.Time, lifetime time.Duration) (string, error) {
	key, alg, err := privateKey(creds.Get(j.Key))
	if err != nil {
		return "", err
	}
	header := map[string]any{"typ": "JWT", "alg": alg}
	if j.KeyID != "" {
		header["kid"] = strings.TrimSpace(creds.Get(j.KeyID))
	}
	claims := map[string]any{"iat": now.Unix(), "exp": now.Add(lifetime).Unix()}
	if j.Claims != nil {
		maps.Copy(claims, j.Claims(creds))
	}
	var parts []string
	for _, part := range []map[string]any{header, claims} {
		text, err := json.Marshal(part)
		if err != nil {
			return "", err
		}
		parts = append(parts, base64.RawURLEncoding.EncodeToString(text))
	}
	digest := sha256.Sum256([]byte(strings.Join(parts, ".")))
	signature, err := signDigest(key, digest[:])
	return strings.Join(append(parts, base64.RawURLEncoding.EncodeToString(signature)), "."), err
}

// signDigest signs as RS256 or ES256 do.
func signDigest(key crypto.Signer, digest []byte) ([]byte, error) {
	own, elliptic := key.(*ecdsa.PrivateKey)
	if !elliptic {
		return key.Sign(rand.Reader, digest, crypto.SHA256)
	}
	r, s, err := ecdsa.Sign(rand.Reader, own, digest)
	if err != nil {
		return nil, err
	}
	const half = 32 // bytes of a number of P-256
	signature := make([]byte, 2*half)
	r.FillBytes(signature[:half])
	s.FillBytes(signature[half:])
	return signature, nil
}

// oneLine finds a PEM block whose lines may have been joined.
var oneLine = regexp.MustCompile(`(-----BEGIN [A-Z0-9 ]+-----)([^-]+)(-----END [A-Z0-9 ]+-----)`)

// pemText returns what a person has pasted. A form of one line, or a file of JSON, has no
// line breaks.
func pemText(text string) []byte {
	return []byte(oneLine.ReplaceAllString(strings.ReplaceAll(text, `\n`, "\n"), "$1\n$2\n$3\n"))
}

// privateKey reads a key that a person has pasted, and names its algorithm.
func privateKey(text string) (crypto.Signer, string, error) {
	unreadable := connector.CheckFailed("The private key cannot be read. Paste the whole file, " +
		"from the line -----BEGIN to the line -----END.")
	block, rest := pem.Decode(pemText(text))
	for block != nil && !strings.HasSuffix(block.Type, "PRIVATE KEY") { // parameters of a curve, or a certificate
		block, rest = pem.Decode(rest)
	}
	switch {
	case block == nil:
		return nil, "", unreadable
	case strings.HasPrefix(block.Type, "ENCRYPTED") || block.Headers["DEK-Info"] != "":
		return nil, "", connector.CheckFailed("The private key is encrypted. Enter one without a passphrase.")
	}
	var key any
	for _, parse := range []func([]byte) (any, error){
		x509.ParsePKCS8PrivateKey,
		func(der []byte) (any, error) { return x509.ParsePKCS1PrivateKey(der) },
		func(der []byte) (any, error) { return x509.ParseECPrivateKey(der) },
	} {
		var err error
		if key, err = parse(block.Bytes); err == nil {
			break
		}
		key = nil
	}
	switch key := key.(type) {
	case *rsa.PrivateKey:
		return key, "RS256", nil
	case *ecdsa.PrivateKey:
		if key.Curve == elliptic.P256() {
			return key, "ES256", nil
		}
	case nil:
		return nil, "", unreadable
	}
	return nil, "", connector.CheckFailed(
		"The private key has a kind that cannot be used. It must be RSA, or elliptic over P-256.")
}
