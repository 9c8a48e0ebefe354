package sqlsource

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Aggregate groups by one statement, or declines what the engine cannot compute
// exactly (E6).
func (s *Source) Aggregate(ctx context.Context, req *wire.AggregateRequest) (*connector.AggregateAnswer, error) {
	x, err := s.open(ctx, req.Credentials)
	if err != nil {
		return nil, err
	}
	defer x.close()
	base, hops, exact, err := x.hops(ctx, req.Table, req.Joins)
	if err != nil {
		return nil, err
	}
	if err := base.check(req.And, req.Or); err != nil {
		return nil, err
	}
	a := &aggregation{session: x, req: req, base: base, hops: hops}
	if err := a.resolve(); err != nil {
		return nil, err
	}
	if !exact {
		return nil, decline("the engine cannot join these columns exactly")
	}
	return a.run(ctx)
}

// AggregateByDate is Aggregate: periods are cut in UTC (E4).
func (s *Source) AggregateByDate(ctx context.Context, req *wire.AggregateRequest) (*connector.AggregateAnswer, error) {
	return s.Aggregate(ctx, req)
}

func decline(format string, args ...any) error {
	return fmt.Errorf("sqlsource: %w: %s", connector.ErrDecline, fmt.Sprintf(format, args...))
}

// aggregation is one aggregate request under way.
type aggregation struct {
	session *session
	req     *wire.AggregateRequest
	base    *relation
	hops    []hop
	keys    []*Column // of groupBy
	fields  []*Column // of measures; nil for a count of rows
	// What the statement is made of.
	inner []string // selected from the rows
	outer []string // selected from the groups
	by    []string // grouped by
	folds []fold
}

// fold reads one cell of the answer from the driver's values.
type fold struct {
	at, n int
	read  func(cells []any) (wire.Value, error)
}

// resolve finds the columns that a request names (A11).
func (a *aggregation) resolve() error {
	find := func(name string) (*Column, error) {
		c := a.base.column(name)
		for i, j := range a.req.Joins {
			for _, f := range j.Fields {
				if or(f.As, f.Field) != name {
					continue
				}
				joined := a.hops[i].to.column(f.Field)
				if joined == nil {
					return nil, a.hops[i].to.unknownField(f.Field)
				}
				if c != nil {
					return nil, decline("several columns are named %q", name)
				}
				c = joined
			}
		}
		if c == nil {
			return nil, a.base.unknownField(name)
		}
		return c, nil
	}
	for _, g := range a.req.GroupBy {
		c, err := find(g.Field)
		if err != nil {
			return err
		}
		a.keys = append(a.keys, c)
	}
	for _, m := range a.req.Measures {
		var c *Column
		if m.Field != "" {
			var err error
			if c, err = find(m.Field); err != nil {
				return err
			}
		}
		a.fields = append(a.fields, c)
	}
	return nil
}

// owner is the relation a column belongs to.
func (a *aggregation) owner(c *Column) *relation {
	for _, h := range a.hops {
		if slices.Contains(h.to.columns, c) {
			return h.to
		}
	}
	return a.base
}

// take selects an expression from the rows and names it for the groups. The
// same expression is selected once.
func (a *aggregation) take(expr string) string {
	i := slices.Index(a.inner, expr)
	if i < 0 {
		i = len(a.inner)
		a.inner = append(a.inner, expr)
	}
	return fmt.Sprintf("c%d", i)
}

func (a *aggregation) answer(n int, read func([]any) (wire.Value, error), exprs ...string) {
	a.folds = append(a.folds, fold{at: len(a.outer), n: n, read: read})
	a.outer = append(a.outer, exprs...)
}

func (a *aggregation) run(ctx context.Context) (*connector.AggregateAnswer, error) {
	x := a.session
	filters, err := x.filters(ctx, a.base, a.req.And, a.req.Or)
	if err != nil {
		return nil, err
	}
	if !filters.all {
		return nil, decline("the engine cannot evaluate all filters exactly")
	}
	for i, g := range a.req.GroupBy {
		if err := a.key(ctx, a.keys[i], g); err != nil {
			return nil, err
		}
	}
	for i, m := range a.req.Measures {
		if err := a.measure(ctx, a.fields[i], m.Fn); err != nil {
			return nil, err
		}
	}
	b := &builder{flavor: x.source.config.Flavor}
	inner := "1"
	if len(a.inner) > 0 {
		list := make([]string, len(a.inner))
		for i, expr := range a.inner {
			list[i] = fmt.Sprintf("%s AS c%d", expr, i)
		}
		inner = strings.Join(list, ", ")
	}
	statement := "SELECT " + strings.Join(a.outer, ", ") + " FROM (SELECT " + inner + b.from(a.base, a.hops) + b.where(filters, a.base.column) + ") g"
	if has(bugNullGroup) && len(a.by) > 0 {
		statement += " WHERE " + a.by[0] + " IS NOT NULL"
	}
	if len(a.by) > 0 {
		statement += " GROUP BY " + strings.Join(a.by, ", ")
		if a.req.Limit > 0 {
			// As many groups as the limit are refused by the SDK (E6); more
			// need not be read.
			statement += b.flavor.Window(b.bind(a.req.Limit), "")
		}
	}
	return a.read(ctx, statement, b.args)
}

