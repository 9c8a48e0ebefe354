package killtest

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// pagedTables returns the data of a warehouse: movements that fill many upstream pages,
// of parts whose parents are parts too, and a view.
func pagedTables() []memsource.Table {
	parts := memsource.Table{Table: wire.Table{
		Name: "parts", SourceDescription: "What is stored.", PrimaryKey: []string{"no"},
		ForeignKeys: []wire.ForeignKey{{Field: "parent", TargetTable: "parts", TargetField: "no"}},
		Fields: []wire.Field{
			{Name: "no", Type: wire.TypeNumber, Unique: true}, {Name: "parent", Type: wire.TypeNumber},
			{Name: "label", Type: wire.TypeString}, {Name: "weight", Type: wire.TypeDecimal},
		},
	}}
	moves := memsource.Table{Table: wire.Table{
		Name: "moves", SourceDescription: "What came and went.", PrimaryKey: []string{"id"},
		ForeignKeys: []wire.ForeignKey{{Field: "part", TargetTable: "parts", TargetField: "no"}},
		Fields: []wire.Field{
			{Name: "id", Type: wire.TypeNumber, Unique: true}, {Name: "part", Type: wire.TypeNumber},
			{Name: "amount", Type: wire.TypeNumber}, {Name: "price", Type: wire.TypeDecimal},
			{Name: "at", Type: wire.TypeDatetime}, {Name: "day", Type: wire.TypeDate}, {Name: "code", Type: wire.TypeString},
		},
	}}
	for i := range 60 {
		parent := wire.Null()
		if i%3 > 0 {
			parent = wire.Int(int64(i/3 + 1))
		}
		parts.Rows = append(parts.Rows, []wire.Value{
			wire.Int(int64(i + 1)), parent, wire.Text(fmt.Sprintf("part %d", i%50)), wire.Decimal(fmt.Sprintf("%d.%03d", i%7, 37*i%1000)),
		})
	}
	first := time.Date(2022, time.January, 1, 0, 0, 0, 0, time.UTC)
	for i := range 1230 {
		part := wire.Int(int64(i*7%66 + 1)) // some have no such part
		if i%41 == 7 {
			part = wire.Null()
		}
		moves.Rows = append(moves.Rows, []wire.Value{
			wire.Int(int64(1000 + i)), part, wire.Int(int64(i%23 - 4)), wire.Decimal(fmt.Sprintf("%d.%02d", i%97, 13*i%100)),
			wire.DatetimeWidth(first.Add(time.Duration(i)*23*time.Hour+59*time.Minute), 0), wire.Date(first.AddDate(0, 0, i)),
			wire.Text(fmt.Sprintf("%c%d", 'A'+i%5, i*i%1230)),
		})
	}
	return []memsource.Table{moves, parts}
}

// pagedSource is a connector over an upstream that filters, sorts and cuts by itself, and
// answers in pages. It claims all of it.
type pagedSource struct {
	*memsource.Source
	tables oracle.Tables
	list   []wire.Table

	request func(req *connector.Query, limit, offset *int64)                 // before the upstream is asked
	order   func(req *connector.Query, t *oracle.Table, offset, limit int64) // of sorted rows, in place
	fetch   func(req *connector.Query, rows [][]wire.Value) [][]wire.Value
	answer  func(req *connector.Query, t *oracle.Table)

	aggregate func(req *wire.AggregateRequest) // before it is folded
	groups    func(req *wire.AggregateRequest, rows [][]wire.Value) [][]wire.Value
	counted   func(req *wire.CountRequest)
	seen      func(req *connector.Query) oracle.Tables // what the upstream answers a query from
}

func newPagedSource() *pagedSource { return pagedSourceOf(pagedTables()...) }

func pagedSourceOf(tables ...memsource.Table) *pagedSource {
	d := &pagedSource{Source: source(tables...), tables: oracle.Tables{}}
	for _, t := range tables {
		d.list = append(d.list, t.Table)
		d.tables[t.Name] = &oracle.Table{Name: t.Name, Columns: t.Columns(), PrimaryKey: t.PrimaryKey, Rows: t.Rows}
	}
	return d
}

