package sqlsource

import (
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
)

// Plan says how a source has answered one call: what the engine did, and what
// was left to the library. It has names of tables and columns, and no value of a
// request.
type Plan struct {
	// Call is the method of the source that was called, and its table. The library
	// may call several for one request.
	Call connector.Call
	// Statements are the statements that read tables, in their order. Values stand
	// outside of them, for placeholders. What reads the catalog is not among them.
	Statements []string
	// Pushed are the parts of the request that the engine did: "filters", "sort",
	// "window", "joins", "groups and measures", "count". Parts that the request does
	// not have are not among them.
	Pushed []string
	// Left says what the engine did not do and why, a sentence each.
	Left []string
}

// String returns the plan as several lines of text.
func (p Plan) String() string {
	var b strings.Builder
	b.WriteString(p.Call.Method)
	if p.Call.Table != "" {
		b.WriteString(" of " + terms.QuoteName(p.Call.Table))
	}
	b.WriteString("\n")
	if len(p.Pushed) > 0 {
		b.WriteString("  pushed: " + strings.Join(p.Pushed, ", ") + "\n")
	}
	for _, s := range p.Left {
		b.WriteString("  not pushed: " + s + "\n")
	}
	for _, s := range p.Statements {
		b.WriteString("  statement: " + s + "\n")
	}
	return b.String()
}
