package exam

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// spellingIndependent reports whether a filter has the same answer however the
// cells of the column are legally spelled. A connector may, for instance, compare
// the text of a decimal with its scale or without, and JSON with blanks or
// without.
func (c *Column) spellingIndependent(f wire.Filter) bool {
	text := f.Op == wire.OpIncludes || f.Op == wire.OpStartsWith
	var respell func(wire.Value) []string
	switch c.Type {
	case wire.TypeNumber, wire.TypeDecimal:
		if text {
			respell = numberSpellings
		}
	case wire.TypeDatetime:
		if text {
			respell = instantSpellings
		}
	case wire.TypeJSON, wire.TypeArray:
		if f.Op != wire.OpContains {
			respell = jsonSpellings
		}
	}
	if respell == nil {
		return true
	}
	if len(c.cells) > 500 {
		return false // too many to try
	}
	matches := right(f, c.Type)
	for _, cell := range c.cells {
		for _, other := range respell(cell) {
			if matches(wire.Text(other)) != matches(cell) {
				return false
			}
		}
	}
	return true
}

// shortExponent leaves out what an exponent does not need.
var shortExponent = strings.NewReplacer("+", "", "e-0", "e-")

// numberSpellings returns other spellings of a number.
func numberSpellings(v wire.Value) []string {
	text := v.String()
	if !terms.IsDecimal(text) {
		return nil
	}
	plain := canonicalNumber(text)
	dotted := plain
	if !strings.Contains(plain, ".") {
		dotted += "."
	}
	list := []string{plain, dotted + "0", dotted + strings.Repeat("0", 40)}
	if v.Kind() == wire.KindFloat {
		e := strconv.FormatFloat(v.Float64(), 'e', -1, 64)
		list = append(list, e, shortExponent.Replace(e))
	}
	return list
}

// instantSpellings returns an instant with fractions of several lengths.
func instantSpellings(v wire.Value) []string {
	text, zulu := strings.CutSuffix(v.String(), "Z")
	if !zulu {
		return nil
	}
	whole, frac, _ := strings.Cut(text, ".")
	frac = strings.TrimRight(frac, "0")
	var list []string
	for _, width := range []int{0, 3, 6, 9} {
		switch {
		case width < len(frac):
		case width == 0:
			list = append(list, whole+"Z", whole+"+00:00")
		default:
			list = append(list, whole+"."+frac+strings.Repeat("0", width-len(frac))+"Z")
		}
	}
	return list
}

// jsonSpellings returns a JSON text without blanks, and with one behind every
// comma and colon.
func jsonSpellings(v wire.Value) []string {
	var tight, spaced strings.Builder
	quoted, escaped := false, false
	for _, r := range v.String() {
		blank := !quoted && (r == ' ' || r == '\t' || r == '\n' || r == '\r')
		if !blank {
			tight.WriteRune(r)
			spaced.WriteRune(r)
		}
		switch {
		case escaped:
			escaped = false
		case quoted && r == '\\':
			escaped = true
		case r == '"':
			quoted = !quoted
		case !quoted && (r == ',' || r == ':'):
			spaced.WriteByte(' ')
		}
	}
	return []string{tight.String(), spaced.String()}
}

// OrderSettled reports whether all readings of the protocol order a column's values
// alike. Dates and datetimes compare as instants or as bytes, which is the same
// if all are spelled alike.
func OrderSettled(t *oracle.Table, column int) bool {
	return !terms.IsTime(t.Columns[column].Type) || spelledAlike(cellsOf(t, column))
}

// cellsOf returns the cells of a column.
func cellsOf(t *oracle.Table, column int) (cells []wire.Value) {
	for _, row := range t.Rows {
		cells = append(cells, row[column])
	}
	return cells
}

// carelessOrders are what connectors are known to sort texts by instead of their bytes: without
// case, as a collation does, by UTF-16 units, as numbers, and without the blanks around them.
var carelessOrders = []func(a, b string) int{
	func(a, b string) int { return strings.Compare(strings.TrimSpace(a), strings.TrimSpace(b)) },
	func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) },
	func(a, b string) int { return strings.Compare(folded(a), folded(b)) },
	func(a, b string) int { return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b))) },
	func(a, b string) int {
		if !terms.IsDecimal(a) || !terms.IsDecimal(b) {
			return 0
		}
		order, _ := oracle.Compare(wire.Text(a), wire.Text(b), wire.TypeDecimal)
		return order
	},
}

