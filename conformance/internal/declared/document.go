// Package declared says what a connector declares: its routes and capabilities in the document, and its tables in
// discovery. Its conditions say why the document excludes a check, or "" if it does not.
package declared

import (
	"encoding/json"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/internal/exam"
)

// Document is the capability document.
type Document struct {
	exam.Declared
	// EmptyDialect is set if there is a dialect, and it is empty.
	EmptyDialect bool
}

// Parse reads a document, and returns what is wrong with its form.
func Parse(body []byte) (*Document, *check.Finding) {
	d := &Document{}
	if f := message.Check(body, "document", &d.Document); f != nil {
		return nil, f
	}
	var own struct{ Dialect *string }
	d.EmptyDialect = json.Unmarshal(body, &own) == nil && own.Dialect != nil && strings.TrimSpace(*own.Dialect) == ""
	return d, nil
}
