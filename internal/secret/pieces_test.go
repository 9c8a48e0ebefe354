package secret_test

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/secret"
)

// TestPieces cuts texts within a secret, however it is spelled there.
func TestPieces(t *testing.T) {
	const text = `Zq8/Rk3+Xw7"mB2y Lc9dFh4s`
	f := secret.New(secret.Pieces(text, secret.Redacted), secret.Fold)
	for _, spelling := range []string{
		text, strings.ToUpper(text), url.QueryEscape(text), hex.EncodeToString([]byte(text)), base64.StdEncoding.EncodeToString([]byte(text)),
	} {
		require.Equal(t, "secret [redacted]", f.Replace("secret "+spelling[:17]), "cut at its end")
		require.Contains(t, f.Replace(spelling[3:]+" is it"), "[redacted]", "cut at its start")
		require.Equal(t, spelling[:15], f.Replace(spelling[:15]), "too little to tell")
	}
	require.Empty(t, secret.Pieces("passwor", secret.Redacted), "it occurs by chance")
	require.Len(t, secret.Pieces(strings.Repeat("x", 100<<10), secret.Redacted)[0].Text, 100<<10, "a long one is found whole")
}
