// Package fit says whether a cell is a value of its column's type. A constructor of package
// wire spells what it is given; text is whatever its author wrote.
package fit

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Problem returns what is wrong with a cell in a column of a type, or "". It never quotes
// the cell. In a column of text any cell fits.
func Problem(v wire.Value, t wire.Type) string {
	kind, text := v.Kind(), ""
	switch kind {
	case wire.KindNull, wire.KindInvalid:
		return ""
	case wire.KindText:
		text = v.Text()
	}
	switch t {
	case wire.TypeNumber, wire.TypeDecimal:
		if kind == wire.KindText && !wire.IsDecimal(text) || kind == wire.KindBool || kind == wire.KindDate || kind == wire.KindDatetime {
			return "is no number; pass wire.Int, wire.Float or wire.Decimal"
		}
	case wire.TypeBoolean:
		if kind != wire.KindBool && text != "true" && text != "false" {
			return "is no boolean; pass wire.Bool"
		}
	case wire.TypeDate:
		if _, err := time.Parse(time.DateOnly, text); kind != wire.KindDate && (kind != wire.KindText || err != nil) {
			return "is no date; pass wire.Date"
		}
	case wire.TypeDatetime:
		if kind != wire.KindDatetime && (kind != wire.KindText || !Instant(text)) {
			return NoInstant
		}
	case wire.TypeJSON, wire.TypeArray:
		if kind != wire.KindText || !json.Valid([]byte(text)) {
			return "is no JSON text; pass wire.JSON or wire.Array"
		}
		if t == wire.TypeArray && !strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "[") {
			return "is no JSON text of an array; pass wire.Array"
		}
	}
	return ""
}

// NoInstant is the problem of a text that [Instant] refuses.
const NoInstant = "is no instant in UTC, with seconds and a Z at its end; pass wire.Datetime"

// Instant reports whether a text is a datetime in UTC as the protocol spells it, such as
// 2024-02-29T22:30:00.125Z. A datetime without a zone is no instant: whoever reads it has to
// guess [rule cell-2c]. It looks at each byte once and allocates nothing.
func Instant(text string) bool {
	const form = "0000-00-00T00:00:00"
	if len(text) <= len(form) || text[len(text)-1] != 'Z' {
		return false
	}
	for i := range len(form) {
		if c := text[i]; form[i] == '0' && c-'0' > 9 || form[i] != '0' && c != form[i] {
			return false
		}
	}
	fraction := text[len(form) : len(text)-1]
	if fraction == "" {
		return true
	}
	for i := 1; i < len(fraction); i++ {
		if fraction[i]-'0' > 9 {
			return false
		}
	}
	return fraction[0] == '.' && len(fraction) > 1
}
