package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// minSecret is the length in bytes from which a value is a secret to Scrub.
const minSecret = 4

// scrub replaces every spelling of every secret by [redacted]. Spellings that
// overlap are replaced together, so that no rest of one remains.
func scrub(text string, secrets map[string]string) string {
	var spans [][2]int
	for _, secret := range secrets {
		if len(secret) < minSecret {
			continue
		}
		for _, needle := range spellings(secret) {
			for from := 0; ; {
				i := strings.Index(text[from:], needle)
				if i < 0 {
					break
				}
				spans = append(spans, [2]int{from + i, from + i + len(needle)})
				from += i + 1
			}
		}
	}
	if len(spans) == 0 {
		return text
	}
	slices.SortFunc(spans, func(a, b [2]int) int { return a[0] - b[0] })
	var b strings.Builder
	done := 0
	for i := 0; i < len(spans); {
		start, end := spans[i][0], spans[i][1]
		for i++; i < len(spans) && spans[i][0] < end; i++ {
			end = max(end, spans[i][1])
		}
		b.WriteString(text[done:start])
		b.WriteString(redacted)
		done = end
	}
	b.WriteString(text[done:])
	return b.String()
}

// spellings returns the forms in which a secret tends to appear in an error
// text: quoted, in a URL, in a header, in a dump.
func spellings(secret string) []string {
	list := []string{
		secret,
		strings.TrimSpace(secret),
		inside(strconv.Quote(secret)),
		inside(strconv.QuoteToASCII(secret)),
		inside(asJSON(secret, true)),
		inside(asJSON(secret, false)),
		asciiJSON(secret),
		html.EscapeString(secret),
		hex.EncodeToString([]byte(secret)),
		strings.ToUpper(hex.EncodeToString([]byte(secret))),
		fmt.Sprintf("% x", secret),
		inside(fmt.Sprint([]byte(secret))),
		base64.StdEncoding.EncodeToString([]byte(secret)),
		base64.URLEncoding.EncodeToString([]byte(secret)),
	}
	for _, escaped := range []string{
		url.QueryEscape(secret),
		strings.ReplaceAll(url.QueryEscape(secret), "+", "%20"),
		url.PathEscape(secret),
		url.UserPassword("", secret).String()[1:],
	} {
		list = append(list, escaped, lowerPercent(escaped))
	}
	// Inside a longer text, such as user:password in a Basic authorization,
	// base64 depends on where the secret begins. The characters that it shares
	// with its neighbours are left out of the search.
	for before := range 3 {
		raw := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), secret...))
		if before > 0 {
			raw = raw[before+1:]
		}
		if (before+len(secret))%3 != 0 {
			raw = raw[:len(raw)-1]
		}
		list = append(list, raw, strings.NewReplacer("+", "-", "/", "_").Replace(raw))
	}
	slices.Sort(list)
	list = slices.Compact(list)
	return slices.DeleteFunc(list, func(s string) bool { return len(s) < minSecret })
}

// lowerPercent returns the text with %2F as %2f.
func lowerPercent(escaped string) string {
	b := []byte(escaped)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:], bytes.ToLower(b[i+1:i+3]))
			i += 2
		}
	}
	return string(b)
}

// inside returns a text without its quotes or brackets.
func inside(quoted string) string { return quoted[1 : len(quoted)-1] }

// asJSON quotes as encoding/json does, which escapes more than it must.
func asJSON(s string, escapeHTML bool) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(escapeHTML)
	_ = e.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}

// asciiJSON returns the inside of a JSON string that holds ASCII only.
func asciiJSON(s string) string {
	var b strings.Builder
	for _, r := range inside(asJSON(s, false)) {
		switch {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, "\\u%04x\\u%04x", high, low)
		default:
			fmt.Fprintf(&b, "\\u%04x", r)
		}
	}
	return b.String()
}
