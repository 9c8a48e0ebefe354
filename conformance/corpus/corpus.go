package corpus

import (
	"slices"
	"sync"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A Table is one table of the corpus: its description and its rows, whose cells
// are in the order of its fields. It converts to a memsource.Table.
type Table struct {
	wire.Table
	Rows [][]wire.Value
}

// names are the tables of data, in the order of [Tables]. The first, the manifest, has one row
// with the name of the corpus, its version, which changes with every change of the data, and the
// digest of the data. A connector without it does not serve the corpus.
var names = [...]string{
	"conformance_manifest", "types", "texts", "numbers", "moments", "documents",
	"customers", "orders", "order_lines", "employees",
	"codes", "code_links", "empty_table",
	"many", "wide", "large", "lengths",
}

// Tables returns a copy of the whole corpus, the manifest first.
//
// The descriptions have no samples and no statistics: a connector may state any.
func Tables() []Table {
	tables := slices.Clone(whole())
	for i := range tables {
		tables[i] = tables[i].clone()
	}
	return tables
}

// whole returns the corpus, which is read once and never changed.
var whole = sync.OnceValue(func() []Table {
	tables := make([]Table, len(names))
	for i, name := range names {
		tables[i] = readTable(name)
	}
	return tables
})

func (t Table) clone() Table {
	t.PrimaryKey, t.ForeignKeys, t.Fields = slices.Clone(t.PrimaryKey), slices.Clone(t.ForeignKeys), slices.Clone(t.Fields)
	rows := int64(len(t.Rows))
	t.RowCount = &rows
	t.Rows = slices.Clone(t.Rows)
	for i, row := range t.Rows {
		t.Rows[i] = slices.Clone(row)
	}
	return t
}

// SlowStall is how long every query of the table [Slow] waits before the first row, and so does a count, an aggregate
// or a measurement, unless the connector knows the answer without looking.
const SlowStall = 25 * time.Second

// Slow returns a table, called slow, that a connector under test may serve besides
// [Tables], so that heartbeats and deadlines can be observed. It is not part of the
// digest. Without it, the checks that need it are skipped, and the report says so.
func Slow() Table { return readSlow().clone() }

var readSlow = sync.OnceValue(func() Table { return readTable("slow") })
