package sqlsource

import (
	"context"
	"database/sql"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Size is the exact number of rows, or the engine's estimate where the host
// prefers it.
func (s *Source) Size(ctx context.Context, req *wire.SizeRequest) (*wire.Size, error) {
	x, err := s.open(ctx, req.Credentials)
	if err != nil {
		return nil, err
	}
	defer x.close()
	r, err := x.one(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	if s.config.EstimateSizes && r.catalog.Estimate != nil {
		return &wire.Size{Rows: *r.catalog.Estimate}, nil
	}
	var n int64
	if err := x.row(ctx, r.name, "SELECT COUNT(*) FROM "+r.from, nil, &n); err != nil {
		return nil, err
	}
	return &wire.Size{Rows: n, Exact: true}, nil
}

// Count counts by one statement, or declines: the SDK then counts what Query
// answers (A12).
func (s *Source) Count(ctx context.Context, req *wire.CountRequest) (int64, error) {
	x, err := s.open(ctx, req.Credentials)
	if err != nil {
		return 0, err
	}
	defer x.close()
	r, err := x.one(ctx, req.Table)
	if err != nil {
		return 0, err
	}
	if err := r.check(req.And, req.Or); err != nil {
		return 0, err
	}
	filters, err := x.filters(ctx, r, req.And, req.Or)
	if err != nil {
		return 0, err
	}
	if !filters.all {
		return 0, connector.ErrDecline
	}
	b := &builder{flavor: s.config.Flavor}
	var n int64
	err = x.row(ctx, r.name, "SELECT COUNT(*) FROM "+r.from+b.where(filters, r.column), b.args, &n)
	return n, err
}

// Cardinality counts all columns by one statement. One that the engine cannot
// count distinctly is answered nil (F1).
func (s *Source) Cardinality(ctx context.Context, req *wire.CardinalityRequest) (map[string]*wire.Cardinality, error) {
	x, err := s.open(ctx, req.Credentials)
	if err != nil {
		return nil, err
	}
	defer x.close()
	r, err := x.one(ctx, req.Table)
	if err != nil {
		return nil, err
	}
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
		ok, err := x.sortable(ctx, r, []*Column{c})
		if err != nil {
			return nil, err
		}
		if !ok {
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

// LinkHitRate measures by one statement where the engine can compare the
// columns exactly; else over the rows (F2).
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
	a, b := hops[0].keys[0], hops[0].keys[1]
	if exact {
		if exact, err = x.sortable(ctx, from, hops[0].keys[:1]); err != nil {
			return nil, err
		}
	}
	if !exact || a.Text == "" {
		return x.linkHere(ctx, req, from, hops[0])
	}
	left, right, _ := x.matched(a, b)
	orphans := "COALESCE(SUM(n), 0)"
	if has(bugHitRateRows) {
		orphans = "COUNT(n)"
	}
	statement := "WITH f AS (SELECT r.k AS k, r.x AS x, COUNT(*) AS n FROM (SELECT " + left + " AS k, " + a.Text + " AS x FROM " + from.from +
		") r WHERE r.k IS NOT NULL GROUP BY r.k, r.x)," +
		" o AS (SELECT f.x AS x, f.n AS n FROM f LEFT JOIN (SELECT DISTINCT " + right + " AS k FROM " + hops[0].to.from +
		" WHERE " + right + " IS NOT NULL) d ON d.k = f.k WHERE d.k IS NULL)" +
		" SELECT (SELECT COALESCE(SUM(n), 0) FROM f), (SELECT " + orphans + " FROM o), s.x" +
		" FROM (SELECT 1 AS one) u LEFT JOIN (SELECT DISTINCT x FROM o ORDER BY x" + s.config.Flavor.Window(s.config.Flavor.Param(1), "") + ") s ON 1 = 1"
	rows, err := x.tx.QueryContext(ctx, statement, int64(wire.MaxOrphanSamples))
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

// linkHere measures over the rows of both columns.
func (x *session) linkHere(ctx context.Context, req *wire.LinkHitRateRequest, from *relation, h hop) (*wire.LinkHitRate, error) {
	side := func(r *relation, c *Column) memsource.Relation {
		return memsource.Relation{
			Columns: []wire.Column{{Name: c.name, Type: c.Type}},
			Rows:    x.cells(ctx, r.name, "SELECT "+c.Cell+" FROM "+r.from, nil, []*Column{c}),
		}
	}
	return memsource.LinkHitRate(side(from, h.keys[0]), side(h.to, h.keys[1]), req, 0)
}
