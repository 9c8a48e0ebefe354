package secret_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/secret"
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

// spellings are ways in which programs write a text. Each line is what one of them made of
// the secret.
var spellings = []struct{ why, secret, text string }{
	{"PHP escapes slashes in JSON.", "sk/live/42", `sk\/live\/42`},
	{"A JSON writer may escape a plus sign, with capital digits.", "sk+live", `sk\u002Blive`},
	{"Or with small digits.", "sk+live", `sk\u002blive`},
	{"JSON for HTML escapes the equals sign.", "user=admin", `user\u003dadmin`},
	{"Go's JSON escapes what HTML gives a meaning.", "a&b<c>d", `a\u0026b\u003cc\u003ed`},
	{"Some writers escape every character.", "sk-1", `\u0073\u006B\u002d\u0031`},
	{"Characters beyond 16 bits are two escapes.", "grün😀", `gr\u00fcn\ud83d\ude00`},
	{"Go writes eight digits.", "grün😀", `gr\u00fcn\U0001f600`},
	{"Control characters have short names.", "a\b\t\n\v\f\r\aend", `a\b\t\n\v\f\r\aend`},
	{"Or two digits.", "a\x1b\x00end", `a\x1b\x00end`},
	{"Or three octal ones.", "a\x1bünd", `a\033\303\274nd`},
	{"JSON within JSON is escaped twice.", `say "hi" +1`, `say \\\"hi\\\" \\u002B1`},
	{"JSON within JSON within JSON.", `say "hi"`, `say \\\\\\\"hi\\\\\\\"`},
	{"encodeURIComponent leaves ' and ( as they are.", "it's (+1)=ü", `it's%20(%2B1)%3D%C3%BC`},
	{"A form writes + for a blank.", "it's (+1)", `it%27s+%28%2B1%29`},
	{"Percent signs come with small digits.", "a/b?c=d", `a%2fb%3fc%3dd`},
	{"Every byte may be escaped.", "sk-1", `%73%6B%2d%31`},
	{"What was escaped in a URL is escaped again in another.", "a/b c", `a%252Fb%2520c`},
	{"SQL doubles the quote.", "it's here", `it''s here`},
	{"MySQL puts a backslash before it.", "it's here", `it\'s here`},
	{"CSV and identifiers double their own quote.", `say "hi"`, `say ""hi""`},
	{"MySQL's identifiers double theirs.", "a`b`cd", "a``b``cd"},
	{"A shell ends the quotes, and escapes one.", `it's $1`, `it\'s\ \$1`},
	{"HTML has names.", `"a"&'b'<c>`, `&quot;a&quot;&amp;&apos;b&apos;&lt;c&gt;`},
	{"PHP writes the number of the quote with three digits.", "it's", `it&#039;s`},
	{"Go writes it with two.", "it's", `it&#39;s`},
	{"Others in hexadecimal, small or capital.", `it's "it"`, `it&#x27;s &#X22;it&#x22;`},
	{"HTML escapes letters beyond ASCII by name or number.", "grün grün", `gr&uuml;n gr&#252;n`},
	{"Names may begin with any letter.", "grün ζ", "gr&uuml;n &zeta;"},
	{"A shell escapes whatever may have a meaning.", "a~b{c", `a\~b\{c`},
	{"HTML within HTML.", "a&b'c", `a&amp;amp;b&amp;#39;c`},
	{"HTML within Go's JSON.", `a"b'c`, `a\u0026quot;b\u0026#39;c`},
	{"JSON within a URL.", `a"b\c`, `a%5C%22b%5C%5Cc`},
	{"A URL within JSON for HTML.", "a=b&c d", `a\u003db\u0026c+d`},
	{"Each character in a way of its own.", `+'"&/=`, `%2B''\"&amp;\/\u003D`},

	{"hexadecimal", "sk-live", "736b2d6c697665"},
	{"capital hexadecimal", "sk-live", "736B2D6C697665"},
	{"hexadecimal with blanks", "sk-live", "73 6b 2d 6c 69 76 65"},
	{"hexadecimal with colons", "sk-live", "73:6B:2D:6C:69:76:65"},
	{"bytes as Go's syntax has them", "sk-live", "0x73, 0x6b, 0x2d, 0x6c, 0x69, 0x76, 0x65"},
	{"bytes as Go prints them", "sk-live", "115 107 45 108 105 118 101"},
	{"bytes as JSON has them", "sk-live", "115,107,45,108,105,118,101"},
	{"the greatest bytes", "\xff\xfe\xff", "255 254 255"},

	{"base64", "sk-live<>?", "c2stbGl2ZTw+Pw"},
	{"base64 of URLs", "sk-live<>?", "c2stbGl2ZTw-Pw"},
	{"Basic authorization that was escaped for a URL", "sk~~>>??live", "c2t%2Bfj4%2BPz9saXZl"},
	{"base64 in the JSON of PHP", "sk>>??live", `c2s%2BPj8\/bGl2ZQ`},
	{"base64 in JSON for HTML", "sk~~>>??live", `c2t\u002Bfj4\u002BPz9saXZl`},
	{"base64 in lines", "sk-live", "c2st\r\nbGl2\nZQ"},
	{"base64 of which every digit is escaped", "\xfb\xef\xbe\xfb\xef\xbe", "%2B%2B%2B%2B%2B%2B%2B%2B"},
	{"base64 of which all but the first are", "k\xef\xbe", "a%2B%2B%2B"},
}

