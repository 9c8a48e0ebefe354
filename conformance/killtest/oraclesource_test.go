package killtest

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unsafe"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// twist is what one connector of oracleSource gets wrong; the zero twist is right.
// Each hook is told the right result and answers another.
type twist struct {
	omit connector.Omit

	discovery func(tables []wire.Table)
	// The parts of a query, in the order in which they are done.
	request func(req *connector.Query, limit, offset *int64) // before anything else; no limit is 0
	seen    func(req *connector.Query) oracle.Tables         // what the query is answered from
	match   func(table string, cell wire.Value, f wire.Filter, t wire.Type, right bool) bool
	passes  func(and []wire.Filter, or [][]wire.Filter, holds func(wire.Filter) bool) bool
	order   func(req *connector.Query, t *oracle.Table) // in place, already right
	joined  func(req *connector.Query, t *oracle.Table)
	rows    func(req *connector.Query, t *oracle.Table, offset, limit int64) // just before they are cut
	window  func(offset, limit int64, rows int) (from, to int)
	answer  func(req *connector.Query, t *oracle.Table) // the rows that are left, a copy
	early   bool                                        // the window is cut before the filters

	counted     func(req *wire.CountRequest) // before they are
	count       func(req *wire.CountRequest, right int64) int64
	aggregate   func(req *wire.AggregateRequest)                  // before it is folded
	folded      func(req *wire.AggregateRequest) oracle.Tables    // what is folded
	groups      func(req *wire.AggregateRequest, t *oracle.Table) // afterwards
	size        func(req *wire.SizeRequest, right int64) int64
	cardinality func(t *oracle.Table, column string, right *wire.Cardinality)
	link        func(l *oracleSource, req *wire.LinkHitRateRequest, right *wire.LinkHitRate)
}

// asking changes a query before it is answered.
func asking(change func(req *connector.Query)) twist {
	return twist{request: func(req *connector.Query, _, _ *int64) { change(req) }}
}

// askingForPages changes a query that has a limit.
func askingForPages(change func(req *connector.Query)) twist {
	return twist{request: func(req *connector.Query, limit, _ *int64) {
		if *limit > 0 {
			change(req)
		}
	}}
}

// where does something only with the requests for which a condition holds.
func where[R any](holds func(req R) bool, do func(req R)) func(req R) {
	return func(req R) {
		if holds(req) {
			do(req)
		}
	}
}

// joins and aggregatesJoins report whether a request has hops.
func joins(req *connector.Query) bool { return len(req.Joins) > 0 }

func aggregatesJoins(req *wire.AggregateRequest) bool { return len(req.Joins) > 0 }

// eachRow edits every row of an answer.
func eachRow(edit func(req *connector.Query, t *oracle.Table, row []wire.Value)) func(*connector.Query, *oracle.Table) {
	return func(req *connector.Query, t *oracle.Table) {
		for _, row := range t.Rows {
			edit(req, t, row)
		}
	}
}

// A comparison orders two cells of a column for a direction.
type comparison = func(a, b wire.Value, t wire.Type, dir wire.Direction) int

// reorder sorts rows of a table by keys in another order. Rows that tie stay as they stand.
func reorder(t *oracle.Table, rows [][]wire.Value, keys []wire.SortKey, compare comparison) {
	slices.SortStableFunc(rows, func(a, b []wire.Value) (order int) {
		for _, k := range keys {
			c := t.Index(k.Field)
			order = cmp.Or(order, compare(a[c], b[c], t.Columns[c].Type, k.Dir))
		}
		return order
	})
}

// reordered sorts in another order by all keys of a query.
func reordered(compare comparison) func(*connector.Query, *oracle.Table) {
	return func(req *connector.Query, t *oracle.Table) { reorder(t, t.Rows, req.Sort, compare) }
}

// nullsToFront puts rows that are null in the first key before the others.
func nullsToFront(req *connector.Query, t *oracle.Table) {
	reorder(t, t.Rows, req.Sort[:1], func(a, b wire.Value, _ wire.Type, _ wire.Direction) int { return nullOrder(b) - nullOrder(a) })
}

// byText compares cells as texts.
func byText(a, b wire.Value, _ wire.Type) int { return strings.Compare(a.String(), b.String()) }

