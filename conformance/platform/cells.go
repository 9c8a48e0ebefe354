package platform

import (
	"encoding/json"
	"math"
	"strings"
	"unsafe"

	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// usual returns the kinds of cells, as bits, that a column of a type may have
// without a further look.
func usual(t wire.Type) uint16 {
	const null, boolean, integer, float, text = 1 << wire.KindNull, 1 << wire.KindBool, 1 << wire.KindInt,
		1 << wire.KindFloat, 1 << wire.KindText
	switch t {
	case wire.TypeNumber, wire.TypeDecimal:
		return null | integer
	case wire.TypeBoolean:
		return null | boolean
	case wire.TypeDate:
		return null | text
	case wire.TypeDatetime, wire.TypeJSON, wire.TypeArray:
		return null
	}
	// Text columns may hold anything: sources have columns of mixed kinds.
	return null | boolean | integer | float | text
}

// misspelled returns what is wrong with a cell, and the rule that it breaks, or "" for
// what any cell of the type may be. It refuses what a binding rule forbids, and
// accepts what is only advised against, such as a boolean as text.
func misspelled(v wire.Value, t wire.Type) (problem, rule string) {
	kind := v.Kind()
	if kind == wire.KindNull {
		return "", ""
	}
	switch t {
	case wire.TypeNumber:
		switch {
		case kind == wire.KindBool || kind == wire.KindText && !terms.IsDecimal(v.Text()):
			return "is no number; want a JSON number or its digits as a string", "cell-7"
		case kind == wire.KindFloat && unsafeInteger(v.Float64()):
			return "is an integer beyond 2^53 as a JSON number; want a string of its digits", "cell-1"
		}
	case wire.TypeDecimal:
		if kind == wire.KindBool || kind == wire.KindFloat || kind == wire.KindText && !terms.IsDecimal(v.Text()) {
			return "is no exact decimal; want a string of its digits", "cell-1"
		}
	case wire.TypeBoolean:
		if kind != wire.KindBool && (kind != wire.KindText || v.Text() != "true" && v.Text() != "false") {
			return "is neither true nor false", "cell-7"
		}
	case wire.TypeDate:
		if kind != wire.KindText {
			return "is no date; want a string such as 2024-02-29", "cell-7"
		}
	case wire.TypeDatetime:
		if kind != wire.KindText || !isUTC(v.Text()) {
			return "is no datetime in UTC; want a string such as 2024-02-29T22:30:00Z", "cell-2"
		}
	case wire.TypeJSON:
		if kind != wire.KindText || !isJSON(v.Text()) {
			return "is no JSON text inside a string", "cell-3"
		}
	case wire.TypeArray:
		if text := v.Text(); kind != wire.KindText || !strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "[") || !isJSON(text) {
			return "is no JSON text of an array inside a string", "cell-3"
		}
	}
	return "", ""
}

// unsafeInteger reports whether a number is an integer beyond 2^53, which may have
// lost digits. Beyond 2^64 it is a measurement rather than an integer.
func unsafeInteger(f float64) bool {
	return math.Abs(f) > terms.MaxSafeInteger && math.Abs(f) <= 1<<64 && f == math.Trunc(f)
}

// isJSON reports whether a text is JSON, without a copy of it.
func isJSON(text string) bool {
	return json.Valid(unsafe.Slice(unsafe.StringData(text), len(text)))
}

// isUTC reports whether a text is a datetime in ISO 8601 whose zone is UTC. Its seconds may be
// missing; without a zone it is no instant.
func isUTC(text string) bool {
	if isUsualUTC(text) {
		return true
	}
	rest, ok := digits(text, "0000-00-00")
	if !ok || rest == "" || rest[0] != 'T' && rest[0] != 't' {
		return false
	}
	if rest, ok = digits(rest[1:], "00:00"); !ok {
		return false
	}
	if after, ok := digits(rest, ":00"); ok {
		rest = after
		if rest != "" && (rest[0] == '.' || rest[0] == ',') {
			n := 1
			for n < len(rest) && rest[n]-'0' <= 9 {
				n++
			}
			if n == 1 {
				return false
			}
			rest = rest[n:]
		}
	}
	switch rest {
	case "Z", "z", "+00:00", "-00:00", "+00", "-00", "+0000", "-0000":
		return true
	}
	return false
}

// isUsualUTC reports whether a text has the form of nearly all datetimes,
// 2024-02-29T22:30:00Z. It looks at eight bytes at a time: of the bytes that differ from the
// form, a digit's has at most 9 left, and any other byte's nothing. What is more sets
// the highest bit.
func isUsualUTC(text string) bool {
	const form, digit, other = "0000-00-00T00:00:00Z", 0x7f - 9, 0x7f
	if len(text) != len(form) {
		return false
	}
	left := func(at int, most uint64) uint64 {
		d := jsontext.Load64(text, at) ^ jsontext.Load64(form, at)
		return (d&^highest + most) | d
	}
	const (
		date    = digit | digit<<8 | digit<<16 | digit<<24 | other<<32 | digit<<40 | digit<<48 | other<<56
		hour    = digit | digit<<8 | other<<16 | digit<<24 | digit<<32 | other<<40 | digit<<48 | digit<<56
		seconds = digit | other<<8 | digit<<16 | digit<<24 | other<<32 | digit<<40 | digit<<48 | other<<56
	)
	return (left(0, date)|left(8, hour)|left(12, seconds))&highest == 0
}

// highest is the highest bit of each byte.
const highest = 0x8080808080808080

// digits returns what follows a text of this form, in which each 0 stands for a
// digit.
func digits(text, form string) (rest string, ok bool) {
	if len(text) < len(form) {
		return "", false
	}
	for i := range len(form) {
		if c := text[i]; form[i] == '0' && c-'0' > 9 || form[i] != '0' && c != form[i] {
			return "", false
		}
	}
	return text[len(form):], true
}
