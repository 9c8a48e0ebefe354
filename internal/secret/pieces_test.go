package secret_test

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

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
	require.NotEmpty(t, secret.Pieces("password", secret.Redacted))
	most := secret.Pieces(strings.Repeat("x", 16<<10), secret.Redacted)
	require.Len(t, most[0].Text, 16, "all pieces of it are told")
	more := secret.Pieces(strings.Repeat("x", 16<<10+1), secret.Redacted)
	require.Len(t, more[0].Text, 16<<10+1, "a longer one is found whole")
	require.Equal(t, most, more[1:])
}

// TestPiecesOfSpellings lists the pieces of a short secret: so many bytes of each spelling.
func TestPiecesOfSpellings(t *testing.T) {
	var want []secret.Needle
	for _, c := range []struct {
		spelling string
		size     int
	}{
		{"p%22%2F%26%C3%BC%2B+x", 15}, {"p%22%2F&%C3%BC+%20x", 14}, {"p&#34;/&amp;ü+ x", 12}, {"70222f26c3bc2b2078", 13},
		{"%70%22%2f%26%c3%bc%2b%20%78", 16}, {`\u0070\u0022\u002f\u0026\u00c3\u00bc\u002b\u0020\u0078`, 16},
		{`p\"/&ü+ x`, 8}, {`p\\\"/&ü+ x`, 9}, {`p\"/&\u00fc+ x`, 10}, {`p\\\"/&\\u00fc+ x`, 12},
		{"cCIvJsO8KyB4", 9}, {"cCIvJsO8KyB4", 9}, // in both alphabets of base64
		{"AiLybDvCsge", 8}, {"AiLybDvCsge", 8}, {"wIi8mw7wrIH", 8}, {"wIi8mw7wrIH", 8},
		{`p"/&ü+ x`, 8},
	} {
		for i := range len(c.spelling) - c.size + 1 {
			want = append(want, secret.Needle{Text: c.spelling[i : i+c.size], Mark: "[it]"})
		}
	}
	require.Equal(t, want, secret.Pieces(`p"/&ü+ x`, "[it]"))
}

// TestFoldBytes folds every byte.
func TestFoldBytes(t *testing.T) {
	for c := range 256 {
		want := byte(c)
		if c < utf8.RuneSelf {
			want = byte(unicode.ToLower(rune(c)))
		}
		if c < utf8.RuneSelf && unicode.IsControl(rune(c)) {
			want = ' '
		}
		require.Equal(t, want, secret.Fold(byte(c)), "%q", c)
	}
}
