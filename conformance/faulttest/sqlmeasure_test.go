package faulttest

import (
	"context"
	"fmt"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/measures"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func (c *database) Size(ctx context.Context, req *wire.SizeRequest) (*wire.Size, error) {
	t, err := c.Describe(ctx, req.Credentials, req.Table)
	if err != nil {
		return nil, err
	}
	n, err := c.rowCount(ctx, t.Name, &statement{})
	return &wire.Size{Rows: n, Exact: true}, err
}

func (c *database) Count(ctx context.Context, req *wire.CountRequest) (int64, error) {
	t, err := c.Describe(ctx, req.Credentials, req.Table)
	if err != nil {
		return 0, err
	}
	s := &statement{}
	if !c.filtered(s, t, req.Where) {
		return 0, connector.ErrDecline
	}
	return c.rowCount(ctx, t.Name, s)
}

func (c *database) rowCount(ctx context.Context, table string, where *statement) (n int64, err error) {
	count := apply(c.sqlCount, table == c.Table, "count(*)")
	row := c.db.QueryRowContext(ctx, "SELECT "+count+" FROM "+quoted(table)+" b"+where.String(), where.args...)
	return n, row.Scan(&n)
}

// Aggregate groups in the database, and declines what that would not do exactly.
func (c *database) Aggregate(ctx context.Context, req *wire.AggregateRequest) ([][]wire.Value, error) {
	t, err := c.Describe(ctx, req.Credentials, req.Table)
	if err != nil {
		return nil, err
	}
	if len(req.Joins) > 0 {
		return nil, connector.ErrDecline
	}
	var keys, expressions []string
	var stored []storage
	for i, key := range req.GroupBy {
		expression, as, err := c.keyed(t, key)
		if err != nil {
			return nil, err
		}
		keys = append(keys, fmt.Sprint(i+1))
		expressions, stored = append(expressions, expression), append(stored, as)
	}
	for _, m := range req.Measures {
		expression, as, err := c.measures(t, m)
		if err != nil {
			return nil, err
		}
		expressions, stored = append(expressions, expression), append(stored, as)
	}
	s := &statement{}
	s.add("SELECT " + strings.Join(expressions, ", ") + " FROM " + quoted(t.Name) + " b")
	if !c.filtered(s, t, req.Where) {
		return nil, connector.ErrDecline
	}
	if len(keys) > 0 {
		s.add(" GROUP BY " + strings.Join(keys, ", "))
	}
	answer := [][]wire.Value{}
	for row, err := range c.rows(ctx, s, stored) {
		if err != nil {
			return nil, err
		}
		answer = append(answer, row)
	}
	return answer, nil
}

// keyed returns the expression of a group key, and how its values are stored.
func (c *database) keyed(t *wire.Table, key wire.GroupKey) (string, storage, error) {
	if t.Field(key.Field) == nil {
		return "", storage{}, connector.UnknownEntity("no field %s", terms.QuoteName(key.Field))
	}
	stored := c.set.storage(t.Name, key.Field)
	name := "b." + quoted(key.Field)
	if !stored.ordered() || stored.trait == Reading || key.Grain != "" && stored.trait != Day && stored.trait != Moment {
		return "", stored, connector.ErrDecline
	}
	if key.Grain != "" {
		if stored.trait == Moment {
			name = "date(" + name + " / 1000.0, 'unixepoch')"
		}
		stored = storage{table: t.Name, column: key.Field, trait: Day}
		name = truncated(key.Grain, name)
	}
	return apply(c.sqlKey, c.is(t.Name, key.Field), name), stored, nil
}

// truncated returns the first day of the period of a date.
func truncated(grain wire.Grain, date string) string {
	switch grain {
	case wire.GrainYear:
		return "substr(" + date + ", 1, 4) || '-01-01'"
	case wire.GrainMonth:
		return "substr(" + date + ", 1, 7) || '-01'"
	case wire.GrainQuarter:
		return fmt.Sprintf("substr(%s, 1, 5) || printf('%%02d', (substr(%s, 6, 2) - 1) / 3 * 3 + 1) || '-01'", date, date)
	}
	return date
}