// pagedWith returns a pagedSource in which something is changed, as a connector that leaves
// out some endpoints.
func pagedWith(change func(*pagedSource), without ...wire.Endpoint) func() http.Handler {
	return pagedOver(pagedTables, change, without...)
}

func pagedOver(tables func() []memsource.Table, change func(*pagedSource), without ...wire.Endpoint) func() http.Handler {
	return func() http.Handler {
		d := pagedSourceOf(tables()...)
		change(d)
		return serve(connector.Definition{}, d, &connector.Options{Omit: connector.Omit{Endpoints: without}})
	}
}

func (d *pagedSource) Query(ctx context.Context, asked *connector.Query, out *connector.Rows) error {
	return d.query(asked, out)
}

func (d *pagedSource) QueryJoined(_ context.Context, asked *connector.Query, out *connector.Rows) error {
	return d.query(asked, out)
}

func (d *pagedSource) query(asked *connector.Query, out *connector.Rows) error {
	req := *asked
	req.And, req.Sort = filtersOf(req.And), slices.Clone(req.Sort)
	offset, limit, windowed := out.Claim(connector.Applied{Filters: true, Sort: true}).TakeWindow()
	if !windowed {
		offset, limit = 0, 0
	}
	if d.request != nil {
		d.request(&req, &limit, &offset)
	}
	all := &wire.QueryRequest{Table: req.Table, Where: req.Where, Sort: req.Sort, Joins: req.Joins}
	for _, c := range d.tables[req.Table].Columns {
		all.Fields = append(all.Fields, c.Name)
	}
	tables := d.tables
	if d.seen != nil {
		tables = d.seen(&req)
	}
	t, err := oracle.Query(tables, all)
	if err != nil {
		return connector.Unsupported("%v", err)
	}
	if d.order != nil && len(req.Sort) > 0 {
		d.order(&req, t, offset, limit)
	}
	from, to := cut(offset, limit, len(t.Rows))
	t.Rows = t.Rows[from:to]
	if d.fetch != nil {
		t.Rows = d.fetch(&req, t.Rows)
	}
	if d.answer != nil {
		d.answer(asked, t)
	}
	return out.Begin(t.Columns).All(memsource.RowsOf(t.Rows...))
}

// eachPage passes the rows through edit in pages, as the upstream answers them.
func eachPage(rows [][]wire.Value, size int, edit func(page [][]wire.Value) [][]wire.Value) (all [][]wire.Value) {
	for page := range slices.Chunk(rows, size) {
		all = append(all, edit(page)...)
	}
	return all
}

func (d *pagedSource) Count(ctx context.Context, asked *wire.CountRequest) (int64, error) {
	req := *asked
	req.And = filtersOf(req.And)
	if d.counted != nil {
		d.counted(&req)
	}
	return oracle.Count(d.tables, &req)
}

func (d *pagedSource) Aggregate(_ context.Context, asked *wire.AggregateRequest) ([][]wire.Value, error) {
	req := *asked
	req.GroupBy, req.Measures = slices.Clone(req.GroupBy), slices.Clone(req.Measures)
	if d.aggregate != nil {
		d.aggregate(&req)
	}
	t, err := oracle.Aggregate(d.tables, &req)
	if err != nil {
		return nil, connector.ErrDecline
	}
	if d.groups != nil {
		t.Rows = d.groups(asked, t.Rows)
	}
	return append([][]wire.Value{}, t.Rows...), nil // no groups are an answer, nil declines
}

// retyped returns the tables with the types that a request states for their fields.
func (d *pagedSource) retyped(req *connector.Query) oracle.Tables {
	all := oracle.Tables{}
	for name, t := range d.tables {
		other := *t
		other.Columns = slices.Clone(t.Columns)
		for i, c := range other.Columns {
			if kind, ok := req.FieldTypes[c.Name]; ok {
				other.Columns[i].Type = kind
			}
		}
		all[name] = &other
	}
	return all
}
