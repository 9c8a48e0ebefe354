package memsource

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/connector/rowmap"
)

// TableOf returns a table whose rows are Go structs, or pointers to structs. Their
// fields are the columns, as the tags say (see rowmap.Struct):
//
//	type Order struct {
//		ID    int64           `connector:"id,pk"`
//		Total decimal.Decimal `connector:"total,scale=2"`
//	}
//
//	src, err := memsource.New([]memsource.Table{memsource.TableOf("orders", orders)}, nil)
//
// TableOf copies the values, so they may change later. It panics if T cannot be a
// table, and names every fault of the type: the program is wrong, whatever its rows
// are. Values that have no exact cell are reported by New.
func TableOf[T any](name string, rows []T) Table {
	mapping, err := rowmap.Of[T]()
	if err != nil {
		panic(fmt.Sprintf("memsource: TableOf %q: %v", name, err))
	}
	return Table{Table: mapping.Table(name), Rows: mapping.Page(rows)}
}
