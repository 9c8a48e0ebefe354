package sqlsource

import (
	"context"
	"database/sql"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Size counts a table's rows, or returns the engine's estimate where the host
// prefers it.
func (s *Source) Size(ctx context.Context, req *wire.SizeRequest) (*wire.Size, error) {
	x, r, err := s.openTable(ctx, req.Credentials, req.Table)
	if err != nil {
		return nil, err
	}
	defer x.close()
	if s.options.EstimateSizes && r.catalog.Estimate != nil {
		return &wire.Size{Rows: *r.catalog.Estimate}, nil
	}
	var n int64
	if err := x.row(ctx, r.name, "SELECT COUNT(*) FROM "+r.from, nil, &n); err != nil {
		return nil, err
	}
	return &wire.Size{Rows: n, Exact: true}, nil
}

// Count counts by one statement, or declines: the library then counts what Query
// answers.
func (s *Source) Count(ctx context.Context, req *wire.CountRequest) (int64, error) {
	x, r, err := s.openTable(ctx, req.Credentials, req.Table)
	if err != nil {
		return 0, err
	}
	defer x.close()
	filters, err := x.filters(ctx, r, req.Where)
	if err != nil {
		return 0, err
	}
	if !filters.all {
		return 0, connector.ErrDecline
	}
	b := x.builder()
	var n int64
	err = x.row(ctx, r.name, "SELECT COUNT(*) FROM "+r.from+b.where(filters.pushed, r.column), b.args, &n)
	return n, err
}

// Cardinality counts all columns by one statement. The entry of a column that
// the engine cannot count distinctly is nil.
func (s *Source) Cardinality(ctx context.Context, req *wire.CardinalityRequest) (map[string]*wire.Cardinality, error) {
	x, r, err := s.openTable(ctx, req.Credentials, req.Table)
	if err != nil {
		return nil, err
	}
	defer x.close()
	answer := map[string]*wire.Cardinality{}
	var exprs []string
	var targets []any
	for _, name := range req.Columns {
		c := r.column(name)
		if c == nil {
			return nil, r.unknownField(name)
		}
		if _, known := answer[name]; known {
			continue
		}
		answer[name] = nil
		if c.group() == "" {
			continue
		}
		exact, err := x.sortable(ctx, r, c)
		if err != nil {
			return nil, err
		}
		if !exact {
			continue
		}
		counts := &wire.Cardinality{}
		answer[name] = counts
		exprs = append(exprs, "COUNT("+c.group()+"), COUNT(DISTINCT "+c.group()+")")
		targets = append(targets, &counts.NonNull, &counts.Distinct)
	}
	if len(exprs) == 0 {
		return answer, nil
	}
	err = x.row(ctx, r.name, "SELECT "+strings.Join(exprs, ", ")+" FROM "+r.from, nil, targets...)
	return answer, err
}

// LinkHitRate measures by one statement if the engine can compare the columns
// exactly, else over the rows.
func (s *Source) LinkHitRate(ctx context.Context, req *wire.LinkHitRateRequest) (*wire.LinkHitRate, error) {
	x, err := s.open(ctx, req.Credentials)
	if err != nil {
		return nil, err
	}
	defer x.close()
	from, hops, exact, err := x.hops(ctx, req.FromTable, []wire.JoinHop{{
		FromTable: req.FromTable, ToTable: req.ToTable, FromField: req.FromColumn, ToField: req.ToColumn,
	}})
	if err != nil {
		return nil, err
	}
	link := hops[0]
	if exact {
		if exact, err = x.sortable(ctx, from, link.keys[0]); err != nil {
			return nil, err
		}
	}
	if !exact || link.keys[0].Text == "" {
		return x.linkInMemory(ctx, req, from, link)
	}
	statement, args := x.linkStatement(from, link)
	rows, err := x.tx.QueryContext(ctx, statement, args...)
	if err != nil {
		return nil, s.failure(ctx, err, req.FromTable)
	}
	defer func() { _ = rows.Close() }()
	rate := &wire.LinkHitRate{OrphanSamples: []string{}}
	for rows.Next() {
		var sample sql.NullString
		if err := rows.Scan(&rate.FromNonNull, &rate.OrphanCount, &sample); err != nil {
			return nil, s.failure(ctx, err, req.FromTable)
		}
		if sample.Valid {
			rate.OrphanSamples = append(rate.OrphanSamples, sample.String)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, s.failure(ctx, err, req.FromTable)
	}
	return rate, nil
}

// linkStatement returns the statement that counts the rows with a value and
// those without a match, once for every sample of the latter.
func (x *session) linkStatement(from *relation, link hop) (statement string, args []any) {
	left, right, _ := comparableKeys(link.keys[0], link.keys[1])
	b := x.builder()
	return "WITH f AS (SELECT r.k AS k, r.x AS x, COUNT(*) AS n" +
		" FROM (SELECT " + left + " AS k, " + link.keys[0].Text + " AS x FROM " + from.from + ") r WHERE r.k IS NOT NULL GROUP BY r.k, r.x)," +
		" o AS (SELECT f.x AS x, f.n AS n FROM f LEFT JOIN (SELECT DISTINCT " + right + " AS k FROM " + link.to.from +
		" WHERE " + right + " IS NOT NULL) d ON d.k = f.k WHERE d.k IS NULL)" +
		" SELECT (SELECT COALESCE(SUM(n), 0) FROM f), (SELECT COALESCE(SUM(n), 0) FROM o), s.x" +
		" FROM (SELECT 1 AS one) u LEFT JOIN (SELECT DISTINCT x FROM o ORDER BY x" + b.window(0, wire.MaxOrphanSamples) + ") s ON 1 = 1", b.args
}

// linkInMemory measures over the rows of both columns.
func (x *session) linkInMemory(
	ctx context.Context, req *wire.LinkHitRateRequest, from *relation, link hop,
) (*wire.LinkHitRate, error) {
	side := func(r *relation, c *Column) memsource.Relation {
		return memsource.Relation{
			Columns: []wire.Column{{Name: c.name, Type: c.Type}},
			Rows:    x.cells(ctx, r.name, "SELECT "+c.Cell+" FROM "+r.from, nil, []*Column{c}),
		}
	}
	return memsource.LinkHitRate(side(from, link.keys[0]), side(link.to, link.keys[1]), req, 0)
}