// changed compares cells in the right order, but after a change.
func changed(change func(wire.Value) wire.Value) comparison {
	return nullsLast(func(a, b wire.Value, t wire.Type) int { return inOrder(change(a), change(b), t) })
}

// folding changes what is to be aggregated.
func folding(change func(req *wire.AggregateRequest)) twist { return twist{aggregate: change} }

// eachFilter changes the filters of and with some operators, all of them if none is given.
func eachFilter(change func(wire.Filter) wire.Filter, ops ...wire.Op) twist {
	return asking(func(req *connector.Query) {
		for i, f := range req.And {
			if len(ops) == 0 || slices.Contains(ops, f.Op) {
				req.And[i] = change(f)
			}
		}
	})
}

// upwards sorts by a field, or by any if it is empty, upwards only.
func upwards(field string) twist {
	return asking(func(req *connector.Query) {
		for i, k := range req.Sort {
			if field == "" || k.Field == field {
				req.Sort[i].Dir = wire.Asc
			}
		}
	})
}

// combining combines other filters than those of the request.
func combining(others func(and []wire.Filter, or [][]wire.Filter) ([]wire.Filter, [][]wire.Filter)) twist {
	return twist{passes: func(and []wire.Filter, or [][]wire.Filter, holds func(wire.Filter) bool) bool {
		and, or = others(and, or)
		return rightly(and, or, holds)
	}}
}

// beginnings returns the first filters of each group.
func beginnings(groups [][]wire.Filter, most int) (cut [][]wire.Filter) {
	for _, group := range groups {
		cut = append(cut, group[:min(len(group), most)])
	}
	return cut
}

// measuredAs takes a function of a field, of any if it is empty, for another one.
func measuredAs(from, to wire.AggFunc, field string) twist {
	return folding(func(req *wire.AggregateRequest) {
		for i, m := range req.Measures {
			if m.Fn == from && (field == "" || m.Field == field) {
				req.Measures[i].Fn = to
			}
		}
	})
}

// miscounted counts wrongly where a condition holds.
func miscounted(holds func(req *wire.CountRequest) bool, wrong func(right int64) int64) twist {
	return twist{count: func(req *wire.CountRequest, right int64) int64 {
		if holds(req) {
			return wrong(right)
		}
		return right
	}}
}

// firstRows keeps the first row of those with the same key.
func firstRows(t *oracle.Table, key func(row []wire.Value) string) {
	seen := map[string]bool{}
	t.Rows = slices.DeleteFunc(t.Rows, func(row []wire.Value) bool {
		id := key(row)
		again := seen[id]
		seen[id] = true
		return again
	})
}

// textOfRow returns the text of some cells of a row.
func textOfRow(t *oracle.Table, row []wire.Value, names ...string) (text string) {
	for _, name := range names {
		text += row[t.Index(name)].String() + "\x00"
	}
	return text
}

// distinctBy returns how many values of a column are apart by a key.
func distinctBy(t *oracle.Table, name string, key func(wire.Value) string) int64 {
	seen := map[string]bool{}
	for _, v := range column(t, name) {
		if !v.IsNull() {
			seen[key(v)] = true
		}
	}
	return int64(len(seen))
}

// oracleSource answers everything by means of the oracle, with one thing twisted. It claims all of it.
type oracleSource struct {
	*memsource.Source // of the same tables, which it describes
	twist
	tables oracle.Tables
}

// stockedSource returns one over some tables.
func stockedSource(tables func() []memsource.Table, w twist) *oracleSource {
	list := tables()
	return &oracleSource{source(list...), w, oracleTables(list)}
}

// rightCorpus is one over the corpus. All tests share it, because it does not change.
var rightCorpus = stockedSource(func() []memsource.Table { return inMemory(corpus.Tables()) }, twist{})

// twisted returns the connector of the corpus with something twisted.
func twisted(w twist) http.Handler {
	return (&oracleSource{rightCorpus.Source, w, rightCorpus.tables}).serve()
}

// stocked returns the connector of other tables with something twisted.
func stocked(tables func() []memsource.Table, w twist) func() http.Handler {
	return func() http.Handler { return stockedSource(tables, w).serve() }
}

