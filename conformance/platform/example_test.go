package platform_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// answers is a connector of two rows.
var answers = testkit.OnPath(
	testkit.JSON(http.StatusBadRequest, `{"error":{"code":"check_failed","message":"The API key is unknown."}}`),
	wire.PathQuery, testkit.NDJSON(`{"served":{"filters":true,"sort":true,"window":false}}
{"rows":[{"id":1,"amount":"10.50"},{"id":2,"amount":7.25}]}
{"end":1}
`))

// dial returns a client of a test server, whose certificate it trusts. For a connector elsewhere, leave HTTP out.
func dial(h http.Handler) (client *platform.Client, stop func()) {
	server := httptest.NewTLSServer(h)
	client, err := platform.NewClient(server.URL, wire.NewBearer(testToken), &platform.Options{HTTP: server.Client()})
	if err != nil {
		log.Fatal(err)
	}
	return client, server.Close
}

// A client reads rows in the order of the columns that it asks for. The connector
// spells its second amount as a float, which the platform refuses.
func ExampleClient_Query() {
	client, stop := dial(answers)
	defer stop()
	rows, err := client.Query(context.Background(), wire.NewCredentials(map[string]string{"apiKey": "k"}),
		&wire.QueryRequest{Table: "orders", Fields: []string{"id", "amount"}},
		[]wire.Column{{Name: "id", Type: wire.TypeNumber}, {Name: "amount", Type: wire.TypeDecimal}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("filters served:", rows.Served().Filters)
	for row, err := range rows.All() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(row[0], row[1])
	}
	fmt.Println("complete")
	// Output:
	// filters served: true
	// 1 10.50
	// the answer of /query is refused: line 2, rows[1].amount: is no exact decimal; want a string of its digits (rule cell-1)
}

// A refusal in the connector's own words is told apart from an answer that is no good.
func ExampleClient_Check() {
	client, stop := dial(answers)
	defer stop()
	err := client.Check(context.Background(), wire.NewCredentials(map[string]string{"apiKey": "wrong"}))
	var refusal *wire.Error
	if errors.As(err, &refusal) && refusal.Code == wire.CodeCheckFailed {
		fmt.Println(refusal.Message)
	}
	// Output: The API key is unknown.
}

// A connection answers in full whatever the connector does. This one neither filters
// nor sorts nor cuts, so all rows of the table cross the wire.
func ExampleConnection_Query() {
	client, stop := dial(built(nothing, undeclared))
	defer stop()
	ctx := context.Background()
	connection, err := platform.Connect(ctx, client, wire.Credentials{}, nil)
	if err != nil {
		log.Fatal(err)
	}
	answer, err := connection.Query(ctx, &wire.QueryRequest{
		Table: "orders", Fields: []string{"id", "total"}, Limit: 2,
		Where: wire.Where{And: []wire.Filter{{Field: "status", Op: wire.OpEq, Value: wire.Text("paid")}}},
		Sort:  []wire.SortKey{{Field: "id", Dir: wire.Desc}},
	})
	if err != nil {
		log.Fatal(err)
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
	client, stop := dial(built(nothing, undeclared))
	defer stop()
	ctx := context.Background()
	connection, err := platform.Connect(ctx, client, wire.Credentials{}, &platform.ConnectionOptions{DiscoverOnly: true})
	if err != nil {
		log.Fatal(err)
	}
	answer, err := connection.Query(ctx, &wire.QueryRequest{
		Table: "orders", Fields: []string{"id", "total", "placed_at", "gift"}, Limit: 2,
		Sort: []wire.SortKey{{Field: "id", Dir: wire.Desc}},
	})
	if err != nil {
		log.Fatal(err)
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
