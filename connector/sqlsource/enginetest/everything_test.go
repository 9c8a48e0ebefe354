package enginetest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/situation"
	"github.com/connectorsdk/connector-sdk-go/internal/casetest"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// everything asks about each column of each table what can be asked of it, and compares the answers
// with those that the oracle computes from the rows.
type everything struct {
	*testing.T
	connection *platform.Connection
	tables     oracle.Tables
	extra      []wire.Value // operands besides the values of a column
	between    func()       // is called between two pages
}

var directions = []wire.Direction{wire.Asc, wire.Desc}

// askEverything asks a connector over a database. Each line of extra is an operand in JSON. The script between
// is run between two pages. If joined is set, every column is also joined with every column.
func askEverything(t *testing.T, db *database, o *sqlsource.Options, extra, between string, joined bool) {
	t.Helper()
	db = db.hosts() // a tenant connects for each request
	connection := connected(t, db.asked(t, o).Handler, db.tenant())
	a := &everything{T: t, connection: connection, tables: oracle.Tables{}, between: func() { db.execute(t, between) }}
	if extra = strings.TrimSpace(extra); extra != "" {
		a.extra = situation.Values(t, strings.ReplaceAll(extra, "\n", ", "))
	}
	for _, table := range connection.Tables {
		read := &oracle.Table{Name: table.Name, Columns: table.Columns(), PrimaryKey: table.PrimaryKey}
		read.Rows = a.rows(&wire.QueryRequest{Table: table.Name, Fields: names(read)})
		a.tables[table.Name] = read
	}
	for _, table := range a.tables {
		a.ask(&wire.SizeRequest{Table: table.Name})
		a.ask(&wire.CardinalityRequest{Table: table.Name, Columns: names(table)})
		a.inPages(table)
		for at := range table.Columns {
			a.column(table, at)
			for _, other := range a.tables {
				for _, to := range other.Columns {
					if field := table.Columns[at].Name; joined {
						a.ask(&wire.LinkHitRateRequest{FromTable: table.Name, FromColumn: field, ToTable: other.Name, ToColumn: to.Name})
						a.ask(&wire.QueryRequest{Table: table.Name, Fields: names(table)[:1], Joins: []wire.JoinHop{{
							FromTable: table.Name, FromField: field, ToTable: other.Name, ToField: to.Name,
							Fields: []wire.JoinField{{Field: names(other)[0], As: "other", Type: other.Columns[0].Type}},
						}}})
					}
				}
			}
		}
	}
}

func names(table *oracle.Table) (list []string) {
	for _, c := range table.Columns {
		list = append(list, c.Name)
	}
	return list
}

// rows returns the rows of an answer.
func (a *everything) rows(q *wire.QueryRequest) [][]wire.Value {
	a.Helper()
	rows, _, err := casetest.Rows(a.Context(), a.connection, q)
	require.NoError(a, err, q.Table)
	return rows
}

// ask sends one request and compares its answer.
func (a *everything) ask(r wire.Request) {
	a.Helper()
	err := casetest.Compare(a.Context(), a.tables, a.connection, r)
	var open *oracle.Undefined
	if err != nil && !errors.As(err, &open) {
		body, _ := wire.EncodeRequest(r)
		a.Errorf("%s: %v", body, err)
	}
}

