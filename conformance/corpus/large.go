package corpus

import (
	"fmt"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

const (
	largeRows   = 12_345
	largeGroups = 11
	sameColumns = 8
)

// lengths are the numbers of characters of the texts in the table lengths. A
// connector that cuts texts or operands somewhere below cannot tell two texts of
// one length apart, which differ in the last character only.
var lengths = [...]int{300, 1_100, 5_000, 70_000}

// largeTable returns a table with more rows than upstreams often give: 10,000 is
// the limit of many. Row i, from 1 to 12,345, is
//
//	id    i
//	name  "row " and i, in five digits
//	grp   "g" and i mod 11, in two digits
//	next  2i; null where 5 divides i
func largeTable() Table {
	t := readTable("large")
	for i := int64(1); i <= largeRows; i++ {
		t.Rows = append(t.Rows, []wire.Value{
			wire.Int(i), largeName(i), largeGroup(i), largeNext(i),
		})
	}
	return complete(t)
}

func largeName(i int64) wire.Value { return wire.Text(fmt.Sprintf("row %05d", i)) }

func largeGroup(i int64) wire.Value { return wire.Text(fmt.Sprintf("g%02d", i%largeGroups)) }

func largeNext(i int64) wire.Value {
	if i%5 == 0 {
		return wire.Null()
	}
	return wire.Int(2 * i)
}

// lengthsTable returns a table of long texts. For each of the lengths it has three
// rows: a text that is one character short of it, and the same text with an "a" and
// with a "b" at its end. The columns same1 to same8 are "x" in every row: a sort by
// them leaves the order to the key behind them.
func lengthsTable() Table {
	t := readTable("lengths")
	for _, size := range lengths {
		for _, text := range []string{longText(size - 1), longText(size-1) + "a", longText(size-1) + "b"} {
			row := []wire.Value{wire.Int(int64(len(t.Rows) + 1)), wire.Int(int64(len(text))), wire.Text(text)}
			for range sameColumns {
				row = append(row, wire.Text("x"))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return complete(t)
}

func sameColumn(i int) string { return fmt.Sprintf("same%d", i+1) }

// longText returns a text of so many letters. It begins with its length, so that
// none is the beginning of a longer one.
func longText(size int) string {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	text := fmt.Sprintf("%d ", size)
	return text + strings.Repeat(letters, size/len(letters)+1)[:size-len(text)]
}
