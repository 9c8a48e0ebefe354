// Package memsource makes complete sources of rows: of tables in memory, and of tables
// that you read row by row. It also reads an upstream, the API behind a source, page by
// page.
//
// # Tables in memory
//
// [New] turns tables into a complete connector.Source, with every optional
// route. This is a working connector:
//
//	package main
//
//	import (
//		"log"
//
//		"github.com/connectorsdk/connector-sdk-go/connector"
//		"github.com/connectorsdk/connector-sdk-go/connector/memsource"
//		"github.com/connectorsdk/connector-sdk-go/connector/standalone"
//		"github.com/connectorsdk/connector-sdk-go/wire"
//	)
//
//	func main() {
//		src, err := memsource.New([]memsource.Table{{
//			Table: wire.Table{
//				Name:              "planets",
//				SourceDescription: "The planets of the solar system",
//				PrimaryKey:        []string{"name"},
//				Fields:            []wire.Field{{Name: "name"}, {Name: "moons"}},
//			},
//			Rows: [][]wire.Value{
//				{wire.Text("Earth"), wire.Int(1)},
//				{wire.Text("Mars"), wire.Int(2)},
//				{wire.Text("Venus"), wire.Int(0)},
//			},
//		}}, nil)
//		if err != nil {
//			log.Fatal(err)
//		}
//		standalone.Main(connector.Definition{Slug: "planets"}, src, nil)
//	}
//
// [TableOf] makes such a table of Go structs: their tags name the columns.
//
// # Tables that are read
//
// [Over] does the same for tables of your own that can only be read from the first row
// to the last, such as files: it filters, sorts, joins, counts and aggregates their rows.
// A method that your upstream does better is yours to replace:
//
//	type source struct {
//		*memsource.Source // Over
//		api *client
//	}
//
//	func (s source) Count(ctx context.Context, req *wire.CountRequest) (int64, error) {
//		if req.HasFilters() {
//			return s.Source.Count(ctx, req) // from the rows
//		}
//		return s.api.total(ctx, req.Credentials, req.Table)
//	}
//
// A route that a source lacks is no fault: the platform reads all rows and computes the
// number itself. Compute it in your source if the rows are nearer to you.
//
// # Pages of an upstream
//
// [Pages] returns the rows of an API that answers page by page.
package memsource
