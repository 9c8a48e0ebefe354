package faulttest

import (
	"cmp"
	"errors"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/measures"
	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func (c *bare) count(req *wire.CountRequest) (*reply, error) {
	t, err := c.table(req.Table)
	if err != nil {
		return nil, err
	}
	found, err := c.matching(t, req.Where)
	if err != nil {
		return nil, err
	}
	return written(&wire.CountAnswer{Count: c.counted(t.Name, req.HasFilters(), int64(len(found)))})
}

func (c *bare) aggregate(req *wire.AggregateRequest) (*reply, error) {
	t, err := c.table(req.Table)
	if err != nil {
		return nil, err
	}
	if len(req.Joins) > 0 {
		return nil, connector.Unsupported("aggregates over joins are not supported")
	}
	found, err := c.matching(t, apply(c.foldWhere, t.Name == c.Table, req.Where))
	if err != nil {
		return nil, err
	}
	folded := *req
	folded.Where = wire.Where{FieldTypes: req.FieldTypes}
	folded.GroupBy, folded.Measures = slices.Clone(req.GroupBy), slices.Clone(req.Measures)
	for i, key := range folded.GroupBy {
		folded.GroupBy[i] = apply(c.groupKey, c.is(t.Name, key.Field), key)
	}
	for i, m := range folded.Measures {
		folded.Measures[i] = apply(c.measure, c.is(t.Name, m.Field), m)
	}
	columns := t.Columns()
	for i := range columns {
		if c.is(t.Name, columns[i].Name) {
			columns[i].Type = cmp.Or(c.foldType, columns[i].Type)
		}
	}
	rows := pick(c.seen(t.Name, columns, t.Rows, c.group), found)
	groups, err := measures.Aggregate(relation.Relation{Columns: columns, Rows: memsource.RowsOf(rows...)}, &folded, 0)
	if errors.Is(err, connector.ErrDecline) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	answer := wire.AggregateAnswer{Rows: []map[string]wire.Value{}}
	for _, cells := range groups {
		if row := c.grouped(req, cells); row != nil {
			answer.Rows = append(answer.Rows, row)
		}
	}
	return written(&answer)
}

// grouped returns a row of an aggregate by the names of its members, or nil if it is left out.
func (c *bare) grouped(req *wire.AggregateRequest, cells []wire.Value) map[string]wire.Value {
	row := map[string]wire.Value{}
	for i, key := range req.GroupBy {
		if row[key.As] = cells[i]; c.dropsNulls && c.is(req.Table, key.Field) && cells[i].IsNull() {
			return nil
		}
	}
	for i, m := range req.Measures {
		v := cells[len(req.GroupBy)+i]
		if c.measured != nil && c.is(req.Table, m.Field) && !v.IsNull() {
			v = c.measured(m.Fn, v)
		}
		row[m.As] = v
	}
	return row
}

func (c *bare) size(req *wire.SizeRequest) (*reply, error) {
	t, err := c.table(req.Table)
	if err != nil {
		return nil, err
	}
	rows := apply(c.habit.size, t.Name == c.Table, int64(len(t.Rows)))
	return written(&wire.SizeAnswer{Size: &wire.Size{Rows: rows, Exact: true}})
}

func (c *bare) cardinality(req *wire.CardinalityRequest) (*reply, error) {
	t, err := c.table(req.Table)
	if err != nil {
		return nil, err
	}
	columns, err := measures.Cardinality(inMemory(t), req, 0)
	if err != nil {
		return nil, err
	}
	for name, right := range columns {
		if right != nil {
			counted := apply(c.distinct, c.is(t.Name, name), *right)
			columns[name] = &counted
		}
	}
	return written(&wire.CardinalityAnswer{Columns: columns})
}

func (c *bare) linkHitRate(req *wire.LinkHitRateRequest) (*reply, error) {
	from, err := c.table(req.FromTable)
	if err != nil {
		return nil, err
	}
	to, err := c.table(req.ToTable)
	if err != nil {
		return nil, err
	}
	measured := *req
	here := c.is(req.FromTable, req.FromColumn)
	if c.links != nil && here {
		c.links(&measured)
		from, to = c.set.Table(measured.FromTable), c.set.Table(measured.ToTable)
	}
	link, err := measures.LinkHitRate(inMemory(from), inMemory(to), &measured, 0)
	if err != nil {
		return nil, err
	}
	if c.habit.linked != nil && here {
		c.habit.linked(link)
	}
	if link.FromNonNull > 0 {
		link.OrphanRate = float64(link.OrphanCount) / float64(link.FromNonNull)
	}
	if link.OrphanSamples == nil {
		link.OrphanSamples = []string{}
	}
	return written(link)
}

func inMemory(t *memsource.Table) relation.Relation {
	return relation.Relation{Columns: t.Columns(), Rows: memsource.RowsOf(t.Rows...)}
}
