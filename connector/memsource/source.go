package memsource

import (
	"context"
	"iter"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/measures"
	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Source is a complete connector.Source: it has every optional route and flag of
// the protocol but a dialect. [New] returns one for tables in memory, [Over] one for
// tables that it opens.
type Source struct {
	tables Tables
	budget int64
}

// Options configures a [Source].
type Options struct {
	// Budget bounds the bytes that each request keeps in memory for a join's tables, and as
	// many again for groups, their keys and distinct values. Zero is 64 MiB, about 900,000 short
	// keys or half a million short rows. A connector runs as many requests at once as
	// its document's limits.concurrency says, each with a budget of its own.
	//
	// The source declines an aggregate that exceeds the budget, and answers nil for a
	// column: the platform then measures it itself. It refuses a join or a link. Those
	// between tables of [New] need no budget: they use an index of the column, which
	// the source builds when it first needs it, and keeps.
	//
	// Bytes are estimated: a cell counts 32 plus the length of its text, a row 24
	// more, a key (of a group, a distinct value or a join) 64 plus its length. The
	// heap was measured to hold 0.7 to 1.1 times the estimate.
	Budget int64
}

// New returns a source of tables in memory. Use it for data that fits in memory, in
// tests, and as the reference for what a source of your own should answer.
//
// New copies the tables, completes their descriptions (see [Table]) and checks them.
// The error names every fault by table, row and field: a missing or repeated name, an
// unknown type, a row with the wrong number of cells, a cell that cannot cross the
// wire, a key of unknown fields
// or with the same values twice. Nil options mean the
// defaults.
//
// The source is immutable, and safe for concurrent use. It ignores credentials: all
// tenants see the same tables. For tenants with tables of their own, make a source for
// each and choose in a source of your own.
//
// It filters, sorts, joins and applies offset and limit (the window) itself, and
// claims so: the library has none of this left to do. Rows that no sort orders come
// in the order in which they were given.
func New(tables []Table, opts *Options) (*Source, error) {
	m, err := newMemory(tables)
	if err != nil {
		return nil, err
	}
	return Over(m, opts), nil
}

// Tables are what [Over] makes a source of. Its methods are called concurrently, as
// those of a connector.Source are.
type Tables interface {
	// Check and Discover are those of the source.
	Check(ctx context.Context, req *wire.CheckRequest) error
	Discover(ctx context.Context, req *wire.DiscoveryRequest) (*wire.Discovery, error)
	// Describe is that of connector.Describer.
	Describe(ctx context.Context, creds wire.Credentials, table string) (*wire.Table, error)
	// Open opens a table for one request. It returns connector.UnknownEntity for a
	// table that these credentials do not have.
	Open(ctx context.Context, creds wire.Credentials, table string) (*OpenTable, error)
}

// OpenTable is a table while a request reads it.
type OpenTable struct {
	// Columns are those of the table. A column's Type decides how its values compare.
	// If it is empty, that of Describe does. For a column that neither knows, the request's
	// fieldTypes decide, and else each value by itself [rule filter-8].
	Columns []wire.Column
	// Rows are all rows of the table, as cells in the order of Columns. They end with
	// the context of Open, and are read at most once. A non-nil error comes last. The
	// slice, and the text of its cells, may be reused for the next row: what is kept
	// is copied.
	Rows iter.Seq2[[]wire.Value, error]
	// RowCount is the exact number of rows, or nil if that is not known. It is the
	// size, and the count of a request without filters.
	RowCount *int64
	// Counted, if set, returns the counts of a column if they are known without
	// reading the rows.
	Counted func(column string) (counts wire.Cardinality, known bool)
	// Close, if set, is called when the request is done with the table.
	Close func()

	memory *table // of New
}

// Over returns a complete source of tables that can be read row by row, such as
// files: you check credentials, describe tables and open them, and Over answers all
// routes from their rows. Nil options mean the defaults.
//
//	type files struct{ dir string }
//
//	func (f files) Open(ctx context.Context, creds wire.Credentials, name string) (*memsource.OpenTable, error) {
//		file, err := f.open(creds, name)
//		if err != nil {
//			return nil, connector.UnknownEntity("there is no table %s", name)
//		}
//		return &memsource.OpenTable{Columns: file.columns, Rows: file.rows(ctx), Close: file.close}, nil
//	}
//
//	source := memsource.Over(files{"data"}, nil)
//
// A query streams the rows of the base table and claims no part of the request as
// done, so the library filters, sorts and cuts them. A join reads the tables of its
// hops into memory, within the budget, and then streams the base table. Counts,
// aggregates, cardinalities and links are computed from the rows, exactly: numbers
// compare and add as decimal digits, never as floats. An aggregate that cannot be exact,
// such as a sum over text, is declined, and the platform computes it.
//
// If your upstream can do a part of it, embed the source in a type of your own and
// replace the method, such as Query or Count.
func Over(tables Tables, opts *Options) *Source {
	s := &Source{tables: tables}
	if opts != nil {
		s.budget = opts.Budget
	}
	return s
}

// Check asks the tables.
func (s *Source) Check(ctx context.Context, req *wire.CheckRequest) error {
	return s.tables.Check(ctx, req)
}

// Discover asks the tables.
func (s *Source) Discover(ctx context.Context, req *wire.DiscoveryRequest) (*wire.Discovery, error) {
	return s.tables.Discover(ctx, req)
}

// Describe asks the tables.
func (s *Source) Describe(ctx context.Context, creds wire.Credentials, table string) (*wire.Table, error) {
	return s.tables.Describe(ctx, creds, table)
}

// open opens a table. The caller closes it.
func (s *Source) open(ctx context.Context, creds wire.Credentials, name string) (*OpenTable, error) {
	t, err := s.tables.Open(ctx, creds, name)
	if err != nil {
		return nil, err
	}
	if t.Close == nil {
		t.Close = func() {}
	}
	untyped := func(c wire.Column) bool { return c.Type == "" }
	if !slices.ContainsFunc(t.Columns, untyped) {
		return t, nil
	}
	described, err := s.tables.Describe(ctx, creds, name)
	if err != nil {
		t.Close()
		return nil, err
	}
	t.Columns = slices.Clone(t.Columns)
	for i, c := range t.Columns {
		if f := described.Field(c.Name); f != nil && c.Type == "" {
			t.Columns[i].Type = f.Type
		}
	}
	return t, nil
}

// relation returns the table with its indexes, if it is in memory.
func (t *OpenTable) relation() relation.Relation {
	rel := relation.Relation{Columns: t.Columns, Rows: t.Rows}
	if t.memory != nil {
		rel.Index = t.memory.index
	}
	return rel
}

// openHops opens the tables of a request's hops. The caller calls done.
func (s *Source) openHops(
	ctx context.Context, creds wire.Credentials, joins []wire.JoinHop,
) (hops []relation.Relation, done func(), err error) {
	var opened []*OpenTable
	done = func() {
		for _, t := range opened {
			t.Close()
		}
	}
	for _, j := range joins {
		t, err := s.open(ctx, creds, j.ToTable)
		if err != nil {
			done()
			return nil, nil, err
		}
		opened = append(opened, t)
		hops = append(hops, t.relation())
	}
	return hops, done, nil
}

// Size returns the exact number of rows, or declines if the table does not know it.
func (s *Source) Size(ctx context.Context, req *wire.SizeRequest) (*wire.Size, error) {
	t, err := s.open(ctx, req.Credentials, req.Table)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	if t.RowCount == nil {
		return nil, connector.ErrDecline
	}
	return &wire.Size{Rows: *t.RowCount, Exact: true}, nil
}

// Query answers the rows of a table.
func (s *Source) Query(ctx context.Context, req *connector.Query, out *connector.Rows) error {
	return s.QueryJoined(ctx, req, out)
}

// QueryJoined answers like Query, with joins. The rows of one base row follow
// each other in the order of the joined tables.
func (s *Source) QueryJoined(ctx context.Context, req *connector.Query, out *connector.Rows) error {
	t, err := s.open(ctx, req.Credentials, req.Table)
	if err != nil {
		return err
	}
	defer t.Close()
	hops, done, err := s.openHops(ctx, req.Credentials, req.Joins)
	if err != nil {
		return err
	}
	defer done()
	base := t.relation()
	var rows relation.Rows // of the base table, once they are filtered and sorted
	if t.memory != nil {
		base.Rows = func(yield func([]wire.Value, error) bool) { rows(yield) }
	}
	joined := base
	if len(hops) > 0 {
		joins := relation.JoinRequest{Table: req.Table, Joins: req.Joins, Fields: req.Fields, FieldTypes: req.FieldTypes}
		if joined, err = measures.Join(base, joins, hops, s.budget); err != nil {
			return err
		}
	}
	if t.memory == nil {
		return out.Begin(joined.Columns).All(joined.Rows)
	}
	if rows, err = t.memory.matching(ctx, req.Where); err != nil {
		return err
	}
	offset, limit, _ := out.Claim(connector.Applied{Filters: true, Sort: true}).TakeWindow()
	if len(req.Sort) > 0 {
		if rows, err = t.memory.sorted(rows, req, offset, limit); err != nil {
			return err
		}
	}
	return out.Begin(joined.Columns).All(window(joined.Rows, offset, limit))
}

// window cuts rows; a limit of zero means none.
func window(rows relation.Rows, offset, limit int64) relation.Rows {
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

// Count returns the exact number of matching rows.
func (s *Source) Count(ctx context.Context, req *wire.CountRequest) (int64, error) {
	t, err := s.open(ctx, req.Credentials, req.Table)
	if err != nil {
		return 0, err
	}
	defer t.Close()
	if t.RowCount != nil && !req.HasFilters() {
		return *t.RowCount, nil
	}
	return measures.Count(t.relation(), req)
}

// Aggregate answers everything that measures.Aggregate can, joins included.
func (s *Source) Aggregate(ctx context.Context, req *wire.AggregateRequest) ([][]wire.Value, error) {
	t, err := s.open(ctx, req.Credentials, req.Table)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	rel := t.relation()
	if len(req.Joins) > 0 {
		hops, done, err := s.openHops(ctx, req.Credentials, req.Joins)
		if err != nil {
			return nil, err
		}
		defer done()
		joins := relation.JoinRequest{Table: req.Table, Joins: req.Joins, FieldTypes: req.FieldTypes}
		if rel, err = measures.Join(rel, joins, hops, s.budget); err != nil {
			return nil, err
		}
	}
	return measures.Aggregate(rel, req, s.budget)
}

// Cardinality counts exactly; a column that exceeds the budget is nil.
func (s *Source) Cardinality(ctx context.Context, req *wire.CardinalityRequest) (map[string]*wire.Cardinality, error) {
	t, err := s.open(ctx, req.Credentials, req.Table)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	if t.Counted == nil {
		return measures.Cardinality(t.relation(), req, s.budget)
	}
	answer := map[string]*wire.Cardinality{}
	open := *req
	open.Columns = nil
	for _, name := range req.Columns {
		if counts, known := t.Counted(name); known {
			answer[name] = &counts
		} else {
			open.Columns = append(open.Columns, name)
		}
	}
	if len(open.Columns) == 0 {
		return answer, nil
	}
	measured, err := measures.Cardinality(t.relation(), &open, s.budget)
	for name, counts := range measured {
		answer[name] = counts
	}
	return answer, err
}

// LinkHitRate measures exactly.
func (s *Source) LinkHitRate(ctx context.Context, req *wire.LinkHitRateRequest) (*wire.LinkHitRate, error) {
	from, err := s.open(ctx, req.Credentials, req.FromTable)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	to, err := s.open(ctx, req.Credentials, req.ToTable)
	if err != nil {
		return nil, err
	}
	defer to.Close()
	return measures.LinkHitRate(from.relation(), to.relation(), req, s.budget)
}
