package secret_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/secret"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
)

// finder returns a finder of texts that are shown as [redacted].
func finder(texts ...string) *secret.Finder {
	var needles []secret.Needle
	for _, text := range texts {
		needles = append(needles, secret.Needle{Text: text, Mark: secret.Redacted})
	}
	return secret.New(needles, nil)
}

// unquoted returns the text of a Go string literal.
func unquoted(t *testing.T, literal string) string {
	t.Helper()
	return testkit.Must(strconv.Unquote(literal))(t, literal)
}

// TestSpellings requires that each spelling is found whole, wherever it stands.
func TestSpellings(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/spellings.tsv", 3) {
		t.Run(c[2], func(t *testing.T) {
			f, text := finder(unquoted(t, c[0])), unquoted(t, c[1])
			require.Equal(t, "<[redacted]>", f.Replace("<"+text+">"), "alone")
			require.Equal(t, "[redacted]", f.Replace(text), "at both ends")
			require.Equal(t, "[redacted]; [redacted]", f.Replace(text+"; "+text), "twice")
			_, found := f.Find(strings.Repeat("no such text\n", 9) + text)
			require.True(t, found)
		})
	}
}

// TestMixedSpellings spells each character of random secrets in a way of its own.
func TestMixedSpellings(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	letters := []rune("ab01/=+ '\"`\\%&;#uxnü€😀\n\x00")
	ways := []func(c rune) string{
		func(c rune) string { return string(c) },
		func(c rune) string { return url.QueryEscape(string(c)) },
		func(c rune) string { return percents(string(c)) },
		func(c rune) string { return url.QueryEscape(percents(string(c))) },
		func(c rune) string { return html.EscapeString(string(c)) },
		func(c rune) string { return fmt.Sprintf("&#%d;", max(c, 1)) },
		func(c rune) string { return fmt.Sprintf("&#x%X;", max(c, 1)) },
		func(c rune) string { return strings.TrimSuffix(strconv.QuoteToASCII(string(c))[1:], `"`) },
		func(c rune) string { return fmt.Sprintf(`\U%08X`, c) },
		func(c rune) string {
			if strings.ContainsRune(`'"`+"`", c) {
				return string(c) + string(c)
			}
			return string(c)
		},
	}
	for range testrun.Rounds(20_000) {
		var plain, spelled strings.Builder
		for range 4 + rnd.IntN(8) {
			c := letters[rnd.IntN(len(letters))]
			text := string(c)
			if way := ways[rnd.IntN(len(ways))]; c != 0 {
				text = way(c)
			}
			plain.WriteRune(c)
			spelled.WriteString(text)
		}
		require.Equal(t, "<[redacted]>", finder(plain.String()).Replace("<"+spelled.String()+">"), "%q as %s", plain.String(), spelled.String())
	}
}

// percents returns every byte of a text as %2b.
func percents(text string) string {
	var b strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&b, "%%%02x", text[i])
	}
	return b.String()
}

// TestBase64 searches for secrets of any length behind and before texts of any length.
func TestBase64(t *testing.T) {
	for _, secret := range []string{"word", "words", "a word", "passwo\xffrd", "\xff\xfe\xfd\xfc"} {
		for _, before := range []string{"", "a", "ab", "abc"} {
			for _, after := range []string{"", "x", "xy", "xyz"} {
				for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
					text := encoding.EncodeToString([]byte(before + secret + after))
					rest := strings.SplitN(finder(secret).Replace("Basic "+text), "[redacted]", 2)
					require.Len(t, rest, 2, "%q in %q", secret, text)
					require.Equal(t, "Basic "+text[:len(before)*8/6], rest[0])
					require.Equal(t, text[(len(before+secret)*8+5)/6:], rest[1])
				}
			}
		}
	}
}

// TestKept lists texts that hold no secret, though nearly.
func TestKept(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/kept.tsv", 3) {
		text := unquoted(t, c[1])
		require.Equal(t, text, finder(unquoted(t, c[0])).Replace(text), c[2])
	}
}

