package enginetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// pagesOf makes tables whose rows the platform's order does not tell apart.
type pagesOf struct {
	script string
	tables []pagedTable
}

type pagedTable struct {
	name   string
	rows   int
	fields []string
}

// TestPages reads such tables in pages without a sort, and sorted by their first
// field: the pages have all rows.
func TestPages(t *testing.T) {
	onEach(t, func(t *testing.T, e *engine) {
		db := e.create(t)
		db.execute(t, e.pages.script)
		caller := db.caller(t, nil).Unverified()
		for _, table := range e.pages.tables {
			for _, sort := range [][]wire.SortKey{{}, {{Field: table.fields[0], Dir: wire.Desc}}} {
				got := map[string]int{}
				const size = 7
				for offset := int64(0); offset < int64(table.rows); offset += size {
					answer, err := caller.Query(wire.QueryRequest{
						Table: table.name, Sort: sort, Fields: table.fields, Offset: offset, Limit: size,
					})
					require.NoError(t, err)
					require.True(t, answer.Served.Window)
					for _, row := range answer.Rows {
						got[fmt.Sprint(row)]++
					}
				}
				require.Len(t, got, table.rows, "table %s, sorted by %v", table.name, sort)
			}
		}
	})
}

// sortedRows is how many rows the tables of TestSortedPages have.
const sortedRows = 120

// sortedTables have the same rows: many with the same part, a third without one.
var sortedTables = map[string]string{
	"sorted_by_key":  "CREATE TABLE sorted_by_key (id INTEGER NOT NULL PRIMARY KEY, part INTEGER, day DATE, note INTEGER)",
	"sorted_by_text": "CREATE TABLE sorted_by_text (id VARCHAR(20) NOT NULL PRIMARY KEY, part INTEGER, day DATE, note INTEGER)",
	"sorted_by_all":  "CREATE TABLE sorted_by_all (id INTEGER NOT NULL, part INTEGER, day DATE, note INTEGER)",
}

// TestSortedPages reads tables whole and in pages, in every sort, and fails if the pages
// are not the whole: an engine reads the pages by an index, rows without a value by
// a statement of their own. Between two pages, all rows are written again.
func TestSortedPages(t *testing.T) {
	skipShort(t)
	onEach(t, func(t *testing.T, e *engine) {
		db := e.create(t)
		readSorted(t, db.caller(t, nil).Unverified(), db)
	})
}

func readSorted(t *testing.T, caller *connectortest.Tenant, db *database) {
	for table, create := range sortedTables {
		var rows []string
		for i := range sortedRows {
			part, day := "NULL", "NULL"
			if i%3 > 0 {
				part = fmt.Sprint(i * 31 % 7)
			}
			if i%5 > 0 {
				day = fmt.Sprintf("'2024-01-%02d'", 1+i*17%28)
			}
			rows = append(rows, fmt.Sprintf("('%d', %s, %s, %d)", 1000+i*7919%sortedRows, part, day, i%2))
		}
		db.execute(t, create+"; CREATE INDEX part_of_"+table+" ON "+table+" (part); CREATE INDEX day_of_"+table+" ON "+table+" (day); "+
			"INSERT INTO "+table+" VALUES "+strings.Join(rows, ", "))
	}
	asc := func(field string) wire.SortKey { return wire.SortKey{Field: field, Dir: wire.Asc} }
	desc := func(field string) wire.SortKey { return wire.SortKey{Field: field, Dir: wire.Desc} }
	for table := range sortedTables {
		for _, sort := range [][]wire.SortKey{
			{}, {asc("part")}, {desc("part")}, {desc("day")}, {asc("day"), desc("note")}, {desc("part"), asc("day")}, {desc("note"), asc("id")},
		} {
			for _, where := range [][]wire.Filter{
				{}, {{Field: "note", Op: wire.OpEq, Value: wire.Int(1)}},
			} {
				req := wire.QueryRequest{Table: table, Where: wire.Where{And: where}, Sort: sort, Fields: []string{"id", "part", "day"}}
				name := fmt.Sprintf("%s by %v", table, sort)
				comparePages(t, name, caller, req, func() {
					_, err := db.Exec("UPDATE " + table + " SET note = note")
					require.NoError(t, err)
				})
			}
		}
	}
}

// comparePages compares the pages of a query with the whole.
func comparePages(t *testing.T, name string, caller *connectortest.Tenant, req wire.QueryRequest, change func()) {
	read := func(offset, limit int64) []string {
		own := req
		own.Offset, own.Limit = offset, limit
		answer, err := caller.Query(own)
		require.NoError(t, err, name)
		require.True(t, answer.Served.Sort, name)
		var rows []string
		for _, row := range answer.Rows {
			rows = append(rows, fmt.Sprint(row))
		}
		return rows
	}
	whole := read(0, sortedRows+1) // without a sort only a window has an order
	if len(req.Sort) > 0 {
		whole = read(0, 0)
	}
	const size = 25
	var pages []string
	for offset := int64(0); offset < int64(len(whole)); offset += size {
		pages = append(pages, read(offset, size)...)
		change()
	}
	require.Equal(t, whole, pages, "%s, in pages", name)
	require.Empty(t, read(int64(len(whole)), 3), "%s, beyond the end", name)
	if len(whole) > 40 {
		require.Equal(t, whole[40:], read(40, 0), "%s, without a limit", name)
	}
}
