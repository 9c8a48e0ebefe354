// Package memsource works on rows in memory: it serves whole tables as a source,
// and for sources of your own it sorts, joins, counts and aggregates rows. It
// also reads an upstream, the API behind a source, page by page.
//
// # Tables in memory
//
// [New] turns tables into a complete connector.Source, with every optional
// route. This is a working connector:
//
//	package main
//
//	import (
//		"context"
//		"log"
//		"os"
//
//		"github.com/connectorsdk/connector-sdk-go/connector"
//		"github.com/connectorsdk/connector-sdk-go/connector/memsource"
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
//		token, err := wire.NewToken(os.Getenv("PLATFORM_CONNECTOR_TOKEN"))
//		if err != nil {
//			log.Fatal(err)
//		}
//		h, err := connector.New(connector.Definition{Slug: "planets"}, src, token, nil)
//		if err != nil {
//			log.Fatal(err)
//		}
//		log.Fatal(connector.ListenAndServe(context.Background(), ":8080", h))
//	}
//
// [TableOf] makes such a table of Go structs: their tags name the columns.
//
// # Measures from rows
//
// A source of your own has rows but perhaps no way to aggregate them. The
// measures take a [Relation], which is rows with their columns, and return what
// the method of the optional interface returns:
//
//	func (s *shop) Aggregate(ctx context.Context, req *wire.AggregateRequest) ([][]wire.Value, error) {
//		rel, err := s.read(ctx, req.Credentials, req.Table)
//		if err != nil {
//			return nil, err
//		}
//		return memsource.Aggregate(rel, req, 0)
//	}
//
// Where a route is missing, the platform reads all rows and computes the number
// itself. Compute it in your source if the rows are nearer to you.
//
//	interface                      measure
//	connector.Counter              [Count]
//	connector.Aggregator           [Aggregate]
//	connector.CardinalityMeasurer  [Cardinality]
//	connector.LinkMeasurer         [LinkHitRate]
//	connector.Joiner               [Join]
//	connector.Source               [Pages]
//
// All of them read their rows once, copy what they keep, and keep no more than a
// [Budget] allows. If the work exceeds it, no answer is wrong:
//
//	Count        keeps nothing
//	Aggregate    declines: connector.ErrDecline, 204
//	Cardinality  answers nil for the columns that hold most
//	LinkHitRate  refuses: connector.ErrUnsupported, 422
//	Join         refuses: connector.ErrUnsupported, 422
//
// Numbers compare and add as decimal digits, never as floats.
//
// The measures take no context. Let the rows yield the context's error when it
// ends, as [Pages] does.
package memsource
