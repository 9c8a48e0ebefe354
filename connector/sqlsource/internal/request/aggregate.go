package request

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/session"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqltext"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Aggregate groups by one statement, or declines what the engine cannot compute
// exactly.
func Aggregate(ctx context.Context, s *session.Database, req *wire.AggregateRequest) (answer [][]wire.Value, err error) {
	x, err := open(ctx, s, req.Credentials, connector.Call{Method: "Aggregate", Table: req.Table})
	if err != nil {
		return nil, err
	}
	defer x.Close()
	defer x.explainDecline("groups and measures", &err)
	base, hops, exact, err := x.hops(ctx, req.Table, req.Joins)
	if err != nil {
		return nil, err
	}
	if err := base.CheckFields(req.Where); err != nil {
		return nil, err
	}
	a := &aggregation{session: x, req: req, base: base, hops: hops}
	if err := a.resolve(); err != nil {
		return nil, err
	}
	if !exact {
		return nil, decline("the engine cannot join these columns exactly")
	}
	filters, err := x.filters(ctx, base, req.Where)
	if err != nil {
		return nil, err
	}
	x.explainFilters(base, req.Where, filters)
	if !filters.All {
		return nil, decline("the engine cannot evaluate all filters exactly")
	}
	if statement, args, err := a.extremes(ctx, filters); statement != "" || err != nil {
		if err != nil {
			return nil, err
		}
		return a.run(ctx, statement, args)
	}
	answer, err = a.compute(ctx, filters)
	if a.hasElse && a.looked && (errors.Is(err, connector.ErrDecline) || session.ReasonOf(err).Lasting()) {
		a.again = true
		a.inner, a.outer, a.groupBy, a.cells = nil, nil, nil, nil
		answer, err = a.compute(ctx, filters)
	}
	return answer, err
}

// compute runs the aggregate's statement.
func (a *aggregation) compute(ctx context.Context, filters sqltext.Pushdown) ([][]wire.Value, error) {
	for i, g := range a.req.GroupBy {
		if err := a.groupKey(ctx, a.keys[i], g); err != nil {
			return nil, err
		}
	}
	for i, m := range a.req.Measures {
		if err := a.measure(ctx, a.fields[i], m.Fn); err != nil {
			return nil, err
		}
	}
	a.looked = true
	b := a.session.Builder()
	return a.run(ctx, a.statement(b, filters), b.Args)
}

func decline(format string, args ...any) error {
	return fmt.Errorf("sqlsource: %w: %s", connector.ErrDecline, fmt.Sprintf(format, args...))
}

// aggregation is one aggregate request under way. Its statement selects inner
// expressions from the rows, named c0, c1 and so on, and outer expressions from
// the groups of these.
type aggregation struct {
	session Request
	req     *wire.AggregateRequest
	base    *session.Relation
	hops    []hop
	keys    []*sqltext.Column // of groupBy
	fields  []*sqltext.Column // of measures; nil for a count of rows
	inner   []string
	outer   []string
	groupBy []string // names of inner expressions
	cells   []groupCell
	hasElse bool // some sum can be asked for in another way, if the engine declines
	looked  bool // every column has been looked at, and the engine was asked
	again   bool // it is asked once more, with the sums' other way
}

// groupCell reads one cell of the answer from the driver's values of n outer
// expressions.
type groupCell struct {
	at, n int
	read  func(values []any) (wire.Value, error)
}

// resolve finds the columns that the request names.
func (a *aggregation) resolve() error {
	for _, g := range a.req.GroupBy {
		c, err := a.find(g.Field)
		if err != nil {
			return err
		}
		a.keys = append(a.keys, c)
	}
	for _, m := range a.req.Measures {
		var c *sqltext.Column
		if m.Field != "" {
			var err error
			if c, err = a.find(m.Field); err != nil {
				return err
			}
		}
		a.fields = append(a.fields, c)
	}
	return nil
}

// find returns the column of the base table or of a hop that has a name.
func (a *aggregation) find(name string) (*sqltext.Column, error) {
	c := a.base.Column(name)
	for i, j := range a.req.Joins {
		for _, f := range j.Fields {
			if cmp.Or(f.As, f.Field) != name {
				continue
			}
			joined := a.hops[i].to.Column(f.Field)
			if joined == nil {
				return nil, a.hops[i].to.UnknownField(f.Field)
			}
			if c != nil {
				return nil, decline("several columns are named %q", name)
			}
			c = joined
		}
	}
	if c == nil {
		return nil, a.base.UnknownField(name)
	}
	return c, nil
}