// measures returns the expression of a measure, and how its values are stored.
func (c *database) measures(t *wire.Table, m wire.Measure) (string, storage, error) {
	name, stored := "*", storage{table: t.Name, trait: Tally}
	if m.Field != "" {
		if t.Field(m.Field) == nil {
			return "", stored, connector.UnknownEntity("no field %s", terms.QuoteName(m.Field))
		}
		name, stored = "b."+quoted(m.Field), c.set.storage(t.Name, m.Field)
	}
	expression := fmt.Sprintf("%s(%s)", m.Fn, name)
	switch m.Fn {
	case wire.AggCount:
		stored = storage{table: t.Name, trait: Tally}
	case wire.AggCountDistinct:
		if !stored.ordered() {
			return "", stored, connector.ErrDecline
		}
		expression, stored = "count(DISTINCT "+name+")", storage{table: t.Name, trait: Tally}
	case wire.AggSum:
		if stored.kind() != "integer" && stored.trait != Money || stored.trait == Big {
			return "", stored, connector.ErrDecline
		}
	case wire.AggMin, wire.AggMax:
		if !stored.ordered() || stored.trait == Flag || stored.trait == Reading {
			return "", stored, connector.ErrDecline
		}
	}
	if c.sqlMeasure != nil && c.is(t.Name, m.Field) {
		expression = c.sqlMeasure(m.Fn, expression)
	}
	return expression, stored, nil
}

func (c *database) Cardinality(
	ctx context.Context, req *wire.CardinalityRequest,
) (map[string]*wire.Cardinality, error) {
	t, err := c.Describe(ctx, req.Credentials, req.Table)
	if err != nil {
		return nil, err
	}
	answer := map[string]*wire.Cardinality{}
	for _, column := range req.Columns {
		if t.Field(column) == nil {
			return nil, connector.UnknownEntity("no field %s", terms.QuoteName(column))
		}
		if !c.set.storage(t.Name, column).ordered() {
			answer[column] = nil
			continue
		}
		name := "b." + quoted(column)
		distinct := apply(c.sqlDistinct, c.is(t.Name, column), "count(DISTINCT "+name+")")
		var counted wire.Cardinality
		row := c.db.QueryRowContext(ctx, "SELECT count("+name+"), "+distinct+" FROM "+quoted(t.Name)+" b")
		if err := row.Scan(&counted.NonNull, &counted.Distinct); err != nil {
			return nil, err
		}
		answer[column] = &counted
	}
	return answer, nil
}

func (c *database) LinkHitRate(ctx context.Context, req *wire.LinkHitRateRequest) (*wire.LinkHitRate, error) {
	for _, end := range [][2]string{{req.FromTable, req.FromColumn}, {req.ToTable, req.ToColumn}} {
		t, err := c.Describe(ctx, req.Credentials, end[0])
		if err != nil {
			return nil, err
		}
		if t.Field(end[1]) == nil {
			return nil, connector.UnknownEntity("no field %s", terms.QuoteName(end[1]))
		}
	}
	from, to := c.set.storage(req.FromTable, req.FromColumn), c.set.storage(req.ToTable, req.ToColumn)
	if from.kind() != to.kind() || from.kind() != "integer" && from.kind() != "text" {
		return c.linkInMemory(ctx, req)
	}
	name := "b." + quoted(req.FromColumn)
	orphan := fmt.Sprintf("%s IS NOT NULL AND NOT EXISTS (SELECT 1 FROM %s t WHERE t.%s = %s)",
		name, quoted(req.ToTable), quoted(req.ToColumn), name)
	if c.sqlOrphans != nil {
		orphan = c.sqlOrphans(req, orphan)
	}
	link := &wire.LinkHitRate{}
	counts := fmt.Sprintf("SELECT count(%s), count(CASE WHEN %s THEN 1 END) FROM %s b",
		name, orphan, quoted(req.FromTable))
	if err := c.db.QueryRowContext(ctx, counts).Scan(&link.FromNonNull, &link.OrphanCount); err != nil {
		return nil, err
	}
	s := &statement{}
	s.add(fmt.Sprintf("SELECT DISTINCT CAST(%s AS TEXT) FROM %s b WHERE %s ORDER BY 1 LIMIT 20",
		name, quoted(req.FromTable), orphan))
	for row, err := range c.rows(ctx, s, []storage{{trait: Words}}) {
		if err != nil {
			return nil, err
		}
		link.OrphanSamples = append(link.OrphanSamples, row[0].String())
	}
	return link, nil
}

func (c *database) linkInMemory(ctx context.Context, req *wire.LinkHitRateRequest) (*wire.LinkHitRate, error) {
	from, err := c.whole(ctx, req.FromTable)
	if err != nil {
		return nil, err
	}
	to, err := c.whole(ctx, req.ToTable)
	if err != nil {
		return nil, err
	}
	return measures.LinkHitRate(from, to, req, 0)
}
