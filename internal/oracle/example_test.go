package oracle_test

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A judge that knows the table asks for the two lowest prices above one, and
// finds that the connector compared the prices as text.
func Example() {
	tables := oracle.Tables{"prices": {
		Name:       "prices",
		PrimaryKey: []string{"id"},
		Columns:    []wire.Column{{Name: "id", Type: wire.TypeNumber}, {Name: "price", Type: wire.TypeDecimal}},
		Rows: [][]wire.Value{
			{wire.Int(1), wire.Decimal("9.50")},
			{wire.Int(2), wire.Decimal("10.00")},
			{wire.Int(3), wire.Decimal("0.75")},
			{wire.Int(4), wire.Null()},
		},
	}}
	req := &wire.QueryRequest{
		Table:  "prices",
		Where:  wire.Where{And: []wire.Filter{{Field: "price", Op: wire.OpGt, Value: wire.Int(1)}}},
		Sort:   []wire.SortKey{{Field: "price", Dir: wire.Asc}},
		Fields: []string{"id", "price"},
		Limit:  2,
	}
	right, err := oracle.Query(tables, req)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(right.Rows)

	answered := [][]wire.Value{
		{wire.Int(2), wire.Text("10.00")},
		{wire.Int(1), wire.Text("9.50")},
	}
	if difference := oracle.Verify(tables, req, answered); difference != nil {
		fmt.Println(difference.Detail)
		fmt.Println(difference.Expected)
		fmt.Println(difference.Received)
	}
	// Output:
	// [[1 9.50] [2 10.00]]
	// row 0 stands in the wrong place
	// {"id":1,"price":"9.50"}
	// {"id":2,"price":"10.00"}
}