// TestOverlap has needles that touch each other, and needles of which one is a part of another.
func TestOverlap(t *testing.T) {
	f := secret.New([]secret.Needle{
		{"abcd", "[1]"}, {"abcdef", "[2]"}, {"abcdeg", "[3]"}, {"xy", "[4]"}, {"A", "[5]"}, {"%41", "[6]"},
	}, nil)
	for text, want := range map[string]string{
		"abcdeg abcdef abcde": "[3] [2] [1]e",
		"abcdxyxy":            "[1][4][4]",
		"%41":                 "[5]", // of two that end at one place, the one that was read first
		"d:\nYWJjZGVm":        "d:\n[2]",
	} {
		require.Equal(t, want, f.Replace(text), text)
	}
}

// TestFold compares bytes as the caller says, in texts and needles.
func TestFold(t *testing.T) {
	f := secret.New([]secret.Needle{{Text: "SecreT", Mark: "[a]"}, {Text: "sEcret", Mark: "[b]"}, {Text: "other", Mark: "[c]"}},
		func(c byte) byte { return bytes.ToLower([]byte{c})[0] })
	require.Equal(t, "[a] [a] [c]", f.Replace(`SECRET S%45CR\u0065t OtheR`), "of two needles with one text, the first counts")
	mark, ok := f.Find("no, the OTHER one")
	require.True(t, ok)
	require.Equal(t, "[c]", mark)
	_, ok = f.Find("neither")
	require.False(t, ok)
}

// repeating are secrets and texts that repeat themselves, so that a needle nearly begins
// everywhere, in many ways.
var repeating = []struct{ secret, text string }{
	{"a", "a"}, {`\`, `\`}, {"'", "'"}, {"%", "%25"}, {"&", "&amp;"}, {"0", "30"}, {"\x00", "AAAA"}, {`"`, `\u0022`},
}

// TestWorkIsBounded withholds what cannot be searched in time.
func TestWorkIsBounded(t *testing.T) {
	for _, c := range repeating {
		var secrets []string
		for i := range 256 {
			secrets = append(secrets, strings.Repeat(c.secret, 3000)+fmt.Sprint("x", i))
		}
		text := "before " + strings.Repeat(c.text, 10_000) + "x7"
		got := finder(secrets...).Replace(text)
		require.True(t, strings.HasPrefix(got, "before "), "what was searched is shown")
		require.True(t, strings.HasSuffix(got, "[redacted]"), "the rest is not: %s", c.text)
		require.NotContains(t, got, "x7")
		_, ok := finder(secrets...).Find(text)
		require.False(t, ok, "what was not searched is not said to hold a secret")
	}
}

func BenchmarkReplace(b *testing.B) {
	f := finder("sk-live-0123456789abcdef", "someone@example.com")
	row := `{"id":12345,"name":"O'Brien","text":"100% of the quick brown fox","at":"2024-01-02T03:04:05Z"},`
	for name, text := range map[string]string{"message": row, "rows": strings.Repeat(row, 1000)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				f.Replace(text)
			}
		})
	}
	for _, c := range repeating {
		f, text := finder(strings.Repeat(c.secret, 1<<20)), strings.Repeat(c.text, 4096)
		b.Run("repeating "+c.text, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				f.Replace(text)
			}
		})
	}
}

// TestHonestTextsAreSearched searches long texts for many secrets, none of which repeats itself: the
// bound is not for them.
func TestHonestTextsAreSearched(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	letters := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[rnd.IntN(64)]
		}
		return string(b)
	}
	keys := []string{"https://example.com/api/v1", `{"type": "service_account", "key": "-----BEGIN KEY-----\n"}`}
	for range 100 {
		keys = append(keys, letters(1000))
	}
	pem := letters(4000)
	for i := range len(pem) - 16 {
		keys = append(keys, pem[i:i+16])
	}
	for name, text := range map[string]string{
		"random letters": letters(100_000),
		"rows":           strings.Repeat(`{"id":12345,"url":"https://example.com/api/v2?a=%20b","note":"it''s \"here\""},`, 1000),
		"bytes":          strings.Repeat("0x41, 0x42, 65, 66 ", 5000),
		"quotes":         strings.Repeat(`\"\",'',%25`, 5000),
		"dashes":         strings.Repeat("-", 50_000),
	} {
		f := finder(keys...)
		require.Equal(t, text, f.Replace(text), name)
		require.Equal(t, text+"[redacted]", f.Replace(text+url.QueryEscape(keys[1])), name)
	}
}

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
