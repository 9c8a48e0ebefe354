package memsource

import (
	"context"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Source is a set of tables in memory as a complete connector.Source: every
// optional route and flag of the protocol but a dialect. Use it for data that
// fits in memory, in tests, and as the reference for what a source of your own
// should answer.
//
// It is immutable, and safe for concurrent use. Credentials mean nothing to it:
// all tenants see the same tables. For tenants with tables of their own, make a
// Source each and choose in a source of your own (G11).
//
// It filters, sorts, joins and cuts the window itself and claims so. Rows that
// nothing sorts are answered in the order they were given in.
type Source struct {
	tables map[string]*table
	order  []*table
	budget Budget
}

var (
	_ connector.Source              = (*Source)(nil)
	_ connector.Describer           = (*Source)(nil)
	_ connector.Sizer               = (*Source)(nil)
	_ connector.Counter             = (*Source)(nil)
	_ connector.Aggregator          = (*Source)(nil)
	_ connector.DateAggregator      = (*Source)(nil)
	_ connector.CardinalityMeasurer = (*Source)(nil)
	_ connector.LinkMeasurer        = (*Source)(nil)
	_ connector.Joiner              = (*Source)(nil)
)

// Options configures a [Source].
type Options struct {
	// Budget bounds the memory of each aggregate and cardinality request;
	// the zero Budget is [DefaultBudget]. The source declines what outgrows
	// it, and the platform measures it itself. Joins and links need no budget:
	// they use an index of the column, which the source builds when it first
	// needs it, and keeps.
	Budget Budget
}

// New returns a source of the tables. It copies them, completes their
// descriptions (see [Table]) and checks them. The error names every fault by
// table, row and field: a missing or repeated name, an unknown type, a row with
// the wrong number of cells, a cell that cannot cross the wire, a key that names
// no field or that the rows contradict. Nil options mean the defaults.
func New(tables []Table, opts *Options) (*Source, error) {
	byName, order, err := newTables(tables)
	if err != nil {
		return nil, err
	}
	if opts == nil {
		opts = &Options{}
	}
	return &Source{tables: byName, order: order, budget: opts.Budget}, nil
}

func (s *Source) table(name string) (*table, error) {
	t, ok := s.tables[name]
	if !ok {
		return nil, connector.UnknownEntity("there is no table %s", wire.QuoteName(name))
	}
	return t, nil
}

// Check accepts every credential set.
func (s *Source) Check(context.Context, *wire.CheckRequest) error { return nil }

// Discover lists the tables in the order they were given in.
func (s *Source) Discover(context.Context, *wire.DiscoveryRequest) (*wire.Discovery, error) {
	d := &wire.Discovery{Tables: make([]wire.Table, 0, len(s.order))}
	for _, t := range s.order {
		d.Tables = append(d.Tables, cloneTable(&t.Table))
	}
	return d, nil
}

// Describe is one table as Discover lists it.
func (s *Source) Describe(_ context.Context, _ wire.Credentials, name string) (*wire.Table, error) {
	t, err := s.table(name)
	if err != nil {
		return nil, err
	}
	own := cloneTable(&t.Table)
	return &own, nil
}

// Size is the exact number of rows.
func (s *Source) Size(_ context.Context, req *wire.SizeRequest) (*wire.Size, error) {
	t, err := s.table(req.Table)
	if err != nil {
		return nil, err
	}
	return &wire.Size{Rows: int64(len(t.rows)), Exact: true}, nil
}

// Query answers rows filtered, sorted and cut.
func (s *Source) Query(ctx context.Context, req *connector.QueryRequest, out *connector.Rows) error {
	return s.query(ctx, req, out)
}

// QueryJoined is Query with joins. Rows of one base row follow each other in
// the order of the joined tables.
func (s *Source) QueryJoined(ctx context.Context, req *connector.QueryRequest, out *connector.Rows) error {
	return s.query(ctx, req, out)
}

func (s *Source) query(ctx context.Context, req *connector.QueryRequest, out *connector.Rows) error {
	t, err := s.table(req.Table)
	if err != nil {
		return err
	}
	join, err := s.join(t, JoinRequest{Table: req.Table, Joins: req.Joins, Fields: req.Fields, FieldTypes: req.FieldTypes})
	if err != nil {
		return err
	}
	base, err := t.matching(ctx, req.And, req.Or, req.FieldTypes)
	if err != nil {
		return err
	}
	offset, limit, _ := out.Claim(connector.Served{Filters: true, Sort: true}).Window()
	if len(req.Sort) > 0 {
		if base, err = t.sorted(base, req, offset, limit); err != nil {
			return err
		}
	}
	w := out.Begin(join.columns)
	return w.All(window(join.rows(base), offset, limit))
}

// matching are the rows that pass the filters. The context is looked at every
// so often: a scan of many rows that all fail would not notice its end
// otherwise.
func (t *table) matching(ctx context.Context, and []wire.Filter, or [][]wire.Filter, fieldTypes map[string]wire.Type) (Rows, error) {
	match, err := filter.Compile(wire.Where{And: and, Or: or, FieldTypes: fieldTypes}, t.columns)
	if err != nil {
		return nil, err
	}
	return func(yield func([]wire.Value, error) bool) {
		for i, row := range t.rows {
			if i%1024 == 0 && ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			if match.Match(row) && !yield(row, nil) {
				return
			}
		}
	}, nil
}

// all are all rows.
func (t *table) all(ctx context.Context) Rows {
	rows, _ := t.matching(ctx, nil, nil, nil) // nothing to compile, nothing to fail
	return rows
}

// sorted are rows in the requested order; no more of them than the window
// needs. A LEFT join yields at least one row for each, so that is enough for
// the window of a joined query too.
func (t *table) sorted(rows Rows, req *connector.QueryRequest, offset, limit int64) (Rows, error) {
	order, err := filter.CompileOrder(req.Sort, t.columns, req.FieldTypes, t.PrimaryKey)
	if err != nil {
		return nil, err
	}
	kept := ranking{order: order}
	if limit > 0 && offset+limit > 0 && offset+limit <= int64(len(t.rows)) {
		kept.most = int(offset + limit)
	}
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		kept.offer(row)
	}
	return RowsOf(kept.sorted()...), nil
}

