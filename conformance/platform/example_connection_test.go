package platform_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// few is a connector that declares nothing: it hands out all rows of its tables.
func few() http.Handler { return built(nothing, undeclared) }

// A connection answers in full whatever the connector does. This one neither filters
// nor sorts nor cuts, so all rows of the table cross the wire.
func ExampleConnection_Query() {
	server := httptest.NewTLSServer(few())
	defer server.Close()
	client, err := platform.NewClient(server.URL, wire.NewBearer(testToken), &platform.Options{HTTP: server.Client()})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	connection, err := platform.Connect(ctx, client, wire.Credentials{}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := connection.Query(ctx, &wire.QueryRequest{
		Table: "orders", Fields: []string{"id", "total"}, Limit: 2,
		Where: wire.Where{And: []wire.Filter{{Field: "status", Op: wire.OpEq, Value: wire.Text("paid")}}},
		Sort:  []wire.SortKey{{Field: "id", Dir: wire.Desc}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for row, err := range answer.All() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(row[0], row[1])
	}
	work := answer.Stats
	fmt.Println("rows read:", work.RowsRead, "filtered here:", work.Filtered, "sorted here:", work.Sorted)
	// Output:
	// 1044 102.79
	// 1043 65.26
	// rows read: 48 filtered here: true sorted here: true
}

// WriteCSV and WriteNDJSON write the rows of an answer, and those of a Client as well. The
// empty field is a null.
func ExampleWriteCSV() {
	server := httptest.NewTLSServer(few())
	defer server.Close()
	client, err := platform.NewClient(server.URL, wire.NewBearer(testToken), &platform.Options{HTTP: server.Client()})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	connection, err := platform.Connect(ctx, client, wire.Credentials{}, &platform.ConnectionOptions{DiscoverOnly: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := connection.Query(ctx, &wire.QueryRequest{
		Table: "orders", Fields: []string{"id", "total", "placed_at", "gift"}, Limit: 2,
		Sort: []wire.SortKey{{Field: "id", Dir: wire.Desc}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := platform.WriteCSV(os.Stdout, answer.Columns, answer.All()); err != nil {
		fmt.Println(err)
	}
	if err := platform.WriteNDJSON(os.Stdout, answer.Columns, answer.All()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// id,total,placed_at,gift
	// 1048,0.91,2024-01-21T19:17:00.000000Z,
	// 1047,213.38,2024-01-13T14:46:00.000000Z,false
	// {"id":1048,"total":"0.91","placed_at":"2024-01-21T19:17:00.000000Z","gift":null}
	// {"id":1047,"total":"213.38","placed_at":"2024-01-13T14:46:00.000000Z","gift":false}
}
