// Package memsource does in memory what a source's upstream cannot: it sorts, joins,
// counts and aggregates rows, reads an upstream page by page, and serves whole
// tables from memory.
//
// # Tables in memory
//
// [New] turns tables into a complete connector.Source, with every
// optional route. This is a working connector:
//
//	package main
//
//	import (
//		"log"
//		"net/http"
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
//		log.Fatal(http.ListenAndServe(":8080", h))
//	}
//
// # Measures from rows
//
// A source of your own has rows but perhaps no way to aggregate them. The
// measures take a [Relation], which is rows and what their cells are, and
// answer exactly what the method of the optional interface returns:
//
//	func (s *shop) Aggregate(ctx context.Context, req *wire.AggregateRequest) (*connector.AggregateAnswer, error) {
//		rel, err := s.read(ctx, req.Credentials, req.Table)
//		if err != nil {
//			return nil, err
//		}
//		return memsource.Aggregate(rel, req, 0)
//	}
//
// Reading all rows to answer a number is what the platform does itself where a
// route is missing; do it when your rows are nearer to you than to it.
//
//	interface                      measure
//	connector.Counter              [Count]
//	connector.Aggregator           [Aggregate]
//	connector.DateAggregator       [Aggregate]
//	connector.CardinalityMeasurer  [Cardinality]
//	connector.LinkMeasurer         [LinkHitRate]
//	connector.Joiner               [Join]
//	connector.Source               [Sort], [Pages]
//
// All of them read their rows once, copy what they keep, and hold it within a
// [Budget]. What exceeds it is never answered wrongly:
//
//	Count        keeps nothing
//	Sort         hands the rows out unsorted, and says so (B8)
//	Aggregate    declines: connector.ErrDecline, 204 (E6)
//	Cardinality  answers nil for the columns that hold most (F1)
//	LinkHitRate  refuses: connector.ErrUnsupported, 422
//	Join         refuses: connector.ErrUnsupported, 422
//
// Numbers are compared and added as decimal digits, never as floats (A6, E1).
//
// Cancelling is the business of the rows: let the iterator yield the context's
// error when it ends, as [Pages] does.
package memsource
