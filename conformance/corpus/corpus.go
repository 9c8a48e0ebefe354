package corpus

import (
	"slices"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// corpusName and corpusVersion are the name and the version in the manifest table. The version
// changes with every change of the data.
const (
	corpusName    = "connector-sdk-corpus"
	corpusVersion = "2"
)

// manifestName names the table that names the corpus: one row with its name, its
// version and its digest. A connector without it does not serve the corpus.
const manifestName = "conformance_manifest"

// A Table is one table of the corpus: its description and its rows, whose cells
// are in the order of its fields. It converts to a memsource.Table.
type Table struct {
	wire.Table
	Rows [][]wire.Value
}

// files are the tables whose rows are read from data, in the order of [Tables].
var files = [...]string{
	"types", "texts", "numbers", "moments", "documents",
	"customers", "orders", "order_lines", "employees",
	"codes", "code_links", "empty_table",
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
	tables := make([]Table, 1, len(files)+5)
	for _, name := range files {
		tables = append(tables, readTable(name))
	}
	tables = append(tables, manyTable(), wideTable(), largeTable(), lengthsTable())
	tables[0] = manifest(digest(tables[1:]))
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

func manifest(digest string) Table {
	t := readTable(manifestName)
	t.Rows = [][]wire.Value{{wire.Text(corpusName), wire.Text(corpusVersion), wire.Text(digest)}}
	return complete(t)
}

// complete sets the fields that are the same in all tables.
func complete(t Table) Table {
	rows := int64(len(t.Rows))
	t.RowCount = &rows
	t.StoresRows = true
	if t.ForeignKeys == nil {
		t.ForeignKeys = []wire.ForeignKey{}
	}
	for i := range t.Fields {
		t.Fields[i].SourceColumn = t.Fields[i].Name
	}
	return t
}
