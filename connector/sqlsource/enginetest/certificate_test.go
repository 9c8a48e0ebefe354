package enginetest

import (
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// selfSigned returns the certificate of package httptest, which is for 127.0.0.1 and example.com, and its
// key, as files have them, and who trusts it.
func selfSigned(t *testing.T) (trusted *x509.CertPool, certificate, key []byte) {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	pair := server.TLS.Certificates[0]
	der := testkit.Must(x509.MarshalPKCS8PrivateKey(pair.PrivateKey))(t)
	return server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs,
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}