// window cuts rows; a limit of zero is none.
func window(rows Rows, offset, limit int64) Rows {
	return func(yield func([]wire.Value, error) bool) {
		skip, left := offset, limit
		for row, err := range rows {
			if err == nil && skip > 0 {
				skip--
				continue
			}
			if !yield(row, err) || err != nil {
				return
			}
			if left--; left == 0 {
				return
			}
		}
	}
}

// join plans the request's joins over the tables' own indexes.
func (s *Source) join(t *table, req JoinRequest) (*joinPlan, error) {
	tables := make([]*table, len(req.Joins))
	columns := make([][]wire.Column, len(req.Joins))
	for i, j := range req.Joins {
		to, err := s.table(j.ToTable)
		if err != nil {
			return nil, err
		}
		tables[i], columns[i] = to, to.columns
	}
	plan, err := planJoin(t.columns, columns, req)
	if err != nil {
		return nil, err
	}
	for i := range plan.hops {
		h := &plan.hops[i]
		h.index = tables[i].index(h.toAt, h.numeric)
	}
	return plan, nil
}

// index is the index of a field, made when it is first asked for.
func (t *table) index(at int, numeric bool) *index {
	if numeric {
		return t.indexes[1][at]()
	}
	return t.indexes[0][at]()
}

// Count is exact for every filter.
func (s *Source) Count(ctx context.Context, req *wire.CountRequest) (int64, error) {
	t, err := s.table(req.Table)
	if err != nil {
		return 0, err
	}
	return Count(Relation{t.columns, t.all(ctx)}, req)
}

// Aggregate answers everything that [Aggregate] can, joins included.
func (s *Source) Aggregate(ctx context.Context, req *wire.AggregateRequest) (*connector.AggregateAnswer, error) {
	t, err := s.table(req.Table)
	if err != nil {
		return nil, err
	}
	rel := Relation{t.columns, t.all(ctx)}
	if len(req.Joins) > 0 {
		plan, err := s.join(t, JoinRequest{Table: req.Table, Joins: req.Joins, FieldTypes: req.FieldTypes})
		if err != nil {
			return nil, err
		}
		if err := s.joinedFlags(plan, req); err != nil {
			return nil, err
		}
		rel = Relation{plan.columns, plan.rows(rel.Rows)}
	}
	return Aggregate(rel, req, s.budget)
}

// joinedFlags declines what the flags of a joined table's fields forbid (E7).
// Those of the base table are looked at by the SDK.
func (s *Source) joinedFlags(plan *joinPlan, req *wire.AggregateRequest) error {
	forbidden := func(as string, flag func(*wire.Field) *bool) bool {
		at, matches := find(plan.columns, as)
		if matches == 0 || plan.columns[at].Hop == 0 {
			return false
		}
		n := plan.columns[at].Hop - 1
		first := slices.IndexFunc(plan.columns, func(c wire.Column) bool { return c.Hop == n+1 })
		f := s.tables[req.Joins[n].ToTable].Fields[plan.hops[n].out[at-first]]
		return flag(&f) != nil && !*flag(&f)
	}
	for _, g := range req.GroupBy {
		if forbidden(g.Field, func(f *wire.Field) *bool { return f.Groupable }) {
			return decline("field %q is not groupable", g.Field)
		}
	}
	for _, m := range req.Measures {
		if forbidden(m.Field, func(f *wire.Field) *bool { return f.Aggregatable }) {
			return decline("field %q is not aggregatable", m.Field)
		}
	}
	return nil
}

// AggregateByDate is Aggregate: it takes grains too.
func (s *Source) AggregateByDate(ctx context.Context, req *wire.AggregateRequest) (*connector.AggregateAnswer, error) {
	return s.Aggregate(ctx, req)
}

// Cardinality counts exactly; a column that outgrows the budget is nil.
func (s *Source) Cardinality(ctx context.Context, req *wire.CardinalityRequest) (map[string]*wire.Cardinality, error) {
	t, err := s.table(req.Table)
	if err != nil {
		return nil, err
	}
	return Cardinality(Relation{t.columns, t.all(ctx)}, req, s.budget)
}

// LinkHitRate measures exactly.
func (s *Source) LinkHitRate(ctx context.Context, req *wire.LinkHitRateRequest) (*wire.LinkHitRate, error) {
	from, err := s.table(req.FromTable)
	if err != nil {
		return nil, err
	}
	to, err := s.table(req.ToTable)
	if err != nil {
		return nil, err
	}
	fromAt, ok := from.places[req.FromColumn]
	if !ok {
		return nil, noField(req.FromTable, req.FromColumn)
	}
	toAt, ok := to.places[req.ToColumn]
	if !ok {
		return nil, noField(req.ToTable, req.ToColumn)
	}
	numeric := from.Fields[fromAt].Type.Numeric() && to.Fields[toAt].Type.Numeric()
	index := to.index(toAt, numeric)
	return hitRate(from.all(ctx), fromAt, numeric, req, func(key []byte) bool { return index.first(key) >= 0 })
}
