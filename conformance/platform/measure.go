package platform

import (
	"context"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Size returns the number of rows of a table. Where the connector does not know
// it, the rows are read and counted, up to the reach [rule measure-10]. A table
// with more rows than one query can reach is [ErrReach], beside the size if
// the connector stated it [rule connect-9].
func (c *Connection) Size(ctx context.Context, table string) (*wire.Size, Stats, error) {
	return retried(ctx, c, func(c *Connection) (*wire.Size, Stats, error) { return c.size(ctx, table) })
}

func (c *Connection) size(ctx context.Context, table string) (*wire.Size, Stats, error) {
	var stats Stats
	t, err := c.table(table)
	if err != nil {
		return nil, stats, err
	}
	reach, limit := c.reach, "the reach of one query"
	if most := c.Document.Capabilities.Limits.RowsPerTableMax; most > 0 && most < reach {
		reach, limit = most, "rowsPerTableMax"
	}
	if c.lists(wire.EndpointSize) {
		var size *wire.Size
		err := c.ask(ctx, &stats, func() (err error) {
			size, err = c.client.Size(ctx, c.credentials, table)
			return err
		})
		if err != nil {
			return nil, stats, err
		}
		if size != nil {
			if size.Rows > reach {
				return size, stats, reachError{table, size.Rows, reach, wire.PathSize, limit}.refuse()
			}
			c.sizes.see(table, size, &stats)
			return size, stats, nil
		}
	}
	size := &wire.Size{Exact: true}
	p := c.whole(t, countable(t))
	p.request.Limit = reach + 1
	for _, err := range c.rows(ctx, p, &stats) {
		if err != nil {
			return nil, stats, err
		}
		if size.Rows++; size.Rows > reach {
			return nil, stats, reachError{table, 0, reach, wire.PathQuery, limit}.refuse()
		}
	}
	stats.Counted = true
	c.sizes.see(table, size, &stats)
	return size, stats, nil
}

// Cardinality counts the values that are not null, and the distinct ones among
// them, in columns of a table. What the connector does not count is counted here
// [rule measure-7].
func (c *Connection) Cardinality(ctx context.Context, table string, columns ...string) (map[string]*wire.Cardinality, Stats, error) {
	return retried(ctx, c, func(c *Connection) (map[string]*wire.Cardinality, Stats, error) {
		return c.cardinality(ctx, table, columns)
	})
}

func (c *Connection) cardinality(ctx context.Context, table string, columns []string) (map[string]*wire.Cardinality, Stats, error) {
	var stats Stats
	t, err := c.table(table)
	if err != nil {
		return nil, stats, err
	}
	for _, name := range columns {
		if t.Field(name) == nil {
			return nil, stats, refuse("table %s has no field %s", terms.QuoteName(table), terms.QuoteName(name))
		}
	}
	columns = slices.Compact(slices.Sorted(slices.Values(columns)))
	counts := map[string]*wire.Cardinality{}
	if c.lists(wire.EndpointCardinality) && len(columns) > 0 {
		err := c.ask(ctx, &stats, func() (err error) {
			counts, err = c.client.Cardinality(ctx, c.credentials, table, columns)
			return err
		})
		if err != nil {
			return nil, stats, err
		}
		for _, name := range columns {
			if counts[name] != nil {
				c.noteCounts(t, name, counts[name], &stats)
			}
		}
	}
	var open []string
	for _, name := range columns {
		if counts[name] == nil {
			open = append(open, name)
		}
	}
	if len(open) == 0 {
		return counts, stats, nil
	}
	stats.Counted = true
	measured, err := relation.Cardinality(c.relation(ctx, t, open, &stats),
		&wire.CardinalityRequest{Table: table, Columns: open}, relation.NewBudget(c.budget), true)
	for name, n := range measured {
		counts[name] = n
		c.noteCounts(t, name, n, &stats)
	}
	return counts, stats, refused(err, "count fewer columns at once")
}

// LinkHitRate measures how many values of one column are found in another, here
// if the connector does not.
func (c *Connection) LinkHitRate(ctx context.Context, req *wire.LinkHitRateRequest) (*wire.LinkHitRate, Stats, error) {
	return retried(ctx, c, func(c *Connection) (*wire.LinkHitRate, Stats, error) { return c.linkHitRate(ctx, req) })
}

func (c *Connection) linkHitRate(ctx context.Context, req *wire.LinkHitRateRequest) (*wire.LinkHitRate, Stats, error) {
	var stats Stats
	from, err := c.table(req.FromTable)
	if err != nil {
		return nil, stats, err
	}
	to, err := c.table(req.ToTable)
	if err != nil {
		return nil, stats, err
	}
	if from.Field(req.FromColumn) == nil {
		return nil, stats, refuse("table %s has no field %s", terms.QuoteName(from.Name), terms.QuoteName(req.FromColumn))
	}
	if to.Field(req.ToColumn) == nil {
		return nil, stats, refuse("table %s has no field %s", terms.QuoteName(to.Name), terms.QuoteName(req.ToColumn))
	}
	if c.lists(wire.EndpointLinkHitRate) {
		asked := *req
		asked.Envelope = wire.Envelope{}
		var rate *wire.LinkHitRate
		err := c.ask(ctx, &stats, func() (err error) {
			rate, err = c.client.LinkHitRate(ctx, c.credentials, &asked)
			return err
		})
		if err == nil {
			c.noteNonNull(from.Name, req.FromColumn, rate.FromNonNull, &stats)
		}
		return rate, stats, err
	}
	stats.Counted = true
	rate, err := relation.LinkHitRate(c.relation(ctx, from, []string{req.FromColumn}, &stats),
		c.relation(ctx, to, []string{req.ToColumn}, &stats), req, relation.NewBudget(c.budget))
	if err != nil {
		return nil, stats, refused(err, "measure a smaller table")
	}
	c.noteNonNull(from.Name, req.FromColumn, rate.FromNonNull, &stats)
	if len(rate.OrphanSamples) == 0 {
		rate.OrphanSamples = nil // as in an answer that was read
	}
	return rate, stats, nil
}
