// Package platform is the other side of the protocol: it asks a connector as the
// platform does. Use it to see what a tenant will see, in a test of a connector, or to
// read a connector from a program in Go.
//
// Each method of a [Client] sends one request and reads its answer as strictly as
// the platform: exact names, declared types, every member that was asked for, nothing
// after the end. An answer that breaks a rule is an [*AnswerError], which names the
// place in the answer and the rule.
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//		"log"
//		"os"
//
//		"github.com/connectorsdk/connector-sdk-go/conformance/platform"
//		"github.com/connectorsdk/connector-sdk-go/wire"
//	)
//
//	func main() {
//		ctx := context.Background()
//		token := wire.NewBearer(os.Getenv("PLATFORM_CONNECTOR_TOKEN"))
//		client, err := platform.NewClient("http://localhost:8080", token, &platform.Options{Local: true})
//		if err != nil {
//			log.Fatal(err)
//		}
//		credentials := wire.NewCredentials(map[string]string{"apiKey": os.Getenv("API_KEY")})
//		discovery, err := client.Discover(ctx, credentials)
//		if err != nil {
//			log.Fatal(err)
//		}
//		table := discovery.Tables[0]
//		request := &wire.QueryRequest{Table: table.Name, Limit: 10}
//		for _, f := range table.Fields {
//			request.Fields = append(request.Fields, f.Name)
//		}
//		rows, err := client.Query(ctx, credentials, request, table.Columns())
//		if err != nil {
//			log.Fatal(err)
//		}
//		rows.Expect(&table)
//		for row, err := range rows.All() {
//			if err != nil {
//				log.Fatal(err)
//			}
//			fmt.Println(row)
//		}
//	}
//
// # Complete answers
//
// A [Client] returns what the connector sends, which may be less than what was
// asked: unfiltered, unsorted, in pages. A [Connection] returns the answer. It asks
// for what the document declares, within its limits, and does here what is left:
// filters, sort, window, joins, groups, counts and measurements. [Stats] says who did
// what, and how many rows crossed the wire for it.
//
//	connection, err := platform.Connect(ctx, client, credentials, nil)
//	...
//	groups, err := connection.Top(ctx, &wire.AggregateRequest{
//		Table:    "orders",
//		GroupBy:  []wire.GroupKey{{Field: "country", As: "country"}},
//		Measures: []wire.Measure{{Fn: wire.AggSum, Field: "amount", As: "total"}},
//	}, []wire.SortKey{{Field: "total", Dir: wire.Desc}}, 10)
//
// Connect also reads the size and the first rows of each table, as the platform does.
// [WriteCSV] and [WriteNDJSON] write the rows of an answer.
// [Connection.Explain] tells the cost of a question before it is asked. [Connection.Refresh]
// discovers again, and [Connection.Changes] says what is different then. A connector that
// refuses what it offered before is read once more, and the question planned again.
//
// A part of the rows is never taken for all of them. A table that needs several pages is
// read in an order that is total: by its key, otherwise by all that is read, because rows
// with equal sort keys may stand in another order on the next page. The next page is asked
// for by a filter behind the last key, if there is one and the document declares the
// operators: a row that is deleted in between then moves no other. Otherwise it is asked for
// by an offset, several at once, from the last row of the page before on. If that is another
// row by then, rows were deleted or inserted meanwhile, and the reading ends with [ErrMoved].
// Where the document declares neither, or too few sort keys, one page has to be enough.
// What the connector's limits put out of reach is [ErrReach], what needs too much memory
// [ErrBudget], and too many groups are [ErrGroups].
//
// # Errors
//
// The type of an error says what to do about it. After an [*AnswerError] the connector has to
// be mended, after a [*ConnectionError] the address or the network, and after a [*RequestError]
// another question has to be asked. A [*wire.Error] is the connector's own refusal.
//
// # How strict the client is
//
// It refuses what a binding rule of docs/protocol.md forbids. What is only advised
// against it accepts: a boolean as text, a row with a member that nobody asked for
// (which is dropped), a member of an answer that the protocol does not define. The
// lines of a stream are the exception, as package ndjson reads them: they have no
// further members.
//
// An answer has to agree with itself and with discovery, as far as that shows in it. It
// refuses rows that contradict a served filter or sort, nulls in a field that is not nullable,
// a key or a group twice, and counts out of order, unless a reading of the rules allows them. What a [Connection] has measured, and
// the pages that it reads, have to agree as well.
//
// # What the client does not trust
//
// It connects to public addresses only, over https, and judges the address that it
// dials; [Options.Local] permits others. It follows no redirect. It ends a request whose
// time is over even if the connector does not, gives up on a stream that was silent for
// 30 seconds, and holds one line of a stream in memory. The token and the credentials
// are in no error and in no [Step].
package platform