// TestSpellings requires that each spelling is found whole, wherever it stands.
func TestSpellings(t *testing.T) {
	for _, c := range spellings {
		t.Run(c.why, func(t *testing.T) {
			f := finder(c.secret)
			require.Equal(t, "<[redacted]>", f.Replace("<"+c.text+">"), "alone")
			require.Equal(t, "[redacted]", f.Replace(c.text), "at both ends")
			require.Equal(t, "[redacted]; [redacted]", f.Replace(c.text+"; "+c.text), "twice")
			_, found := f.Find(strings.Repeat("no such text\n", 9) + c.text)
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
	for _, c := range []struct{ why, secret, text string }{
		{"Without needles nothing is found.", "", "text"},
		{"A piece is no secret.", "secret-1", "secret-"},
		{"Nor is it with other escapes.", "a+b=c", `a%2Ab\u003cc`},
		{"An escape may be cut off.", "pass%", `pass\u00`},
		{"A lone surrogate is no letter.", "pass\ufffd", `pass\ud83d!`},
		{"A number above 255 is no byte.", "1234", "49 50 51 308"},
		{"Numbers without a gap are other numbers.", "1234", "49505152"},
		{"A longer number is another one.", "1234", "49 50 51 521"},
		{"base64 begins at a digit.", "1234", "M.TIzNA"},
		{"An entity has an end.", `a"bc`, "a&quot bc"},
		{"An entity that nobody knows is no other text.", "a&food", "a&foo;d"},
		{"An entity of more than a letter is no letter.", "a&food", "a&ampfoo;d"},
		{"An entity of more than ten letters is not read.", "a∝b", "a&Proportional;b"},
		{"Digits are what they are.", "passP!", "pass%4z!"},
		{"Without digits there is no character 0.", "pass\x00!", `pass\x! pass\u! pass\U!`},
		{"Nor is there one where a list ends.", "12\x00", "49 50 x"},
		{"Nor do dots encode it.", "\x00\x00\x00", "...."},
		{"Two characters between two halves of a pair are no \\u.", "pass😀", `pass\ud83dxxde00`},
		{"The second half of a pair is no letter.", "pass\ufffd!", `pass\ud83d\u0041!`},
		{"A backslash at the end of a line escapes nothing.", "pass\nword", "pass\\\nword"},
		{"Nor does one before a control character.", "pass\x7f!", "pass\\\x7f!"},
		{"Nor one before most letters.", "passquit", `pass\quit`},
		{"Numbers far from each other are no list.", "1234", "49   50   51   52"},
		{"Decimal numbers have no letters.", "2222", "4a, 4a, 4a, 4a"},
		{"Hexadecimal ones have some.", "PPPP", "4g4g4g4g"},
		{"As their first digit too.", "P\x05\x05\x05", "50g5g5g5"},
		{"base64 does not go on at the beginning of the text.", "wor\x01", "d29y"},
	} {
		require.Equal(t, c.text, finder(c.secret).Replace(c.text), c.why)
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
