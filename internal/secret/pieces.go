package secret

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
)

// MinLength is the length from which a secret has pieces. A shorter one occurs in honest text by
// chance.
const MinLength = 8

// maxPiece is the length from which a piece of a secret is told by itself. Of shorter
// secrets, three quarters are.
const maxPiece = 16

// maxIndexed limits the memory that a long secret takes. Pieces beyond it are
// recognised only as a part of the whole secret.
const maxIndexed = 16 << 10

// Pieces returns needles for every long piece of a secret and of its usual spellings. Use them for a
// text that may have been cut within a secret. A secret of less than [MinLength] bytes has none.
func Pieces(text, mark string) (list []Needle) {
	if len(text) < MinLength {
		return nil
	}
	if len(text) > maxIndexed {
		list = append(list, Needle{text, mark})
		text = text[:maxIndexed]
	}
	for _, spelling := range append(spellings(text), text) {
		size := min(maxPiece, max(MinLength, len(spelling)*3/4))
		for i := 0; i+size <= len(spelling); i++ {
			list = append(list, Needle{spelling[i : i+size], mark})
		}
	}
	return list
}

// spellings returns what takes more characters than the secret has, so that a piece
// of maxPiece characters holds fewer of the secret. A [Finder] finds these
// spellings too, but only pieces of maxPiece characters of the secret.
func spellings(text string) []string {
	list := []string{
		url.QueryEscape(text),
		url.PathEscape(text),
		html.EscapeString(text),
		hex.EncodeToString([]byte(text)),
	}
	var percent, unicode strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&percent, "%%%02x", text[i])
		fmt.Fprintf(&unicode, `\u%04x`, text[i])
	}
	list = append(list, percent.String(), unicode.String())
	for _, quote := range []func(string) string{strconv.Quote, strconv.QuoteToASCII} {
		once := quote(text)
		twice := quote(once[1 : len(once)-1])
		list = append(list, once[1:len(once)-1], twice[1:len(twice)-1])
	}
	// In base64, a character depends on its neighbours. Those that the secret shares
	// with the text around it are left out.
	for before := range 3 {
		raw := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), text...))
		if before > 0 {
			raw = raw[before+1:]
		}
		if (before+len(text))%3 != 0 {
			raw = raw[:max(0, len(raw)-1)]
		}
		list = append(list, raw, strings.NewReplacer("+", "-", "/", "_").Replace(raw))
	}
	return list
}

// Fold returns c in lower case, and a blank for a control character, because excerpts show
// blanks in their place. Use it with [New].
func Fold(c byte) byte {
	switch {
	case 'A' <= c && c <= 'Z':
		return c + ('a' - 'A')
	case c < ' ' || c == 0x7f:
		return ' '
	}
	return c
}
