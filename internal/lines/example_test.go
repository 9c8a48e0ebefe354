package lines_test

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/internal/lines"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Members are picked from a positional row, in any order.
func ExampleLayout() {
	layout, err := lines.NewLayout([]string{"city", "id"}, []int{2, 0})
	if err != nil {
		fmt.Println(err)
		return
	}
	batch := layout.NewBatch()
	if err := batch.Append([]wire.Value{wire.Int(7), wire.Text("not asked for"), wire.Text("Oslo")}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d row, %d bytes: %s", batch.Len(), batch.Size(), batch.Line())
	// Output: 1 row, 34 bytes: {"rows":[{"city":"Oslo","id":7}]}
}
