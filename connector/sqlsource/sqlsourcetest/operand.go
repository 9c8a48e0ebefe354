package sqlsourcetest

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// operand is a filter's value, and what edge it stands for.
type operand struct {
	value wire.Value
	edge  string
}

// edges are operands that every column must take.
var edges = slices.Concat(
	[]operand{{wire.Null(), "null"}},
	edge("empty", ""),
	edge("blank", " "),
	edge("wildcard", "%", "_", "a%", "\\", "*"),
	edge("quote", "'", `"; --`, "`"),
	edge("nul", "\x00", "a\x00b", "\x00a"),
	edge("unicode", "é", "e\u0301", "ß", "\U0001F600", "\uffff"),
	edge("boolean", "true", "false", "True", "t"),
	[]operand{{wire.Bool(true), "boolean"}, {wire.Bool(false), "boolean"}},
	[]operand{{wire.Int(0), "number"}, {wire.Int(1), "number"}, {wire.Int(-1), "number"}},
	[]operand{{wire.Float(1.5), "number"}, {wire.Float(-0.5), "number"}, {wire.Float(0.1), "number"}},
	[]operand{{wire.Float(1e-7), "number"}, {wire.Float(1e21), "number"}},
	edge("digits", "1.50", "+1.5", "01.5", "-0", "-0.00", "1.5000000000000000000000000000000000000001",
		"0.1000000000000000055511151231257827"),
	edge("no number", "1e3", ".5", "5.", "NaN", "Infinity", "0x10", "1 ", "abc"),
	edge("2^53", "9007199254740991", "9007199254740992", "9007199254740993", "-9007199254740993"),
	[]operand{{wire.Int(9007199254740991), "2^53"}},
	edge("2^63", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
		"18446744073709551615", "18446744073709551616", "9223372036854775806.5"),
	edge("huge", "1"+strings.Repeat("0", 70), "-1"+strings.Repeat("0", 70), "0."+strings.Repeat("0", 60)+"1",
		"1"+strings.Repeat("0", 400), "99999999999999999999.99"),
	edge("date", "2024-02-29", "2024-02-29T00:00:00Z", "2024-02-29T12:30"),
	edge("offset", "2024-02-29T01:00:00+01:00"),
	edge("fraction", "2024-02-28T23:59:59.9999999Z"),
	edge("no date", "2024-02-30", "20240229", "2024-02-29 00:00:00", "2024", "2024-02-29T00:00:00Zulu"),
	edge("far date", "0000-01-01", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59.9999999999-12:00"),
	edge("leap second", "2016-12-31T23:59:60Z"),
	edge("midnight", "2024-02-28T24:00:00Z"),
)

// edge returns texts that stand for one edge.
func edge(name string, texts ...string) []operand {
	list := make([]operand, len(texts))
	for i, s := range texts {
		list[i] = operand{wire.Text(s), name}
	}
	return list
}

// elements are operands for contains: what arrays of a test should hold.
var elements = []wire.Value{
	wire.Text("a"), wire.Text("b"), wire.Text("A"), wire.Text("1"), wire.Int(1), wire.Text("1.50"), wire.Float(2.5),
	wire.Bool(true), wire.Text("true"), wire.Text("null"), wire.Text("[]"),
}

// pick returns an operand for a column: a value of its own, a neighbour or
// another spelling of one, a value of another column, or an edge.
func (g *generator) pick(t *table, column int, op wire.Op) operand {
	rng := g.rng
	switch n := rng.IntN(10); {
	case n < 6 && op == wire.OpContains:
		return operand{elements[rng.IntN(len(elements))], "an element"}
	case n < 6 && (op == wire.OpIncludes || op == wire.OpStartsWith):
		v := g.cell(t, column)
		runes := []rune(string(v.AppendText(nil)))
		from := 0
		if rng.IntN(2) == 0 {
			from = rng.IntN(len(runes) + 1)
		}
		return operand{wire.Text(string(runes[from : from+rng.IntN(min(3, len(runes)-from)+1)])), "part"}
	case n < 3:
		return operand{g.cell(t, column), "a cell"}
	case n < 6:
		return g.near(g.cell(t, column), t.columns[column].Type)
	case n < 7:
		return operand{g.cell(t, rng.IntN(len(t.columns))), "another column's"}
	}
	return edges[rng.IntN(len(edges))]
}

// cell returns a random cell of a column.
func (g *generator) cell(t *table, column int) wire.Value {
	return t.rows[g.rng.IntN(len(t.rows))][column]
}

// near returns another spelling of a value, or a value beside it.
func (g *generator) near(v wire.Value, t wire.Type) operand {
	rng := g.rng
	if v.IsNull() {
		return operand{v, "null"}
	}
	s := string(v.AppendText(nil))
	if at, ok := filter.Instant(v); ok && (t == wire.TypeDate || t == wire.TypeDatetime) {
		switch rng.IntN(6) {
		case 0:
			east := at.In(time.FixedZone("", 5*3600+1800))
			return operand{wire.Text(east.Format("2006-01-02T15:04:05.999999999-07:00")), "offset"}
		case 1:
			return operand{wire.Text(at.Format("2006-01-02t15:04:05.000000000z")), "spelling"}
		case 2:
			return operand{wire.Text(at.Format("2006-01-02T15:04:05.000000000") + "0001"), "fraction"}
		case 3:
			return operand{wire.Text(at.Add(-time.Nanosecond).Format("2006-01-02T15:04:05.999999999Z")), "fraction"}
		case 4:
			return operand{wire.Text(at.Format("2006-01-02 15:04:05")), "no date"}
		}
		return operand{wire.Text(at.AddDate(0, 0, rng.IntN(3)-1).Format("2006-01-02")), "date"}
	}
	if wire.IsDecimal(s) && v.Kind() != wire.KindBool {
		switch rng.IntN(7) {
		case 0:
			return operand{wire.Text(addPoint(s) + "0"), "digits"}
		case 1:
			return operand{wire.Text("00" + strings.TrimPrefix(s, "-")), "digits"}
		case 2:
			return operand{wire.Text(addPoint(s) + "000000000000000000000000000000000001"), "just beside"}
		case 3:
			return operand{wire.Text(addPoint(s) + "5"), "just beside"}
		case 4:
			return operand{wire.Text(s + "e0"), "no number"}
		case 5:
			return operand{wire.Text(" " + s), "no number"}
		}
		return operand{wire.Text(s), "digits"}
	}
	runes := []rune(s)
	switch rng.IntN(8) {
	case 0:
		return operand{wire.Text(strings.ToUpper(s)), "case"}
	case 1:
		return operand{wire.Text(s + " "), "trailing blank"}
	case 2:
		return operand{wire.Text(s + "\x00"), "nul"}
	case 3:
		return operand{wire.Text(string(runes[:rng.IntN(len(runes)+1)])), "prefix"}
	case 4:
		from := rng.IntN(len(runes) + 1)
		return operand{wire.Text(string(runes[from : from+rng.IntN(len(runes)-from+1)])), "part"}
	case 5:
		return operand{wire.Text(s + "a"), "just beside"}
	case 6:
		if r, size := utf8.DecodeRuneInString(s); size > 0 {
			return operand{wire.Text(string(r+1) + s[size:]), "just beside"}
		}
	}
	return operand{wire.Text(strings.ToLower(s)), "case"}
}

// addPoint appends a dot unless there is one, so that further digits are those of
// a fraction.
func addPoint(s string) string {
	if strings.Contains(s, ".") {
		return s
	}
	return s + "."
}
