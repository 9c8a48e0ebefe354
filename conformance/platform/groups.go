package platform

import (
	"context"
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Groups are the answer to an aggregate.
type Groups struct {
	Columns []wire.Column // the group keys, then the measures, under their "as"
	Rows    [][]wire.Value
	Work    Work
}

// Count returns the number of rows that pass the filters. Where the connector
// does not count them, it counts the rows of a query.
func (c *Connection) Count(ctx context.Context, req *wire.CountRequest) (n int64, work Work, err error) {
	table, err := c.table(req.Table)
	if err != nil {
		return 0, work, err
	}
	if _, err := filter.Compile(req.Where, table.Columns()); err != nil {
		return 0, work, refuse("%s", textOf(err))
	}
	where, all := filter.Split(req.Where, c.pushes(table))
	if all && c.lists(wire.EndpointCount) {
		asked := &wire.CountRequest{Table: req.Table, Where: where}
		asked.FieldTypes = typesOf(table, where, nil)
		err = c.ask(ctx, &work, func() error {
			n, err = c.client.Count(ctx, c.credentials, asked)
			return err
		})
		return n, work, err
	}
	answer, err := c.Query(ctx, &wire.QueryRequest{Table: req.Table, Where: req.Where})
	if err != nil {
		return 0, work, err
	}
	for _, err := range answer.All() {
		if err != nil {
			return 0, answer.work, err
		}
		n++
	}
	answer.work.Counted = true
	return n, answer.work, nil
}

// Aggregate groups the rows that pass the filters. If the connector cannot
// answer, or declines, the groups and measures are computed here from its rows.
// The limit of req is the number of groups that are too many; 0 is
// [wire.AggregateLimit], which the platform always sends. So many groups are a
// *GroupsError.
func (c *Connection) Aggregate(ctx context.Context, req *wire.AggregateRequest) (*Groups, error) {
	f, err := c.planFold(req)
	if err != nil {
		return nil, err
	}
	groups := &Groups{Columns: f.columns}
	if asked, ok := c.pushAggregate(f); ok {
		var declined bool
		err := c.ask(ctx, &groups.Work, func() (err error) {
			groups.Rows, declined, err = c.client.Aggregate(ctx, c.credentials, asked, f.columns)
			return err
		})
		switch {
		case err != nil:
			return nil, err
		case !declined && int64(len(groups.Rows)) >= f.limit:
			return nil, &GroupsError{f.limit}
		case !declined:
			if err := f.nulls(groups.Rows); err != nil {
				return nil, err
			}
			return groups, nil
		}
	}
	answer, err := c.Query(ctx, &f.query)
	if err != nil {
		return nil, err
	}
	f.budget = newBudget(c.budget)
	for row, err := range answer.All() {
		if err == nil {
			err = f.add(row)
		}
		if err != nil {
			return nil, err
		}
	}
	declined := groups.Work.Requests
	groups.Rows, groups.Work = f.groups.Rows(), answer.work
	groups.Work.Requests += declined
	groups.Work.Folded = true
	return groups, nil
}

// nulls returns the error of a null key where discovery rules nulls out.
func (f *folding) nulls(groups [][]wire.Value) error {
	for i, k := range f.keys {
		if k.field.Nullable || len(f.req.Joins) > 0 {
			continue
		}
		for at, row := range groups {
			if row[i].IsNull() {
				return &AnswerError{Path: wire.PathAggregate, Place: fmt.Sprintf("rows[%d].%s", at, f.columns[i].Name), Rule: "discovery-7",
					Problem: "is null, and the field is not nullable"}
			}
		}
	}
	return nil
}

// Top returns the first n groups of an aggregate in the order of its columns
// [rule aggregate-15]. The connector answers all groups.
func (c *Connection) Top(ctx context.Context, req *wire.AggregateRequest, sort []wire.SortKey, n int) (*Groups, error) {
	groups, err := c.Aggregate(ctx, req)
	if err != nil {
		return nil, err
	}
	order, err := filter.CompileOrder(sort, groups.Columns, nil, nil)
	if err != nil {
		return nil, refuse("%s", textOf(err))
	}
	slices.SortFunc(groups.Rows, order.Compare)
	groups.Rows = groups.Rows[:min(max(n, 0), len(groups.Rows))]
	groups.Work.Sorted = true
	groups.Work.Windowed = true
	return groups, nil
}

// pushAggregate returns the request for the connector, and reports whether all of
// it is declared.
func (c *Connection) pushAggregate(f *folding) (*wire.AggregateRequest, bool) {
	caps, req := c.Document.Capabilities, f.req
	where, all := filter.Split(req.Where, c.pushes(f.table))
	if !all || !c.lists(wire.EndpointAggregate) || len(req.Joins) > 0 && !caps.Join {
		return nil, false
	}
	asked := *req
	asked.Envelope = wire.Envelope{}
	asked.Where, asked.Limit, asked.StringFields = where, f.limit, nil
	asked.FieldTypes = typesOf(f.table, where, f.query.Fields)
	asked.Joins = statedJoins(req.Joins, f.hops)
	text := func(name string, t wire.Type) {
		if (t == wire.TypeString || t == wire.TypeReference) && !slices.Contains(asked.StringFields, name) {
			asked.StringFields = append(asked.StringFields, name)
		}
	}
	for _, k := range f.keys {
		if k.grain != "" && !caps.DateBucket || k.field != nil && isFalse(k.field.Groupable) {
			return nil, false
		}
		text(k.name, k.typ)
	}
	for _, m := range f.measures {
		if m.field != nil && isFalse(m.field.Aggregatable) {
			return nil, false
		}
		text(m.name, m.typ)
	}
	return &asked, true
}

func isFalse(b *bool) bool { return b != nil && !*b }