// column asks about one column: filters with each operand, sorts, groups and measures.
func (a *everything) column(table *oracle.Table, at int) {
	c := table.Columns[at]
	operands := slices.Clone(a.extra)
	for _, row := range table.Rows {
		if v := row[at]; !v.IsNull() && len(operands) < len(a.extra)+3 && !slices.Contains(operands, v) {
			operands = append(operands, v)
		}
	}
	filters := []wire.Filter{{Field: c.Name, Op: wire.OpIsNull}, {Field: c.Name, Op: wire.OpNotNull}}
	ops := []wire.Op{wire.OpEq, wire.OpNeq, wire.OpGt, wire.OpGte, wire.OpLt, wire.OpLte, wire.OpIncludes, wire.OpStartsWith}
	if c.Type == wire.TypeArray || c.Type == wire.TypeJSON {
		ops = append(ops, wire.OpContains)
	}
	for _, v := range operands {
		for _, op := range ops {
			filters = append(filters, wire.Filter{Field: c.Name, Op: op, Value: v})
		}
		filters = append(filters, wire.Filter{Field: c.Name, Op: wire.OpNin, Values: []wire.Value{v}})
	}
	if len(operands) > 0 {
		filters = append(filters, wire.Filter{Field: c.Name, Op: wire.OpIn, Values: operands},
			wire.Filter{Field: c.Name, Op: wire.OpNin, Values: operands})
	}
	for i, f := range filters {
		where := wire.Where{And: []wire.Filter{f}}
		sort := []wire.SortKey{{Field: c.Name, Dir: directions[i%2]}}
		a.ask(&wire.CountRequest{Table: table.Name, Where: where})
		a.ask(&wire.QueryRequest{Table: table.Name, Where: where, Fields: names(table), Sort: sort, Limit: 3})
	}
	for _, dir := range directions {
		a.ask(&wire.QueryRequest{Table: table.Name, Fields: names(table), Sort: []wire.SortKey{{Field: c.Name, Dir: dir}}, Offset: 1})
	}
	if c.Type == wire.TypeArray || c.Type == wire.TypeJSON {
		return
	}
	measures := []wire.Measure{
		{Fn: wire.AggCount, As: "n"}, {Fn: wire.AggCount, Field: c.Name, As: "values"}, {Fn: wire.AggCountDistinct, Field: c.Name, As: "distinct"},
		{Fn: wire.AggMin, Field: c.Name, As: "min"}, {Fn: wire.AggMax, Field: c.Name, As: "max"},
	}
	if c.Type == wire.TypeNumber || c.Type == wire.TypeDecimal {
		measures = append(measures, wire.Measure{Fn: wire.AggSum, Field: c.Name, As: "sum"})
	}
	groups := [][]wire.GroupKey{{}, {{Field: c.Name, As: "k"}}}
	if c.Type == wire.TypeDate || c.Type == wire.TypeDatetime {
		groups = append(groups, []wire.GroupKey{{Field: c.Name, As: "k", Grain: wire.GrainMonth}})
	}
	for _, by := range groups {
		a.ask(&wire.AggregateRequest{Table: table.Name, GroupBy: by, Measures: measures, Limit: wire.AggregateLimit})
	}
}

// inPages reads a table in pages, without a sort and by each field and the one behind it: they are the
// whole, in its order.
func (a *everything) inPages(table *oracle.Table) {
	fields := names(table)
	if len(fields) == 0 {
		return
	}
	sorts := [][]wire.SortKey{{}}
	for i, field := range fields {
		key := wire.SortKey{Field: field, Dir: directions[(i+1)%2]}
		next := wire.SortKey{Field: fields[(i+1)%len(fields)], Dir: directions[(i/2+1)%2]}
		if sorts = append(sorts, []wire.SortKey{key}); len(fields) > 1 {
			sorts = append(sorts, []wire.SortKey{{Field: field, Dir: next.Dir}, next})
		}
	}
	read := func(sort []wire.SortKey, offset, limit int) []string {
		q := wire.QueryRequest{Table: table.Name, Fields: fields, Sort: sort, Offset: int64(offset), Limit: int64(limit)}
		return situation.Lines(a.rows(&q), true)
	}
	size := len(table.Rows)/5 + 1
	for _, sort := range sorts {
		whole := read(sort, 0, len(table.Rows)+1) // only a window has an order among rows that tie
		var pages []string
		for offset := 0; offset < len(whole); offset += size {
			pages = append(pages, read(sort, offset, size)...)
			a.between()
		}
		assert.ElementsMatch(a, situation.Lines(table.Rows, false), whole, table.Name)
		assert.Equal(a, strings.Join(whole, "\n"), strings.Join(pages, "\n"), "%s in pages by %v", table.Name, sort)
		assert.Empty(a, read(sort, len(whole), 3), "beyond the end of %s", table.Name)
	}
}
