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
		if !Moment(&v) {
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

// NoInstant is the problem of a cell that [Moment] refuses.
const NoInstant = "is no instant in UTC, of a day that exists, with seconds and a Z at its end; pass wire.Datetime"

// Moment reports whether a cell may stand in a column of datetimes: one, null, or text that
// [Instant] takes. Cells that cannot cross the wire have an error of their own.
func Moment(v *wire.Value) bool {
	switch v.Kind() {
	case wire.KindDatetime, wire.KindNull, wire.KindInvalid:
		return true
	case wire.KindText:
		return Instant(v.Text())
	}
	return false
}

// Instant reports whether a text is a datetime in UTC as the protocol spells it, such as
// 2024-02-29T22:30:00.125Z, on a day that exists. A datetime without a zone is refused: a reader
// would have to guess [rule cell-2c]. It allocates nothing.
func Instant(text string) bool {
	const form = "0000-00-00T00:00:00"
	if len(text) <= len(form) || text[len(text)-1] != 'Z' ||
		!spelled(text, 0x2d30302d30303030, 0x7f76767f76767676) || // 0000-00-
		!spelled(text[8:], 0x30303a3030543030, 0x76767f76767f7676) || // 00T00:00
		!spelled(text[11:], 0x30303a30303a3030, 0x76767f76767f7676) { // 00:00:00
		return false
	}
	if !exists(text) {
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

// exists reports whether there are the day and the time of day that a text spells. The second after
// 23:59:59 may be a leap second.
func exists(text string) bool {
	two := func(at int) int { return int(text[at]-'0')*10 + int(text[at+1]-'0') }
	month, day, hour, minute, second := two(5), two(8), two(11), two(14), two(17)
	switch {
	case month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59:
		return false
	case second > 59 && (second > 60 || hour < 23 || minute < 59):
		return false
	case day <= 28:
		return true
	case month == 2:
		year := two(0)*100 + two(2)
		return day == 29 && year%4 == 0 && (year%100 != 0 || year%400 == 0)
	case day == 31:
		return month != 4 && month != 6 && month != 9 && month != 11
	}
	return day <= 30
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
