package wire_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestQuoteName(t *testing.T) {
	for _, c := range []struct{ why, name, want string }{
		{"a name", "orders", `"orders"`},
		{"the empty name", "", `""`},
		{"what a terminal or a log would take for its own is escaped", "a\"b\n\x1b", `"a\"b\n\x1b"`},
		{"64 characters stand whole, however many bytes they are", strings.Repeat("ä", 64), `"` + strings.Repeat("ä", 64) + `"`},
		{"the 65th is cut", strings.Repeat("ä", 64) + "x", `"` + strings.Repeat("ä", 64) + `"...`},
		{"a body is not", strings.Repeat("x", 8<<20), `"` + strings.Repeat("x", 64) + `"...`},
		{"bytes that are no UTF-8 are escaped", "a\xff", `"a\xff"`},
	} {
		assert.Equal(t, c.want, wire.QuoteName(c.name), c.why)
	}
}
