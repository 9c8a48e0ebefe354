package corpus

import (
	"fmt"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// formulas add to a table of data the rows and the cells that its file does not hold.
var formulas = map[string]func(*Table){"many": addMany, "wide": addLongText, "large": addLarge, "lengths": addLengths}

// addMany adds more rows than a batch may have, with more distinct keys than an aggregate may
// have groups. Row i, from 1 to 5,200, is
//
//	id      i
//	grp     "g" and (3i + i/100) mod 7, in whole numbers: seven groups
//	key     "k" and 7919i mod 1301, in four digits: 1,301 of them
//	day     17i mod 1461 days after 2020-01-01; null where 13 divides i
//	flag    whether 3 divides i
//	weight  37i mod 1009, less 100
func addMany(t *Table) {
	first := time.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC)
	for i := 1; i <= 5_200; i++ {
		day := wire.Date(first.AddDate(0, 0, 17*i%1461))
		if i%13 == 0 {
			day = wire.Null()
		}
		t.Rows = append(t.Rows, []wire.Value{
			wire.Int(int64(i)),
			wire.Text(fmt.Sprintf("g%d", (3*i+i/100)%7)),
			wire.Text(fmt.Sprintf("k%04d", 7919*i%1301)),
			day,
			wire.Bool(i%3 == 0),
			wire.Int(int64(37*i%1009 - 100)),
		})
	}
}

// addLongText sets the last cell of the wide row: 64 KiB of text with characters of two, three and four bytes.
func addLongText(t *Table) {
	const size, piece = 64 << 10, "wide é 日 😀 " // 17 bytes
	text := strings.Repeat(piece, size/len(piece))
	t.Rows[0][len(t.Fields)-1] = wire.Text(text + strings.Repeat("x", size-len(text)))
}

// addLarge adds more rows than upstreams often give: 10,000 is the limit of many. Row i, from 1 to 12,345, is
//
//	id    i
//	name  "row " and i, in five digits
//	grp   "g" and i mod 11, in two digits
//	next  2i; null where 5 divides i
func addLarge(t *Table) {
	for i := int64(1); i <= 12_345; i++ {
		next := wire.Int(2 * i)
		if i%5 == 0 {
			next = wire.Null()
		}
		t.Rows = append(t.Rows, []wire.Value{
			wire.Int(i), wire.Text(fmt.Sprintf("row %05d", i)), wire.Text(fmt.Sprintf("g%02d", i%11)), next,
		})
	}
}

// lengths are the numbers of characters of the texts in the table lengths. A connector that cuts texts or operands
// somewhere below cannot tell two texts of one length apart, which differ in the last character only.
var lengths = [...]int{300, 1_100, 5_000, 70_000}

// addLengths adds three rows for each of the lengths: a text that is one character short of
// it, and the same text with an "a" and with a "b" at its end. The columns same1 to same8 are
// "x" in every row: a sort by them leaves the order to the key behind them.
func addLengths(t *Table) {
	for _, size := range lengths {
		for _, text := range []string{longText(size - 1), longText(size-1) + "a", longText(size-1) + "b"} {
			row := []wire.Value{wire.Int(int64(len(t.Rows) + 1)), wire.Int(int64(len(text))), wire.Text(text)}
			for len(row) < len(t.Fields) {
				row = append(row, wire.Text("x"))
			}
			t.Rows = append(t.Rows, row)
		}
	}
}

// longText returns a text of so many letters. It begins with its length, so that none is the beginning of a longer one.
func longText(size int) string {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	text := fmt.Sprintf("%d ", size)
	return text + strings.Repeat(letters, size/len(letters)+1)[:size-len(text)]
}

// longOperands returns the cases that ask for the long texts, which no file holds.
func longOperands() (cases []Case) {
	for _, size := range lengths {
		text := wire.Text(longText(size-1) + "a")
		where := func(op wire.Op) wire.Where {
			filter := wire.Filter{Field: "text", Op: op, Value: text}
			if op == wire.OpIn {
				filter.Value, filter.Values = wire.Value{}, []wire.Value{wire.Text("x"), text}
			}
			return wire.Where{And: []wire.Filter{filter}}
		}
		add := func(name, check, facet, rule, path string, request wire.Request) {
			cases = append(cases, Case{
				Name: fmt.Sprintf("%s-text-of-%d", name, size), Check: check, Facet: facet, Rule: rule,
				Why: "The last character of a long text counts.", Path: path, Request: request,
			})
		}
		for _, q := range []struct {
			op   wire.Op
			rule string
		}{
			{wire.OpEq, "filter-7"}, {wire.OpIn, "filter-3"}, {wire.OpStartsWith, "filter-5a"},
			{wire.OpIncludes, "filter-5"}, {wire.OpGt, "filter-7"},
		} {
			add(string(q.op), "P2.3", string(q.op), q.rule, wire.PathQuery,
				&wire.QueryRequest{Table: "lengths", Where: where(q.op), Fields: []string{"id"}})
		}
		add("count-eq", "P2.10", "filters", "count-3", wire.PathCount, &wire.CountRequest{Table: "lengths", Where: where(wire.OpEq)})
	}
	return cases
}