// usable declines a column whose values the engine cannot compare exactly.
func (a *aggregation) usable(ctx context.Context, c *Column, expr string, odd bool) error {
	if expr == "" {
		return decline("the engine cannot compare the values of column %q exactly", c.name)
	}
	check := *c
	if odd && c.Odd != "" {
		check.Guard = or(c.Guard, c.Odd)
	}
	ok, err := a.session.sortable(ctx, a.owner(c), []*Column{&check})
	if err != nil {
		return err
	}
	if !ok {
		return decline("column %q has values that are none of its type", c.name)
	}
	return nil
}

// key adds a group key.
func (a *aggregation) key(ctx context.Context, c *Column, g wire.GroupKey) error {
	if g.Grain != "" {
		if c.Class != ClassDate && c.Class != ClassDatetime {
			return decline("a grain over column %q, which is no date", c.name)
		}
		if err := a.usable(ctx, c, c.Key, true); err != nil {
			return err
		}
		name := a.take(a.session.source.config.Flavor.Bucket(c, c.Key, g.Grain))
		a.by = append(a.by, name)
		a.answer(1, one(DecodeDate), name)
		return nil
	}
	if err := a.usable(ctx, c, c.group(), false); err != nil {
		return err
	}
	name := a.take(c.group())
	a.by = append(a.by, name)
	if c.Spelling != "" {
		a.answer(1, one(c.Decode), "MIN("+a.take(c.Spelling)+")")
		return nil
	}
	a.answer(1, one(c.Decode), c.read(name))
	return nil
}

// measure adds a measure (E1).
func (a *aggregation) measure(ctx context.Context, c *Column, fn wire.Fn) error {
	if c == nil {
		a.answer(1, one(DecodeInteger), "COUNT(*)")
		return nil
	}
	switch fn {
	case wire.FnCount:
		a.answer(1, one(DecodeInteger), "COUNT("+a.take("CASE WHEN "+c.notNull()+" THEN 1 END")+")")
		return nil
	case wire.FnCountDistinct:
		if err := a.usable(ctx, c, c.group(), false); err != nil {
			return err
		}
		distinct := "DISTINCT "
		if has(bugCountDupes) {
			distinct = ""
		}
		a.answer(1, one(DecodeInteger), "COUNT("+distinct+a.take(c.group())+")")
		return nil
	case wire.FnSum:
		if !c.Type.Numeric() {
			return decline("a sum over column %q, which is no number", c.name)
		}
		if err := a.usable(ctx, c, c.Key, true); err != nil {
			return err
		}
		sum, ok := a.session.source.config.Flavor.Sum(c, a.take(c.Key))
		if !ok {
			return decline("the engine adds the values of column %q as floats", c.name)
		}
		a.answer(len(sum.Exprs), func(cells []any) (wire.Value, error) {
			v, ok := sum.Fold(cells)
			if !ok {
				return v, decline("the engine did not add the values of column %q exactly", c.name)
			}
			return v, nil
		}, sum.Exprs...)
		return nil
	}
	switch c.Type {
	case wire.TypeBoolean, wire.TypeJSON, wire.TypeArray:
		return decline("a minimum or maximum over column %q, whose type has no order", c.name)
	}
	if c.Lossy {
		return decline("the engine would spell a minimum of column %q in another way", c.name)
	}
	if err := a.usable(ctx, c, c.Key, true); err != nil {
		return err
	}
	name := "MIN"
	if fn == wire.FnMax {
		name = "MAX"
	}
	a.answer(1, one(c.Decode), c.read(name+"("+a.take(c.Key)+")"))
	return nil
}

// one reads one value as a decoder does; null stays null.
func one(decode func(any) (wire.Value, error)) func([]any) (wire.Value, error) {
	return func(cells []any) (wire.Value, error) {
		if cells[0] == nil {
			return wire.Null(), nil
		}
		return decode(cells[0])
	}
}

func (a *aggregation) read(ctx context.Context, statement string, args []any) (*connector.AggregateAnswer, error) {
	x := a.session
	rows, err := x.tx.QueryContext(ctx, statement, args...)
	if err != nil {
		return nil, x.source.failure(ctx, err, a.base.name)
	}
	defer func() { _ = rows.Close() }()
	cells := make([]any, len(a.outer))
	targets := make([]any, len(cells))
	for i := range cells {
		targets[i] = &cells[i]
	}
	groups := &connector.AggregateAnswer{Rows: [][]wire.Value{}}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return nil, x.source.failure(ctx, err, a.base.name)
		}
		row := make([]wire.Value, len(a.folds))
		for i, f := range a.folds {
			if row[i], err = f.read(cells[f.at : f.at+f.n]); err != nil {
				return nil, err
			}
		}
		groups.Rows = append(groups.Rows, row)
	}
	return groups, x.source.failure(ctx, rows.Err(), a.base.name)
}