// owner returns the relation that a column belongs to.
func (a *aggregation) owner(c *sqltext.Column) *session.Relation {
	for _, h := range a.hops {
		if slices.Contains(h.to.Columns, c) {
			return h.to
		}
	}
	return a.base
}

// take selects an expression from the rows, once, and returns its qualified name. It
// returns the expression itself if there is no derived table.
func (a *aggregation) take(expr string) string {
	if a.session.Database.Flavor.Flat {
		return expr
	}
	i := slices.Index(a.inner, expr)
	if i < 0 {
		i = len(a.inner)
		a.inner = append(a.inner, expr)
	}
	return fmt.Sprintf("g.c%d", i) // with the table: some engines find a name ambiguous that is selected twice
}

// answer adds a cell that is read from outer expressions.
func (a *aggregation) answer(read func([]any) (wire.Value, error), exprs ...string) {
	a.cells = append(a.cells, groupCell{at: len(a.outer), n: len(exprs), read: read})
	a.outer = append(a.outer, exprs...)
}

// requireComparable declines a column without an expression that the engine compares
// exactly, or with values that it would misjudge.
func (a *aggregation) requireComparable(ctx context.Context, c *sqltext.Column, expr string) error {
	if expr == "" {
		return decline("the engine cannot compare the values of column %q exactly", c.Name)
	}
	if a.again {
		return nil
	}
	free, err := a.session.NoneMatch(ctx, a.owner(c), c.Loose.Guard, c.Loose.Long)
	if err == nil && !free {
		err = decline("column %q has values that are not of its type", c.Name)
	}
	return err
}

// groupKey adds a key of groupBy.
func (a *aggregation) groupKey(ctx context.Context, c *sqltext.Column, g wire.GroupKey) error {
	if g.Grain != "" {
		if c.Class != sqlengine.ClassDate && c.Class != sqlengine.ClassDatetime {
			return decline("a grain over column %q, which is not a date", c.Name)
		}
		if a.session.Database.Flavor.Bucket == nil {
			return decline("the engine cuts no periods")
		}
		if err := a.requireComparable(ctx, c, c.Key); err != nil {
			return err
		}
		name := a.take(a.session.Database.Flavor.Bucket(&c.Column, c.Key, g.Grain))
		a.groupBy = append(a.groupBy, name)
		a.answer(nullOr(sqltext.DecodeDate), name)
		return nil
	}
	if err := a.requireComparable(ctx, c, c.GroupKey()); err != nil {
		return err
	}
	name := a.take(c.GroupKey())
	a.groupBy = append(a.groupBy, name)
	if c.Loose.Spelling != "" {
		a.answer(nullOr(c.Decode), "MIN("+a.take(c.Loose.Spelling)+")")
		return nil
	}
	a.answer(nullOr(c.Decode), c.AsCell(name))
	return nil
}

// measure adds a measure. c is nil for a count of rows.
func (a *aggregation) measure(ctx context.Context, c *sqltext.Column, fn wire.AggFunc) error {
	switch {
	case c == nil:
		a.answer(nullOr(sqltext.DecodeInteger), "COUNT(*)")
		return nil
	case fn == wire.AggCount:
		a.answer(nullOr(sqltext.DecodeInteger), "COUNT("+a.take("CASE WHEN "+c.NotNull()+" THEN 1 END")+")")
		return nil
	case fn == wire.AggCountDistinct:
		err := a.requireComparable(ctx, c, c.GroupKey())
		if err == nil {
			a.answer(nullOr(sqltext.DecodeInteger), "COUNT(DISTINCT "+a.take(c.GroupKey())+")")
		}
		return err
	case fn == wire.AggSum:
		return a.sum(ctx, c)
	}
	if !ordered(c.Type) {
		return decline("a minimum or maximum over column %q, whose type has no order", c.Name)
	}
	if c.Loose.Lossy {
		return decline("the engine would spell a minimum of column %q in another way", c.Name)
	}
	if err := a.requireComparable(ctx, c, c.Key); err != nil {
		return err
	}
	name := "MIN"
	if fn == wire.AggMax {
		name = "MAX"
	}
	a.answer(nullOr(c.Decode), c.AsCell(name+"("+a.take(c.Key)+")"))
	return nil
}