func (l *oracleSource) serve() http.Handler {
	return serve(connector.Definition{}, l, &connector.Options{Omit: l.omit})
}

func oracleTable(t memsource.Table) *oracle.Table {
	return &oracle.Table{Name: t.Name, Columns: t.Columns(), PrimaryKey: t.PrimaryKey, Rows: t.Rows}
}

func oracleTables(list []memsource.Table) oracle.Tables {
	tables := oracle.Tables{}
	for _, t := range list {
		tables[t.Name] = oracleTable(t)
	}
	return tables
}

func (l *oracleSource) Discover(ctx context.Context, req *wire.DiscoveryRequest) (*wire.Discovery, error) {
	found, err := l.Source.Discover(ctx, req)
	if err == nil && l.discovery != nil {
		l.discovery(found.Tables)
		found.Tables = slices.DeleteFunc(found.Tables, func(t wire.Table) bool { return t.Name == "" })
	}
	return found, err
}

func (l *oracleSource) QueryJoined(ctx context.Context, asked *connector.Query, out *connector.Rows) error {
	return l.Query(ctx, asked, out)
}

func (l *oracleSource) Query(_ context.Context, asked *connector.Query, out *connector.Rows) error {
	req := *asked
	req.And, req.Sort = filtersOf(req.And), slices.Clone(req.Sort)
	offset, limit, windowed := out.Claim(connector.Applied{Filters: true, Sort: true}).TakeWindow()
	if !windowed {
		offset, limit = 0, 0
	}
	if l.request != nil {
		l.request(&req, &limit, &offset)
	}
	tables := l.tables
	if l.seen != nil {
		tables = l.seen(&req)
	}
	base := *tables[req.Table]
	if l.early && windowed && len(req.And) > 0 {
		sorted, err := oracle.Sort(&base, req.Sort, nil)
		if err != nil {
			return err
		}
		from, to := cut(offset, limit, len(sorted.Rows))
		base.Rows = sorted.Rows[from:to]
		offset = 0
	}
	base.Rows = l.filter(&base, &req)
	sorted, err := oracle.Sort(&base, req.Sort, nil)
	if err != nil {
		return err
	}
	if l.order != nil && len(req.Sort) > 0 {
		sorted.Rows = slices.Clone(sorted.Rows)
		l.order(&req, sorted)
	}
	// The base has a name of its own, so that a table can join itself whole.
	tables = maps.Clone(tables)
	tables["base"] = sorted
	all := &wire.QueryRequest{Table: "base", Joins: req.Joins}
	for _, c := range base.Columns {
		all.Fields = append(all.Fields, c.Name)
	}
	t, err := oracle.Query(tables, all)
	if err != nil {
		return connector.Unsupported("%v", err)
	}
	if l.joined != nil && len(req.Joins) > 0 {
		l.joined(&req, t)
	}
	if l.rows != nil {
		l.rows(asked, t, offset, limit)
	}
	from, to := cut(offset, limit, len(t.Rows))
	if l.window != nil && windowed {
		from, to = l.window(offset, limit, len(t.Rows))
	}
	t.Rows = t.Rows[from:to]
	if l.answer != nil {
		l.answer(&req, t)
	}
	return out.Begin(t.Columns).All(memsource.RowsOf(t.Rows...))
}

func (l *oracleSource) filter(t *oracle.Table, req *connector.Query) (kept [][]wire.Value) {
	matches := matcherOf(t)
	for _, row := range t.Rows {
		holds := func(f wire.Filter) bool {
			i := t.Index(f.Field)
			right := matches(row[i], f, i)
			if l.match != nil {
				return l.match(t.Name, row[i], f, t.Columns[i].Type, right)
			}
			return right
		}
		passes := rightly
		if l.passes != nil {
			passes = l.passes
		}
		if passes(req.And, req.Or, holds) {
			kept = append(kept, row)
		}
	}
	return kept
}

// matcherOf returns what reports whether a cell of a column passes a filter. It reads the operands of a filter once.
func matcherOf(t *oracle.Table) func(cell wire.Value, f wire.Filter, column int) bool {
	type filter struct {
		column int
		op     wire.Op
		value  wire.Value
		values *wire.Value
		n      int
	}
	known := map[filter]func(wire.Value) bool{}
	return func(cell wire.Value, f wire.Filter, column int) bool {
		of := filter{column, f.Op, f.Value, unsafe.SliceData(f.Values), len(f.Values)}
		matches := known[of]
		if matches == nil {
			matches = oracle.Reading{}.Matcher(f, t.Columns[column].Type)
			known[of] = matches
		}
		return matches(cell)
	}
}

