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
//	table, err := memsource.TableOf("orders", orders)
//	if err != nil {
//		return err
//	}
//	src, err := memsource.New([]memsource.Table{table}, nil)
//
// TableOf copies the values, so they may change later. The error names every fault of
// the type T. Values that have no exact cell are reported by New.
func TableOf[T any](name string, rows []T) (Table, error) {
	mapping, err := rowmap.Of[T]()
	if err != nil {
		return Table{}, fmt.Errorf("memsource: TableOf %q: %w", name, err)
	}
	return Table{Table: mapping.Table(name), Rows: mapping.Page(rows)}, nil
}
