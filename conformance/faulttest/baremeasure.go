package faulttest

import (
	"errors"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
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
	count := int64(len(found))
	if c.defect.Count != nil {
		count = c.defect.Count(req, count)
	}
	return written(&wire.CountAnswer{Count: count})
}

func (c *bare) aggregate(req *wire.AggregateRequest) (*reply, error) {
	t, err := c.table(req.Table)
	if err != nil {
		return nil, err
	}
	if len(req.Joins) > 0 {
		return nil, connector.Unsupported("aggregates over joins are not supported")
	}
	where := req.Where
	if c.defect.FoldWhere != nil {
		where = c.defect.FoldWhere(t.Name, where)
	}
	found, err := c.matching(t, where)
	if err != nil {
		return nil, err
	}
	folded := *req
	folded.Where = wire.Where{FieldTypes: req.FieldTypes}
	folded.GroupBy, folded.Measures = slices.Clone(req.GroupBy), slices.Clone(req.Measures)
	if c.defect.Fold != nil {
		c.defect.Fold(&folded)
	}
	columns := t.Columns()
	if c.defect.FoldType != nil {
		for i := range columns {
			columns[i].Type = c.defect.FoldType(t.Name, columns[i].Name, columns[i].Type)
		}
	}
	rows := pick(seen(t.Name, columns, t.Rows, c.defect.Group), found)
	groups, err := memsource.Aggregate(memsource.Relation{Columns: columns, Rows: memsource.RowsOf(rows...)}, &folded, 0)
	if errors.Is(err, connector.ErrDecline) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if c.defect.Groups != nil {
		groups = c.defect.Groups(req, groups)
	}
	answer := wire.AggregateAnswer{Rows: []map[string]wire.Value{}}
	for _, cells := range groups {
		row := map[string]wire.Value{}
		for i, key := range req.GroupBy {
			row[key.As] = cells[i]
		}
		for i, measure := range req.Measures {
			row[measure.As] = cells[len(req.GroupBy)+i]
		}
		answer.Rows = append(answer.Rows, row)
	}
	return written(&answer)
}

func (c *bare) size(req *wire.SizeRequest) (*reply, error) {
	t, err := c.table(req.Table)
	if err != nil {
		return nil, err
	}
	rows := int64(len(t.Rows))
	if c.defect.Size != nil {
		rows = c.defect.Size(t.Name, rows)
	}
	return written(&wire.SizeAnswer{Size: &wire.Size{Rows: rows, Exact: true}})
}

func (c *bare) cardinality(req *wire.CardinalityRequest) (*reply, error) {
	t, err := c.table(req.Table)
	if err != nil {
		return nil, err
	}
	columns, err := memsource.Cardinality(relation(t), req, 0)
	if err != nil {
		return nil, err
	}
	if c.defect.Distinct != nil {
		for name, right := range columns {
			columns[name] = c.defect.Distinct(t.Name, name, right)
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
	if c.defect.Measure != nil {
		c.defect.Measure(&measured)
		from, to = c.set.Table(measured.FromTable), c.set.Table(measured.ToTable)
	}
	link, err := memsource.LinkHitRate(relation(from), relation(to), &measured, 0)
	if err != nil {
		return nil, err
	}
	if c.defect.Unmatched != nil {
		c.defect.Unmatched(req, link)
	}
	if link.FromNonNull > 0 {
		link.OrphanRate = float64(link.OrphanCount) / float64(link.FromNonNull)
	}
	if link.OrphanSamples == nil {
		link.OrphanSamples = []string{}
	}
	return written(link)
}

func relation(t *memsource.Table) memsource.Relation {
	return memsource.Relation{Columns: t.Columns(), Rows: memsource.RowsOf(t.Rows...)}
}
