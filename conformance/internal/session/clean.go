package session

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/internal/secret"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// redactedToken is what is shown in the place of a token that no variable stands for.
const redactedToken = "[token]"

// maxPiece is the length from which a piece of a secret is removed. Of shorter
// secrets, three quarters are.
const maxPiece = 16

// maxIndexed limits the memory that a long secret takes. Pieces beyond it are
// recognised only as a part of the whole secret.
const maxIndexed = 16 << 10

// minWhole is the length from which a credential is removed, though not its pieces.
const minWhole = 4

// A Cleaner removes the token, the credentials and what checks make of them from what
// a program shows. It is safe for concurrent use.
type Cleaner struct {
	mu                   sync.Mutex
	pieces, whole        []secret.Needle
	findPieces, findBoth *secret.Finder // nil until it is needed
}

// NewCleaner returns a Cleaner of a token and sets of credentials.
func NewCleaner(token string, credentials []wire.Credentials) *Cleaner {
	c := &Cleaner{}
	c.add(token, redactedToken)
	if len(token) < minSecret {
		c.pieces = append(c.pieces, secret.Needle{Text: token, Mark: redactedToken})
	}
	for _, set := range credentials {
		for _, value := range set.Reveal() {
			c.add(value, secret.Redacted)
		}
	}
	return c
}

// add registers a secret that Clean replaces by mark.
func (c *Cleaner) add(text, mark string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.findPieces, c.findBoth = nil, nil
	for _, own := range []string{text, strings.TrimSpace(text)} { // a server quotes it without blanks
		if len(own) >= minWhole {
			c.whole = append(c.whole, secret.Needle{Text: own, Mark: mark})
		}
	}
	if len(text) < minSecret {
		return
	}
	if len(text) > maxIndexed {
		c.pieces = append(c.pieces, secret.Needle{Text: text, Mark: mark})
		text = text[:maxIndexed]
	}
	for _, spelling := range append(spellings(text), text) {
		size := min(maxPiece, max(minSecret, len(spelling)*3/4))
		for i := 0; i+size <= len(spelling); i++ {
			c.pieces = append(c.pieces, secret.Needle{Text: spelling[i : i+size], Mark: mark})
		}
	}
}

// spellings returns what takes more characters than the secret has, so that a piece
// of maxPiece characters holds fewer of the secret. Package secret finds these
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

// Clean returns text without the secrets, in any case and spelling, and without long
// pieces of them.
func (c *Cleaner) Clean(text string) string {
	c.mu.Lock()
	if c.findBoth == nil {
		c.findBoth = secret.New(append(c.pieces[:len(c.pieces):len(c.pieces)], c.whole...), fold)
	}
	find := c.findBoth
	c.mu.Unlock()
	return find.Replace(text)
}

// cleanPieces does what Clean does, but leaves secrets of less than minSecret bytes:
// texts of this program, such as a path, may hold them by chance.
func (c *Cleaner) cleanPieces(text string) string {
	c.mu.Lock()
	if c.findPieces == nil {
		c.findPieces = secret.New(c.pieces, fold)
	}
	find := c.findPieces
	c.mu.Unlock()
	return find.Replace(text)
}

// fold makes ASCII letters equal in any case, and control characters equal to the
// blanks that excerpts show in their place.
func fold(c byte) byte {
	switch {
	case 'A' <= c && c <= 'Z':
		return c + ('a' - 'A')
	case c < ' ' || c == 0x7f:
		return ' '
	}
	return c
}
