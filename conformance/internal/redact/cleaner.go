// Package redact keeps the token, the credentials and what checks make of them out of what a program shows, and finds
// them in what a connector answers.
package redact

import (
	"strings"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/internal/secret"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// redactedToken is what is shown in the place of a token that no variable stands for.
const redactedToken = "[token]"

// minWhole is the length from which a credential is removed, though not its pieces.
const minWhole = 4

// A Cleaner removes the token, the credentials and what checks make of them from what
// a program shows. It is safe for concurrent use.
type Cleaner struct {
	mu                   sync.Mutex
	pieces, whole        []secret.Needle
	findPieces, findBoth *secret.Finder // nil until it is needed
}

// New returns a Cleaner of a token and sets of credentials.
func New(token string, credentials []wire.Credentials) *Cleaner {
	c := &Cleaner{}
	c.add(token, redactedToken)
	if len(token) < secret.MinLength {
		c.pieces = append(c.pieces, secret.Needle{Text: token, Mark: redactedToken})
	}
	for _, set := range credentials {
		for _, value := range set.Reveal() {
			c.add(value, secret.Redacted)
		}
	}
	return c
}

// Hide registers a secret that checks make of a credential.
func (c *Cleaner) Hide(text string) { c.add(text, secret.Redacted) }

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
	c.pieces = append(c.pieces, secret.Pieces(text, mark)...)
}

// Clean returns text without the secrets, in any case and spelling, and without long pieces of them.
func (c *Cleaner) Clean(text string) string {
	c.mu.Lock()
	if c.findBoth == nil {
		c.findBoth = secret.New(append(c.pieces[:len(c.pieces):len(c.pieces)], c.whole...), secret.Fold)
	}
	find := c.findBoth
	c.mu.Unlock()
	return find.Replace(text)
}

// cleanPieces does what Clean does, but leaves secrets of less than secret.MinLength bytes:
// texts of this program, such as a path, may hold them by chance.
func (c *Cleaner) cleanPieces(text string) string {
	c.mu.Lock()
	if c.findPieces == nil {
		c.findPieces = secret.New(c.pieces, secret.Fold)
	}
	find := c.findPieces
	c.mu.Unlock()
	return find.Replace(text)
}