// rightly is how filters combine.
func rightly(and []wire.Filter, or [][]wire.Filter, holds func(wire.Filter) bool) bool {
	all := func(group []wire.Filter) bool {
		return !slices.ContainsFunc(group, func(f wire.Filter) bool { return !holds(f) })
	}
	return all(and) && (len(or) == 0 || slices.ContainsFunc(or, all))
}

func (l *oracleSource) Count(_ context.Context, asked *wire.CountRequest) (int64, error) {
	req := *asked
	if l.counted != nil {
		l.counted(&req)
	}
	n, err := oracle.Count(l.tables, &req)
	if err == nil && l.count != nil {
		n = l.count(asked, n)
	}
	return n, err
}

func (l *oracleSource) Aggregate(_ context.Context, asked *wire.AggregateRequest) ([][]wire.Value, error) {
	req := *asked
	req.And, req.GroupBy, req.Measures = filtersOf(req.And), slices.Clone(req.GroupBy), slices.Clone(req.Measures)
	if l.aggregate != nil {
		l.aggregate(&req)
	}
	tables := l.tables
	if l.folded != nil {
		tables = l.folded(&req)
	}
	t, err := oracle.Aggregate(tables, &req)
	var undefined *oracle.Undefined
	if errors.As(err, &undefined) {
		return nil, connector.ErrDecline
	}
	if err != nil {
		return nil, connector.Unsupported("%v", err)
	}
	if l.groups != nil {
		l.groups(asked, t)
	}
	return append([][]wire.Value{}, t.Rows...), nil // no groups are an answer, nil declines
}

func (l *oracleSource) Size(ctx context.Context, req *wire.SizeRequest) (*wire.Size, error) {
	size, err := l.Source.Size(ctx, req)
	if err == nil && l.size != nil {
		size.Rows = l.size(req, size.Rows)
	}
	return size, err
}

func (l *oracleSource) Cardinality(_ context.Context, req *wire.CardinalityRequest) (map[string]*wire.Cardinality, error) {
	all := map[string]*wire.Cardinality{}
	for _, column := range req.Columns {
		n, err := oracle.Cardinality(l.tables[req.Table], column)
		if err != nil {
			return nil, err
		}
		if l.cardinality != nil {
			l.cardinality(l.tables[req.Table], column, &n)
		}
		all[column] = &n
	}
	return all, nil
}

func (l *oracleSource) LinkHitRate(_ context.Context, req *wire.LinkHitRateRequest) (*wire.LinkHitRate, error) {
	rate, err := oracle.LinkHitRate(l.tables, req)
	if err == nil && l.link != nil {
		l.link(l, req, rate)
	}
	return rate, err
}

// retyped returns tables with another type for the columns for which to returns one.
func retyped(tables oracle.Tables, to func(c wire.Column) wire.Type) oracle.Tables {
	all := oracle.Tables{}
	for name, t := range tables {
		other := *t
		other.Columns = slices.Clone(t.Columns)
		for i, c := range other.Columns {
			other.Columns[i].Type = cmp.Or(to(c), c.Type)
		}
		all[name] = &other
	}
	return all
}

// column returns a cell of each row of a table.
func column(t *oracle.Table, name string) (cells []wire.Value) {
	i := t.Index(name)
	for _, row := range t.Rows {
		cells = append(cells, row[i])
	}
	return cells
}

// double returns a number as a float64 spells it.
func double(v wire.Value) wire.Value {
	f := v
	if !terms.IsDecimal(v.String()) || f.UnmarshalJSON([]byte(strings.TrimPrefix(v.String(), "+"))) != nil {
		return v
	}
	return f
}

// folded returns a text without what careless collations overlook.
func folded(v wire.Value) wire.Value {
	if v.Kind() != wire.KindText {
		return v
	}
	return wire.Text(strings.TrimRight(strings.ToLower(v.Text()), " "))
}
