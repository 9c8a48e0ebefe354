package enginetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// selfSigned returns a certificate of 127.0.0.1 and db.test, and its key, as files
// have them, and who trusts it.
func selfSigned(t *testing.T) (trusted *x509.CertPool, certificate, key []byte) {
	t.Helper()
	private := testkit.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "a server of tests"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(24 * time.Hour),
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		DNSNames:              []string{"db.test"},
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	raw := testkit.Must(x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private))(t)
	parsed := testkit.Must(x509.ParseCertificate(raw))(t)
	trusted = x509.NewCertPool()
	trusted.AddCert(parsed)
	der := testkit.Must(x509.MarshalPKCS8PrivateKey(private))(t)
	return trusted, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}