// sum adds the measure that adds a column's values.
func (a *aggregation) sum(ctx context.Context, c *sqltext.Column) error {
	if !c.Type.Numeric() {
		return decline("a sum over column %q, which is not numeric", c.Name)
	}
	if err := a.requireComparable(ctx, c, c.Key); err != nil {
		return err
	}
	sum := a.session.Database.Flavor.Sum(&c.Column, a.take(c.Key))
	if sum.Else != nil {
		a.hasElse = true
		if a.again {
			sum = *sum.Else
		}
	}
	if len(sum.Exprs) == 0 {
		return decline("the engine adds the values of column %q as floats", c.Name)
	}
	fold := sum.Fold
	if fold == nil {
		fold = foldDigits
	}
	a.answer(func(values []any) (wire.Value, error) {
		v, ok := fold(values)
		if !ok {
			return v, decline("the engine did not add the values of column %q exactly", c.Name)
		}
		return v, nil
	}, sum.Exprs...)
	return nil
}

// foldDigits reads a sum that the engine has added exactly.
func foldDigits(values []any) (wire.Value, bool) {
	v, err := nullOr(sqltext.DecodeDecimal)(values)
	return v, err == nil && v.Err() == nil
}

// nullOr returns a reader of one value by a decoder, which keeps null.
func nullOr(decode func(any) (wire.Value, error)) func([]any) (wire.Value, error) {
	return func(values []any) (wire.Value, error) {
		if values[0] == nil {
			return wire.Null(), nil
		}
		return decode(values[0])
	}
}

// statement returns the aggregate's statement.
func (a *aggregation) statement(b *sqltext.Builder, filters sqltext.Pushdown) string {
	inner, once := "1 AS c0", "" // some engines require names of all columns
	if len(a.inner) > 0 {
		list := make([]string, len(a.inner))
		for i, expr := range a.inner {
			list[i] = fmt.Sprintf("%s AS c%d", expr, i)
		}
		inner, once = strings.Join(list, ", "), a.session.Database.Flavor.Once
	}
	var groups sqltext.Window
	if len(a.groupBy) > 0 {
		groups.Limit = a.req.Limit // The library refuses as many groups; more need not be read.
	}
	return b.Query(strings.Join(a.outer, ", "), groups, func() string {
		rest := fromClause(b, a.base.From, a.hops) + b.Where(filters.Pushed, a.base.Column)
		if !a.session.Database.Flavor.Flat {
			rest = " FROM (SELECT " + inner + rest + once + ") g"
		}
		if len(a.groupBy) > 0 {
			rest += " GROUP BY " + strings.Join(a.groupBy, ", ")
		}
		return rest
	})
}

// run runs the statement and reads the groups.
func (a *aggregation) run(ctx context.Context, statement string, args []any) ([][]wire.Value, error) {
	x := a.session
	rows, err := x.Tx.QueryContext(ctx, statement, args...)
	if err != nil {
		return nil, a.failure(ctx, err)
	}
	defer func() { _ = rows.Close() }()
	values := make([]any, len(a.outer))
	targets := make([]any, len(values))
	for i := range values {
		targets[i] = &values[i]
	}
	answer := [][]wire.Value{}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return nil, a.failure(ctx, err)
		}
		row := make([]wire.Value, len(a.cells))
		for i, cell := range a.cells {
			if row[i], err = cell.read(values[cell.at : cell.at+cell.n]); err != nil {
				return nil, a.failure(ctx, err)
			}
		}
		answer = append(answer, row)
	}
	return answer, a.failure(ctx, rows.Err())
}

// failure returns the error of the statement, which the engine may decline only when it
// computes the values, as a sum that overflows.
func (a *aggregation) failure(ctx context.Context, err error) error {
	err = a.session.Database.Failure(ctx, err, a.base.Name)
	if session.Declined(err) {
		return decline("the engine cannot compute these values")
	}
	return err
}
