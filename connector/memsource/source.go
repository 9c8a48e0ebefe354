package memsource

import (
	"context"
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Source is a complete connector.Source over tables in memory: it has every
// optional route and flag of the protocol but a dialect. Use it for data that
// fits in memory, in tests, and as the reference for what a source of your own
// should answer.
//
// It is immutable, and safe for concurrent use. It ignores credentials: all
// tenants see the same tables. For tenants with tables of their own, make a
// Source for each and choose in a source of your own.
//
// It filters, sorts, joins and applies offset and limit (the window) itself, and
// claims so: the library has none of this left to do. Rows that no sort orders
// come in the order in which they were given.
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

// Discover lists the tables in the order in which they were given.
func (s *Source) Discover(context.Context, *wire.DiscoveryRequest) (*wire.Discovery, error) {
	d := &wire.Discovery{Tables: make([]wire.Table, 0, len(s.order))}
	for _, t := range s.order {
		d.Tables = append(d.Tables, cloneTable(&t.Table))
	}
	return d, nil
}

// Describe returns one table as Discover lists it.
func (s *Source) Describe(_ context.Context, _ wire.Credentials, name string) (*wire.Table, error) {
	t, err := s.table(name)
	if err != nil {
		return nil, err
	}
	own := cloneTable(&t.Table)
	return &own, nil
}

// Size returns the exact number of rows.
func (s *Source) Size(_ context.Context, req *wire.SizeRequest) (*wire.Size, error) {
	t, err := s.table(req.Table)
	if err != nil {
		return nil, err
	}
	return &wire.Size{Rows: int64(len(t.rows)), Exact: true}, nil
}

// Query answers rows filtered, sorted and cut.
func (s *Source) Query(ctx context.Context, req *connector.QueryRequest, out *connector.Rows) error {
	return s.QueryJoined(ctx, req, out)
}

// QueryJoined answers like Query, with joins. The rows of one base row follow
// each other in the order of the joined tables.
func (s *Source) QueryJoined(ctx context.Context, req *connector.QueryRequest, out *connector.Rows) error {
	t, err := s.table(req.Table)
	if err != nil {
		return err
	}
	join, err := s.plan(t, JoinRequest{Table: req.Table, Joins: req.Joins, Fields: req.Fields, FieldTypes: req.FieldTypes})
	if err != nil {
		return err
	}
	base, err := t.matching(ctx, req.Where)
	if err != nil {
		return err
	}
	offset, limit, _ := out.Claim(connector.Served{Filters: true, Sort: true}).TakeWindow()
	if len(req.Sort) > 0 {
		if base, err = t.sorted(base, req, offset, limit); err != nil {
			return err
		}
	}
	w := out.Begin(join.columns)
	return w.All(window(join.rows(base), offset, limit))
}

// matching returns the rows that pass the filters. They end with the context, so
// that a scan of many rows that match nothing ends too.
func (t *table) matching(ctx context.Context, where wire.Where) (Rows, error) {
	match, err := filter.Compile(where, t.columns)
	if err != nil {
		return nil, err
	}
	return func(yield func([]wire.Value, error) bool) {
		for i, row := range t.rows {
			if i%1024 == 0 && ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			ok, err := match.Match(row)
			if err != nil {
				yield(nil, fmt.Errorf("memsource: %w", err))
				return
			}
			if ok && !yield(row, nil) {
				return
			}
		}
	}, nil
}

// relation returns the columns and all rows.
func (t *table) relation(ctx context.Context) Relation {
	rows, _ := t.matching(ctx, wire.Where{}) // without filters nothing can fail
	return Relation{t.columns, rows}
}

// sorted returns rows in the requested order, and no more of them than the
// window needs. A LEFT join yields at least one row for each, so that is enough
// for the window of a joined query too.
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

// window cuts rows; a limit of zero means none.
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

// plan plans the joins over the indexes of the tables.
func (s *Source) plan(t *table, req JoinRequest) (*joinPlan, error) {
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

// index returns the index of a field. It is built when it is first used.
func (t *table) index(at int, numeric bool) *index {
	if numeric {
		return t.indexes[1][at]()
	}
	return t.indexes[0][at]()
}

// Count returns the exact number of matching rows.
func (s *Source) Count(ctx context.Context, req *wire.CountRequest) (int64, error) {
	t, err := s.table(req.Table)
	if err != nil {
		return 0, err
	}
	return Count(t.relation(ctx), req)
}

// Aggregate answers everything that [Aggregate] can, joins included.
func (s *Source) Aggregate(ctx context.Context, req *wire.AggregateRequest) ([][]wire.Value, error) {
	t, err := s.table(req.Table)
	if err != nil {
		return nil, err
	}
	rel := t.relation(ctx)
	if len(req.Joins) > 0 {
		plan, err := s.plan(t, JoinRequest{Table: req.Table, Joins: req.Joins, FieldTypes: req.FieldTypes})
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

// joinedFlags declines what the flags of a joined table's fields forbid
// [rule aggregate-7a]. The library checks those of the base table.
func (s *Source) joinedFlags(plan *joinPlan, req *wire.AggregateRequest) error {
	places := namesOf(plan.columns)
	firsts := map[int]int{} // the first column of each hop
	for at, c := range slices.Backward(plan.columns) {
		firsts[c.Hop] = at
	}
	forbidden := func(as string, flag func(*wire.Field) *bool) bool {
		at, matches := places.find(as)
		if matches == 0 || plan.columns[at].Hop == 0 {
			return false
		}
		n := plan.columns[at].Hop - 1
		f := s.tables[req.Joins[n].ToTable].Fields[plan.hops[n].out[at-firsts[n+1]]]
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

// Cardinality counts exactly; a column that outgrows the budget is nil.
func (s *Source) Cardinality(ctx context.Context, req *wire.CardinalityRequest) (map[string]*wire.Cardinality, error) {
	t, err := s.table(req.Table)
	if err != nil {
		return nil, err
	}
	return Cardinality(t.relation(ctx), req, s.budget)
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
	fromAt, toAt, numeric, err := linkColumns(from.columns, to.columns, req)
	if err != nil {
		return nil, err
	}
	index := to.index(toAt, numeric)
	return hitRate(from.relation(ctx).Rows, fromAt, numeric, req, func(key []byte) bool { return index.first(key) >= 0 })
}
