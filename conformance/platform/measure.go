package platform

import (
	"context"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/fold"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Size returns the number of rows of a table. Where the connector does not know
// it, the rows are read and counted, up to the reach [rule measure-10]. A table
// with more rows than one query can reach is a *ReachError, beside the size if
// the connector stated it [rule connect-9].
func (c *Connection) Size(ctx context.Context, table string) (*wire.Size, Work, error) {
	var work Work
	t, err := c.table(table)
	if err != nil {
		return nil, work, err
	}
	reach, limit := c.reach, "the reach of one query"
	if most := c.Document.Capabilities.Limits.RowsPerTableMax; most > 0 && most < reach {
		reach, limit = most, "rowsPerTableMax"
	}
	if c.lists(wire.EndpointSize) {
		var size *wire.Size
		err := c.ask(ctx, &work, func() (err error) {
			size, err = c.client.Size(ctx, c.credentials, table)
			return err
		})
		if err != nil {
			return nil, work, err
		}
		if size != nil {
			if size.Rows > reach {
				return size, work, &ReachError{Table: table, Rows: size.Rows, Reach: reach, Route: wire.PathSize, Limit: limit}
			}
			return size, work, nil
		}
	}
	size := &wire.Size{Exact: true}
	p := c.whole(t, countable(t))
	p.request.Limit = reach + 1
	for _, err := range c.rows(ctx, p, &work) {
		if err != nil {
			return nil, work, err
		}
		if size.Rows++; size.Rows > reach {
			return nil, work, &ReachError{Table: table, Reach: reach, Route: wire.PathQuery, Limit: limit}
		}
	}
	work.Counted = true
	return size, work, nil
}

// Cardinality counts the values that are not null, and the distinct ones among
// them, in columns of a table. What the connector does not count is counted here
// [rule measure-7].
func (c *Connection) Cardinality(ctx context.Context, table string, columns ...string) (map[string]*wire.Cardinality, Work, error) {
	var work Work
	t, err := c.table(table)
	if err != nil {
		return nil, work, err
	}
	for _, name := range columns {
		if t.Field(name) == nil {
			return nil, work, refuse("table %s has no field %s", wire.QuoteName(table), wire.QuoteName(name))
		}
	}
	columns = slices.Compact(slices.Sorted(slices.Values(columns)))
	counts := map[string]*wire.Cardinality{}
	if c.lists(wire.EndpointCardinality) && len(columns) > 0 {
		err := c.ask(ctx, &work, func() (err error) {
			counts, err = c.client.Cardinality(ctx, c.credentials, table, columns)
			return err
		})
		if err != nil {
			return nil, work, err
		}
	}
	var open []string
	for _, name := range columns {
		if counts[name] == nil {
			open = append(open, name)
		}
	}
	if len(open) > 0 {
		err = c.countValues(ctx, t, open, counts, &work)
	}
	return counts, work, err
}

// countValues counts the values of columns by reading them.
func (c *Connection) countValues(
	ctx context.Context, t *wire.Table, columns []string, counts map[string]*wire.Cardinality, work *Work,
) error {
	work.Counted = true
	budget := newBudget(c.budget)
	p := c.whole(t, columns)
	distinct := make([]map[string]struct{}, len(columns))
	for i, name := range columns {
		distinct[i] = map[string]struct{}{}
		counts[name] = &wire.Cardinality{}
	}
	var key []byte
	for row, err := range c.rows(ctx, p, work) {
		if err != nil {
			return err
		}
		for i, v := range row {
			if v.IsNull() {
				continue
			}
			counts[columns[i]].NonNull++
			key = filter.AppendKey(key[:0], v, p.columns[i].Type)
			if _, known := distinct[i][string(key)]; known {
				continue
			}
			distinct[i][string(key)] = struct{}{}
			counts[columns[i]].Distinct++
			if !budget.spend(fold.KeySize(key)) {
				return budget.over("counting the distinct values of table "+wire.QuoteName(t.Name), "count fewer columns at once")
			}
		}
	}
	return nil
}

// LinkHitRate measures how many values of one column are found in another, here
// if the connector does not.
func (c *Connection) LinkHitRate(ctx context.Context, req *wire.LinkHitRateRequest) (*wire.LinkHitRate, Work, error) {
	var work Work
	from, err := c.table(req.FromTable)
	if err != nil {
		return nil, work, err
	}
	to, err := c.table(req.ToTable)
	if err != nil {
		return nil, work, err
	}
	fromField, toField := from.Field(req.FromColumn), to.Field(req.ToColumn)
	if fromField == nil {
		return nil, work, refuse("table %s has no field %s", wire.QuoteName(from.Name), wire.QuoteName(req.FromColumn))
	}
	if toField == nil {
		return nil, work, refuse("table %s has no field %s", wire.QuoteName(to.Name), wire.QuoteName(req.ToColumn))
	}
	if c.lists(wire.EndpointLinkHitRate) {
		asked := *req
		asked.Envelope = wire.Envelope{}
		var rate *wire.LinkHitRate
		err := c.ask(ctx, &work, func() (err error) {
			rate, err = c.client.LinkHitRate(ctx, c.credentials, &asked)
			return err
		})
		return rate, work, err
	}
	work.Counted = true
	numeric := fromField.Type.Numeric() && toField.Type.Numeric()
	keys, err := c.keys(ctx, to, req.ToColumn, numeric, &work)
	if err != nil {
		return nil, work, err
	}
	rate := &wire.LinkHitRate{}
	var key []byte
	for row, err := range c.rows(ctx, c.whole(from, []string{req.FromColumn}), &work) {
		if err != nil {
			return nil, work, err
		}
		if row[0].IsNull() {
			continue
		}
		rate.FromNonNull++
		var ok bool
		if key, ok = fold.AppendJoinKey(key[:0], row[0], numeric); ok {
			if _, found := keys[string(key)]; found {
				continue
			}
		}
		rate.OrphanCount++
		rate.OrphanSamples = sample(rate.OrphanSamples, row[0].String())
	}
	if rate.FromNonNull > 0 {
		rate.OrphanRate = float64(rate.OrphanCount) / float64(rate.FromNonNull)
	}
	return rate, work, nil
}

// keys reads the distinct keys of a column.
func (c *Connection) keys(ctx context.Context, t *wire.Table, column string, numeric bool, work *Work) (map[string]struct{}, error) {
	budget := newBudget(c.budget)
	keys := map[string]struct{}{}
	var key []byte
	for row, err := range c.rows(ctx, c.whole(t, []string{column}), work) {
		if err != nil {
			return nil, err
		}
		var ok bool
		if key, ok = fold.AppendJoinKey(key[:0], row[0], numeric); !ok {
			continue
		}
		if _, known := keys[string(key)]; known {
			continue
		}
		keys[string(key)] = struct{}{}
		if !budget.spend(fold.KeySize(key)) {
			return nil, budget.over("the keys of table "+wire.QuoteName(t.Name), "measure a smaller table")
		}
	}
	return keys, nil
}

// sample keeps the first distinct texts in byte order.
func sample(samples []string, text string) []string {
	at, known := slices.BinarySearch(samples, text)
	if known || at == wire.MaxOrphanSamples {
		return samples
	}
	if len(samples) == wire.MaxOrphanSamples {
		samples = samples[:wire.MaxOrphanSamples-1]
	}
	return slices.Insert(samples, at, text)
}
