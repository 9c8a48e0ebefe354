// Package fit says whether a cell is a value of its column's type. A constructor of package
// wire spells what it is given; text is whatever its author wrote.
package fit

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
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
		if kind == wire.KindText && !terms.IsDecimal(text) || kind == wire.KindBool || kind == wire.KindDate || kind == wire.KindDatetime {
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
// 2024-02-29T22:30:00.125Z. A datetime without a zone is refused: a reader would have to
// guess [rule cell-2c]. It allocates nothing.
func Instant(text string) bool {
	const form = "0000-00-00T00:00:00"
	if len(text) <= len(form) || text[len(text)-1] != 'Z' ||
		!spelled(text, 0x2d30302d30303030, 0x7f76767f76767676) || // 0000-00-
		!spelled(text[8:], 0x30303a3030543030, 0x76767f76767f7676) || // 00T00:00
		!spelled(text[11:], 0x30303a30303a3030, 0x76767f76767f7676) { // 00:00:00
		return false
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

// spelled reports whether the first eight bytes are those of a form, in which 0 stands for any digit. The first
// byte is the lowest of a number. It looks at all of them together, because a loop takes five times as long, and
// there is a text for each row. A byte that fits differs from the form's by no more than 9, or not at all;
// with room added, it stays below 0x80.
func spelled(s string, form, room uint64) bool {
	_ = s[7]
	x := form ^ (uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56)
	return (x|(x+room))&0x8080808080808080 == 0
}
