package connectortest

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// shopTables returns the tables of testdata/shop.json, the data that faults need to show: nulls in every
// nullable column, equal numbers of different scale, both sides of 2^53, texts that differ by case or a blank,
// wildcards, arrays, an empty string, orphans, a self-reference, and a table without rows. A field is its name
// and type, with a question mark if it is nullable; a link is a field, and the table and field it leads to.
func shopTables() (tables []memsource.Table) {
	var shop []struct {
		Name               string
		Key, Fields, Links []string
		Rows               [][]json.RawMessage
	}
	text, err := os.ReadFile("testdata/shop.json")
	if err = errors.Join(err, json.Unmarshal(text, &shop)); err != nil {
		panic(err)
	}
	for _, s := range shop {
		table := memsource.Table{Table: wire.Table{Name: s.Name, PrimaryKey: s.Key}}
		for _, link := range s.Links {
			at := strings.Fields(link)
			table.ForeignKeys = append(table.ForeignKeys, wire.ForeignKey{Field: at[0], TargetTable: at[1], TargetField: at[2]})
		}
		for _, field := range s.Fields {
			name, typ, _ := strings.Cut(strings.TrimSuffix(field, " unique"), " ")
			table.Fields = append(table.Fields, wire.Field{Name: name, Type: wire.Type(strings.TrimSuffix(typ, "?")),
				Nullable: strings.HasSuffix(typ, "?"), Unique: strings.HasSuffix(field, " unique")})
		}
		for _, cells := range s.Rows {
			row := make([]wire.Value, len(cells))
			for i, cell := range cells {
				r := textvalue.Reader{MaxDepth: terms.MaxDepth}
				r.Reset(string(cell))
				if row[i], err = textvalue.APIs.Value(r.Value(1), table.Fields[i].Type, 3); err != nil {
					panic(err)
				}
			}
			table.Rows = append(table.Rows, row)
		}
		tables = append(tables, table)
	}
	return tables
}

func shop(t testing.TB, tables ...memsource.Table) *memsource.Source {
	t.Helper()
	if tables == nil {
		tables = shopTables()
	}
	return testkit.Must(memsource.New(tables, nil))(t)
}

var shopDefinition = connector.Definition{Slug: "shop"}
