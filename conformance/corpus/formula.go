package corpus

import (
	"fmt"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

const (
	manyRows    = 5200
	wideColumns = 120
	wideText    = 64 << 10 // bytes
)

// manyTable returns a table with more rows than a batch may have and with more
// distinct keys than an aggregate may have groups. Row i, from 1 to 5,200, is
//
//	id      i
//	grp     "g" and (3i + i/100) mod 7, in whole numbers: seven groups
//	key     "k" and 7919i mod 1301, in four digits: 1,301 of them
//	day     17i mod 1461 days after 2020-01-01; null where 13 divides i
//	flag    whether 3 divides i
//	weight  37i mod 1009, less 100
func manyTable() Table {
	t := readTable("many")
	first := time.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC)
	for i := 1; i <= manyRows; i++ {
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
	return complete(t)
}

// wideTable returns a table with one row of 120 columns: an id, 118 columns c001
// to c118 of the nine types in turn (every tenth is null), and long_text, 64 KiB
// of text with characters of two, three and four bytes.
func wideTable() Table {
	t := Table{Table: wire.Table{
		Name:              "wide",
		SourceDescription: "One row of many columns, one of them a long text.",
		PrimaryKey:        []string{"id"},
		Fields: []wire.Field{
			{Name: "id", Type: wire.TypeNumber, Unique: true, SourceDescription: "The number of the row."},
		},
	}}
	row := []wire.Value{wire.Int(1)}
	types := [...]wire.Type{
		wire.TypeString, wire.TypeNumber, wire.TypeDecimal, wire.TypeBoolean, wire.TypeDate,
		wire.TypeDatetime, wire.TypeJSON, wire.TypeArray, wire.TypeReference,
	}
	for i := 1; i <= wideColumns-2; i++ {
		columnType := types[(i-1)%len(types)]
		f := wire.Field{
			Name: fmt.Sprintf("c%03d", i), Type: columnType, Nullable: true,
			SourceDescription: fmt.Sprintf("Column %d, of type %s.", i, columnType),
		}
		t.Fields = append(t.Fields, f)
		v := wideCell(i, columnType)
		if i%10 == 0 {
			v = wire.Null()
		}
		row = append(row, v)
	}
	const piece = "wide é 日 😀 " // 17 bytes
	text := strings.Repeat(piece, wideText/len(piece))
	text += strings.Repeat("x", wideText-len(text))
	t.Fields = append(t.Fields, wire.Field{Name: "long_text", Type: wire.TypeString, SourceDescription: "64 KiB of text."})
	t.Rows = [][]wire.Value{append(row, wire.Text(text))}
	return complete(t)
}

// wideCell returns the cell of column i of the wide row.
func wideCell(i int, columnType wire.Type) wire.Value {
	day := time.Date(2000, time.January, i, 0, 0, i, 0, time.UTC)
	switch columnType {
	case wire.TypeNumber:
		return wire.Int(int64(i * i))
	case wire.TypeDecimal:
		return wire.Decimal(fmt.Sprintf("%d.%03d", i, i))
	case wire.TypeBoolean:
		return wire.Bool(i%2 == 0)
	case wire.TypeDate:
		return wire.Date(day)
	case wire.TypeDatetime:
		return instant(day)
	case wire.TypeJSON:
		return wire.JSON(fmt.Sprintf(`{"column":%d}`, i))
	case wire.TypeArray:
		return wire.JSON(fmt.Sprintf(`[%d]`, i))
	case wire.TypeReference:
		return wire.Text(fmt.Sprintf("ref-%d", i))
	default:
		return wire.Text(fmt.Sprintf("text %d", i))
	}
}
