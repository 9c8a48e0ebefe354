package corpus

import (
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// SlowTable is a table that a connector under test may serve besides [Tables],
// so that heartbeats and deadlines can be observed. Every query of it waits
// [SlowStall] before the first row, and so does a count, an aggregate or a
// measurement, unless the connector knows the answer without looking.
const (
	SlowTable = "slow"
	SlowStall = 25 * time.Second
)

// Slow returns the table [SlowTable]. It is not part of [Tables] or of the
// digest. Without it, the checks that need it are skipped, and the report says so.
func Slow() Table {
	return complete(Table{
		Table: wire.Table{
			Name:              SlowTable,
			SourceDescription: "Three rows, the first of which takes 25 seconds to come.",
			PrimaryKey:        []string{"id"},
			Fields: []wire.Field{
				{Name: "id", Type: wire.TypeNumber, Unique: true, SourceDescription: "The number of the row."},
				{Name: "name", Type: wire.TypeString, SourceDescription: "A text."},
			},
		},
		Rows: [][]wire.Value{
			{wire.Int(1), wire.Text("one")},
			{wire.Int(2), wire.Text("two")},
			{wire.Int(3), wire.Text("three")},
		},
	})
}
