package killtest

import (
	"fmt"
	"net/http"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// pagedTables returns the data of a warehouse: movements that fill many upstream pages,
// of parts whose parents are parts too, and a view.
func pagedTables() []memsource.Table {
	parts := memsource.Table{Table: wire.Table{
		Name: "parts", SourceDescription: "What is stored.", PrimaryKey: []string{"no"},
		ForeignKeys: []wire.ForeignKey{{Field: "parent", TargetTable: "parts", TargetField: "no"}},
		Fields:      fieldsOf("no number!", "parent number", "label string", "weight decimal"),
	}}
	moves := memsource.Table{Table: wire.Table{
		Name: "moves", SourceDescription: "What came and went.", PrimaryKey: []string{"id"},
		ForeignKeys: []wire.ForeignKey{{Field: "part", TargetTable: "parts", TargetField: "no"}},
		Fields:      fieldsOf("id number!", "part number", "amount number", "price decimal", "at datetime", "day date", "code string"),
	}}
	for i := range 60 {
		parent := wire.Null()
		if i%3 > 0 {
			parent = wire.Int(int64(i/3 + 1))
		}
		parts.Rows = append(parts.Rows, []wire.Value{
			wire.Int(int64(i + 1)), parent, wire.Text(fmt.Sprintf("part %d", i%50)), wire.Decimal(fmt.Sprintf("%d.%03d", i%7, 37*i%1000)),
		})
	}
	first := time.Date(2022, time.January, 1, 0, 0, 0, 0, time.UTC)
	for i := range 1230 {
		part := wire.Int(int64(i*7%66 + 1)) // some have no such part
		if i%41 == 7 {
			part = wire.Null()
		}
		moves.Rows = append(moves.Rows, []wire.Value{
			wire.Int(int64(1000 + i)), part, wire.Int(int64(i%23 - 4)), wire.Decimal(fmt.Sprintf("%d.%02d", i%97, 13*i%100)),
			wire.DatetimeWidth(first.Add(time.Duration(i)*23*time.Hour+59*time.Minute), 0), wire.Date(first.AddDate(0, 0, i)),
			wire.Text(fmt.Sprintf("%c%d", 'A'+i%5, i*i%1230)),
		})
	}
	return []memsource.Table{moves, parts}
}

// warehouse returns the connector of these tables with something twisted, and layers around it.
func warehouse(w twist, layers ...layer) func() http.Handler {
	return over(stocked(pagedTables, w), layers...)
}
