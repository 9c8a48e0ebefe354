package exam

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// random makes operands by chance.
type random struct{ *rand.Rand }

// chance returns true once in so many times.
func (d random) chance(of int) bool { return d.IntN(of) == 0 }

// shuffle brings a list into any order.
func shuffle[T any](d random, list []T) {
	d.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// pick returns one of the values.
func pick[T any](d random, from []T) T { return from[d.IntN(len(from))] }

// near returns a value next to one of a type.
func (d random) near(v wire.Value, t wire.Type) (wire.Value, bool) {
	text := v.String()
	switch {
	case terms.IsTime(t):
		return d.nearInstant(text)
	case terms.IsDecimal(text) && (t.Numeric() || t == ""):
		switch d.IntN(3) {
		case 0: // beyond every float of the same size
			if strings.Contains(text, ".") {
				return wire.Text(text + "1"), true
			}
			return wire.Text(text + ".000000000000000001"), true
		case 1:
			if last := text[len(text)-1]; last < '9' {
				return wire.Text(text[:len(text)-1] + string(last+1)), true
			}
			return wire.Text(text[:len(text)-1] + "8"), true
		}
		return wire.Text("-" + strings.TrimLeft(text, "+-")), true
	case t == wire.TypeBoolean:
		return wire.Text(text + "e"), true
	}
	if text == "" {
		return wire.Text("\x01"), true
	}
	switch d.IntN(3) {
	case 0:
		return wire.Text(text + "\u0001"), true
	case 1:
		_, size := utf8.DecodeLastRuneInString(text)
		return wire.Text(text[:len(text)-size]), true
	}
	r, size := utf8.DecodeLastRuneInString(text)
	if r++; !utf8.ValidRune(r) {
		return wire.Value{}, false
	}
	return wire.Text(text[:len(text)-size] + string(r)), true
}

// nearInstant changes one digit of a day or an instant, but not of its zone, so that it still exists.
func (d random) nearInstant(text string) (wire.Value, bool) {
	end := len(text)
	if zone := strings.LastIndexAny(text, "Zz+-"); zone > len(time.DateOnly) {
		end = zone
	}
	for range 8 {
		at := d.IntN(end)
		if text[at] < '0' || text[at] > '9' {
			continue
		}
		other := text[:at] + strconv.Itoa(d.IntN(10)) + text[at+1:]
		layout := time.RFC3339
		if len(text) == len(time.DateOnly) {
			layout = time.DateOnly
		}
		// No leap second, no hour 24 and no year before 1000: not every source
		// knows them.
		if _, err := time.Parse(layout, other); err == nil && other != text && other[0] != '0' {
			return wire.Text(other), true
		}
	}
	return wire.Value{}, false
}

// respelled returns a number written otherwise: it is equal as a number and not
// as a text.
func (d random) respelled(text string) (wire.Value, bool) {
	if !terms.IsDecimal(text) {
		return wire.Value{}, false
	}
	sign, digits := "", text
	if text[0] == '-' || text[0] == '+' {
		sign, digits = text[:1], text[1:]
	}
	switch d.IntN(4) {
	case 0:
		return wire.Text(sign + "00" + digits), true
	case 1:
		if sign == "" {
			return wire.Text("+" + digits), true
		}
	case 2:
		if plain := canonicalNumber(text); plain != text {
			return wire.Text(plain), true
		}
	}
	if !strings.Contains(digits, ".") {
		digits += ".0"
	}
	return wire.Text(sign + digits + "0"), true
}

// otherKind returns the value as another kind of JSON scalar with the same text.
func (d random) otherKind(v wire.Value) (wire.Value, bool) {
	switch v.Kind() {
	case wire.KindBool, wire.KindInt, wire.KindFloat:
		return wire.Text(v.String()), true
	}
	switch text := v.String(); text {
	case "true", "false":
		return wire.Bool(text == "true"), true
	default:
		return asNumber(text)
	}
}

// otherCase returns a text in other letters.
func (d random) otherCase(text string) (wire.Value, bool) {
	all := []string{strings.ToUpper(text), strings.ToLower(text)}
	if r, size := utf8.DecodeRuneInString(text); size > 0 {
		all = append(all, string(unicode.ToUpper(r))+text[size:])
	}
	all = slices.DeleteFunc(all, func(other string) bool { return other == text })
	if len(all) == 0 {
		return wire.Value{}, false
	}
	return wire.Text(pick(d, all)), true
}

// part returns a beginning, a middle or an end of a text, of whole characters.
func (d random) part(text string, op wire.Op) (wire.Value, bool) {
	runes := []rune(text)
	if len(runes) < 2 {
		return wire.Value{}, false
	}
	from, to := 0, len(runes)
	way := d.IntN(3)
	if op == wire.OpStartsWith && d.chance(2) {
		way = 0
	}
	switch way {
	case 0:
		to = 1 + d.IntN(len(runes)-1)
	case 1:
		from = 1 + d.IntN(len(runes)-1)
	default:
		from = d.IntN(len(runes) - 1)
		to = from + 1 + d.IntN(min(3, len(runes)-from))
	}
	return wire.Text(string(runes[from:to])), true
}