// cutAtFirst returns the order of texts that ends at a mark: those that are alike up to there stand the wrong way round.
func cutAtFirst(mark string) func(a, b string) int {
	return func(a, b string) int {
		before, rest, _ := strings.Cut(a, mark)
		other, beyond, _ := strings.Cut(b, mark)
		if before != other {
			return 0
		}
		return strings.Compare(beyond, rest)
	}
}

// carelessKeys are what connectors are known to group by instead of a value: without the blanks around it,
// without case, as a collation does, as a number, by the whole part of one, and by the day of an instant.
var carelessKeys = []func(text string) string{
	strings.TrimSpace, strings.ToLower, folded, canonicalNumber,
	func(text string) string {
		if !terms.IsDecimal(text) {
			return text
		}
		whole, _, _ := strings.Cut(text, ".")
		return whole
	},
	func(text string) string {
		day, _, _ := strings.Cut(text, "T")
		return day
	},
}

// GroupTells returns how many careless keys would merge values of a column, nulls that are no group of their own
// among them. It is 0 for a column with one value.
func GroupTells(t *oracle.Table, column int) (points int) {
	distinct, nulls := map[string]bool{}, 0
	for _, v := range cellsOf(t, column) {
		if v.IsNull() {
			nulls = 1
		} else {
			distinct[v.String()] = true
		}
	}
	if len(distinct)+nulls < 2 {
		return 0
	}
	points = 1 + nulls
	for _, key := range carelessKeys {
		merged := map[string]bool{}
		for text := range distinct {
			merged[key(text)] = true
		}
		if len(merged) < len(distinct) {
			points++
		}
	}
	return points
}

// OrderTells returns how many careless orders the values of a column differ from, nulls that are
// not last among them. It is 0 for a column with one value.
func OrderTells(t *oracle.Table, column int) int {
	return orderTells(t, column, func([]wire.Value) string { return "" })
}

// LaterOrderTells returns the same of a column as a later sort key, whose values stand in order where the keys before it
// have the same ones.
func LaterOrderTells(t *oracle.Table, before []int, column int) int {
	return orderTells(t, column, func(row []wire.Value) (tie string) {
		for _, i := range before {
			tie += strconv.Quote(row[i].String()) + strconv.FormatBool(row[i].IsNull())
		}
		return tie
	})
}

// orderTells returns what shows in the order of the cells of rows with the same tie.
func orderTells(t *oracle.Table, column int, tie func(row []wire.Value) string) (points int) {
	kind := t.Columns[column].Type
	order := func(a, b wire.Value) int { n, _ := oracle.Compare(a, b, kind); return n }
	nulls, values := map[string]bool{}, map[string][]wire.Value{}
	for _, row := range t.Rows {
		if of := tie(row); row[column].IsNull() {
			nulls[of] = true
		} else {
			values[of] = append(values[of], row[column])
		}
	}
	orders := carelessOrders
	switch {
	case kind.Numeric():
		orders = []func(a, b string) int{strings.Compare, cutAtFirst(".")}
	case kind == wire.TypeDatetime:
		orders = []func(a, b string) int{cutAtFirst("T")}
	}
	differ, beside, shown := false, false, make([]bool, len(orders))
	for of, cells := range values {
		slices.SortFunc(cells, order)
		beside = beside || nulls[of]
		differ = differ || order(cells[0], cells[len(cells)-1]) != 0
		for n, careless := range orders {
			for i := 1; i < len(cells) && !shown[n]; i++ {
				shown[n] = order(cells[i-1], cells[i]) < 0 && careless(cells[i-1].String(), cells[i].String()) > 0
			}
		}
	}
	if !differ && !beside {
		return 0
	}
	points = 1
	for _, shows := range append(shown, beside) {
		if shows {
			points++
		}
	}
	return points
}
