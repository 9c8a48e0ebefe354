package filter_test

import (
	"encoding/json"
	"io"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A second, simple implementation of the rules to compare the package with. It
// uses exact fractions, regular expressions and encoding/json, prepares nothing
// and looks only at the wire text of a value.

var (
	oracleNumber  = regexp.MustCompile(`\A[+-]?[0-9]+(\.[0-9]+)?\z`)
	oracleInstant = regexp.MustCompile(
		`\A([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[Tt]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]+))?)?([Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)?)?\z`)
)

func oracleIsCell(v wire.Value) bool { return !v.IsNull() && v.Kind() != wire.KindInvalid }

// parsedRats holds what oracleRat parsed, nil for text that is not a number. The
// tests compare every value with every other.
var parsedRats = map[string]*big.Rat{}

// oracleRat returns the number that a value spells. Callers must not change it.
func oracleRat(v wire.Value) (*big.Rat, bool) {
	if v.Kind() == wire.KindBool {
		return nil, false
	}
	text := v.String()
	r, known := parsedRats[text]
	if !known {
		if oracleNumber.MatchString(text) {
			r, _ = new(big.Rat).SetString(text)
		}
		if len(parsedRats) == 10_000 { // a fuzzer invents texts without end
			clear(parsedRats)
		}
		parsedRats[text] = r
	}
	return r, r != nil
}

// oracleSeconds returns an instant as seconds since 1970. It puts a leap second
// at the end of the second before it.
func oracleSeconds(v wire.Value) (sec *big.Rat, leap, ok bool) {
	switch v.Kind() {
	case wire.KindText, wire.KindDate, wire.KindDatetime:
	default:
		return nil, false, false
	}
	m := oracleInstant.FindStringSubmatch(v.String())
	if m == nil {
		return nil, false, false
	}
	n := func(i int) int { x, _ := strconv.Atoi(m[i]); return x }
	day := time.Date(n(1), time.Month(n(2)), n(3), 0, 0, 0, 0, time.UTC)
	if day.Format("2006-01-02") != v.String()[:10] {
		return nil, false, false
	}
	fraction := new(big.Rat)
	if m[7] != "" {
		fraction.SetString("0." + m[7])
	}
	switch {
	case n(4) > 24 || n(5) > 59 || n(6) > 60:
		return nil, false, false
	case n(4) == 24 && (n(5) != 0 || n(6) != 0 || fraction.Sign() != 0):
		return nil, false, false
	}
	offset := 0
	if zone := strings.ReplaceAll(m[8], ":", ""); len(zone) >= 3 {
		hours, _ := strconv.Atoi(zone[1:3])
		minutes, _ := strconv.Atoi("0" + zone[3:])
		if hours > 23 || minutes > 59 {
			return nil, false, false
		}
		offset = hours*3600 + minutes*60
		if zone[0] == '-' {
			offset = -offset
		}
	}
	whole := day.Unix() + int64(n(4)*3600+n(5)*60+min(n(6), 59)-offset)
	if n(6) == 60 {
		if time.Unix(whole, 0).UTC().Format("15:04:05") != "23:59:59" {
			return nil, false, false
		}
		leap = true
	}
	return fraction.Add(fraction, new(big.Rat).SetInt64(whole)), leap, true
}

func oracleCompare(a, b wire.Value, t wire.Type) (int, bool) {
	if !oracleIsCell(a) || !oracleIsCell(b) {
		return 0, false
	}
	switch t {
	case wire.TypeNumber, wire.TypeDecimal, "":
		x, xok := oracleRat(a)
		y, yok := oracleRat(b)
		if xok && yok {
			return x.Cmp(y), true
		}
		if t != "" {
			return 0, false
		}
	case wire.TypeDate, wire.TypeDatetime:
		x, xleap, xok := oracleSeconds(a)
		y, yleap, yok := oracleSeconds(b)
		if xok && yok {
			if xleap != yleap { // compare with the second the leap second follows
				if xleap {
					x.Add(x, big.NewRat(1, 1))
					if c := x.Cmp(y); c != 0 && !sameSecondAfter(x, y) {
						return c, true
					}
					return -1, true
				}
				c, ok := oracleCompare(b, a, t)
				return -c, ok
			}
			return x.Cmp(y), true
		}
	}
	return strings.Compare(a.String(), b.String()), true
}

// sameSecondAfter reports whether y lies in the second that x, a leap second
// shifted by one, would share with it: the leap second then comes first.
func sameSecondAfter(x, y *big.Rat) bool {
	floor := func(r *big.Rat) *big.Int { return new(big.Int).Div(r.Num(), r.Denom()) }
	return floor(x).Cmp(floor(y)) == 0
}

// oracleMatch reports whether a cell passes. One without a value fails its row, and so
// passes nothing.
func oracleMatch(cell wire.Value, f wire.Filter, t wire.Type) bool {
	if cell.Kind() == wire.KindInvalid {
		return false
	}
	equal := func(v wire.Value) bool {
		c, ok := oracleCompare(cell, v, t)
		return ok && c == 0
	}
	switch f.Op {
	case wire.OpIsNull:
		return cell.IsNull()
	case wire.OpNotNull:
		return !cell.IsNull()
	case wire.OpIn:
		return slices.ContainsFunc(f.Values, equal)
	case wire.OpNin:
		return cell.IsNull() || !slices.ContainsFunc(f.Values, equal)
	}
	if !oracleIsCell(cell) || !oracleIsCell(f.Value) {
		return false
	}
	switch f.Op {
	case wire.OpContains:
		return cell.Kind() == wire.KindText && slices.ContainsFunc(oracleElements(cell.Text()), func(e wire.Value) bool {
			c, ok := oracleCompare(e, f.Value, "")
			return ok && c == 0
		})
	case wire.OpIncludes:
		return strings.Contains(cell.String(), f.Value.String())
	case wire.OpStartsWith:
		return strings.HasPrefix(cell.String(), f.Value.String())
	}
	c, ok := oracleCompare(cell, f.Value, t)
	if !ok {
		return false
	}
	switch f.Op {
	case wire.OpEq:
		return c == 0
	case wire.OpNeq:
		return c != 0
	case wire.OpGt:
		return c > 0
	case wire.OpGte:
		return c >= 0
	case wire.OpLt:
		return c < 0
	}
	return c <= 0
}

// oracleElements returns the scalar elements of an array, or none if the text
// is not an array. encoding/json accepts halves of surrogate pairs, which strict
// JSON does not: callers must avoid them.
func oracleElements(text string) (elements []wire.Value) {
	if !utf8.ValidString(text) || !strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "[") {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var array []any
	if d.Decode(&array) != nil {
		return nil
	}
	if _, err := d.Token(); err != io.EOF {
		return nil
	}
	for _, e := range array {
		switch e := e.(type) {
		case string:
			elements = append(elements, wire.Text(e))
		case bool:
			elements = append(elements, wire.Bool(e))
		case json.Number:
			if f, err := e.Float64(); err == nil {
				elements = append(elements, wire.Float(f))
			}
		}
	}
	return elements
}
