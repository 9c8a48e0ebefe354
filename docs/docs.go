// Package docs embeds the repository's documents that programs quote.
package docs

import _ "embed"

// Protocol is the text of protocol.md, the rulebook. Package internal/rules
// parses it.
//
//go:embed protocol.md
var Protocol string
