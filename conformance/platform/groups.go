package platform

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/keyset"
	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Groups are the answer to an aggregate.
type Groups struct {
	Columns []wire.Column // the group keys, then the measures, under their "as"
	Rows    [][]wire.Value
	Stats   Stats
}

// Count returns the number of rows that pass the filters. Where the connector
// does not count them, it counts the rows of a query.
func (c *Connection) Count(ctx context.Context, req *wire.CountRequest) (int64, Stats, error) {
	return retried(ctx, c, func(c *Connection) (int64, Stats, error) { return c.count(ctx, req) })
}

func (c *Connection) count(ctx context.Context, req *wire.CountRequest) (n int64, stats Stats, err error) {
	asked, ok, err := c.pushCount(req)
	if err != nil {
		return 0, stats, err
	}
	if ok {
		err = c.ask(ctx, &stats, func() error {
			n, err = c.client.Count(ctx, c.credentials, asked)
			return err
		})
		if err == nil && !req.HasFilters() {
			c.noteCount(req.Table, n, &stats)
		}
		return n, stats, err
	}
	answer, err := c.Query(ctx, countedRows(req))
	if err != nil {
		return 0, stats, err
	}
	for _, err := range answer.read(&answer.Stats) {
		if err != nil {
			return 0, answer.Stats, err
		}
		n++
	}
	answer.Stats.Counted = true
	if !req.HasFilters() {
		c.noteCount(req.Table, n, &answer.Stats)
	}
	return n, answer.Stats, nil
}

// pushCount returns the request for the connector, and reports whether it counts all that
// is asked.
func (c *Connection) pushCount(req *wire.CountRequest) (asked *wire.CountRequest, ok bool, err error) {
	table, err := c.table(req.Table)
	if err != nil {
		return nil, false, err
	}
	if _, err := filter.Compile(req.Where, table.Columns()); err != nil {
		return nil, false, planned(err)
	}
	where, all := filter.Split(req.Where, keyset.Pushes(c.Document, table))
	asked = &wire.CountRequest{Table: req.Table, Where: where}
	asked.FieldTypes = typesOf(table, where, nil)
	return asked, all && c.lists(wire.EndpointCount), nil
}

// countedRows returns the query of the rows that are counted.
func countedRows(req *wire.CountRequest) *wire.QueryRequest {
	return &wire.QueryRequest{Table: req.Table, Where: req.Where}
}

// aggregate is an aggregate whose names have been looked up.
type aggregate struct {
	req   wire.AggregateRequest // with the limit that is sent
	table *wire.Table
	joins *joins
	plan  *relation.Aggregation // of the joined rows of all columns

	averages *averages // nil without an average
}

// planAggregate looks up the names of an aggregate. It refuses what has no exact answer.
func (c *Connection) planAggregate(req *wire.AggregateRequest) (*aggregate, error) {
	table, err := c.table(req.Table)
	if err != nil {
		return nil, err
	}
	a := &aggregate{req: *req, table: table}
	a.req.Envelope, a.req.StringFields, a.req.FieldTypes = wire.Envelope{}, nil, nil
	a.req.Limit = cmp.Or(req.Limit, wire.AggregateLimit)
	if a.req, a.averages, err = withoutAverages(a.req); err != nil {
		return nil, err
	}
	if a.joins, err = c.planJoins(table, req.Joins, nil); err != nil {
		return nil, err
	}
	if a.plan, err = relation.PlanAggregate(a.joins.plan.Columns, &a.req); err != nil {
		return nil, planned(err)
	}
	names := map[string]bool{}
	for _, column := range a.plan.Columns {
		if names[column.Name] {
			return nil, refuse("two columns of the aggregate are named %s", terms.QuoteName(column.Name))
		}
		names[column.Name] = true
	}
	return a, nil
}

// operands returns the columns of the joined rows that are grouped or measured, each
// once.
func (a *aggregate) operands() (columns []int) {
	add := func(at int) {
		if at >= 0 && !slices.Contains(columns, at) {
			columns = append(columns, at)
		}
	}
	for _, k := range a.plan.Keys {
		add(k.At)
	}
	for _, m := range a.plan.Measures {
		add(m.At)
	}
	return columns
}

// fields returns the base fields that are grouped or measured.
func (a *aggregate) fields() (fields []string) {
	for _, at := range a.operands() {
		if at < len(a.table.Fields) {
			fields = append(fields, a.table.Fields[at].Name)
		}
	}
	return fields
}

// rows returns the query of the rows that are grouped and measured.
func (a *aggregate) rows() *wire.QueryRequest {
	return &wire.QueryRequest{Table: a.req.Table, Where: a.req.Where, Joins: a.req.Joins, Fields: a.fields()}
}

// Aggregate groups the rows that pass the filters. If the connector cannot
// answer, or declines, the groups and measures are computed here from its rows.
// The limit of req is the number of groups that are too many ([ErrGroups]); 0 is
// [wire.AggregateLimit], which the platform always sends. A measure may be [Avg].
func (c *Connection) Aggregate(ctx context.Context, req *wire.AggregateRequest) (*Groups, error) {
	groups, stats, err := retried(ctx, c, func(c *Connection) (*Groups, Stats, error) {
		groups := &Groups{}
		err := c.aggregate(ctx, req, groups)
		return groups, groups.Stats, err
	})
	if err != nil {
		return nil, err
	}
	groups.Stats = stats
	return groups, nil
}

func (c *Connection) aggregate(ctx context.Context, req *wire.AggregateRequest, groups *Groups) error {
	a, err := c.planAggregate(req)
	if err != nil {
		return err
	}
	*groups = Groups{Columns: a.plan.Columns}
	if asked, ok := c.pushAggregate(a); ok {
		var declined bool
		err := c.ask(ctx, &groups.Stats, func() (err error) {
			groups.Rows, declined, err = c.client.Aggregate(ctx, c.credentials, asked, groups.Columns)
			return err
		})
		switch {
		case err != nil:
			return err
		case !declined && int64(len(groups.Rows)) >= asked.Limit:
			return refused(&relation.GroupsError{Limit: asked.Limit}, "")
		case !declined:
			if err := a.nulls(groups); err != nil {
				return err
			}
			return a.finish(groups)
		}
	}
	answer, err := c.Query(ctx, a.rows())
	if err != nil {
		return err
	}
	fold := a.req
	fold.Where = wire.Where{} // which the rows of the answer have passed
	rows := relation.Relation{Columns: answer.Columns, Rows: answer.read(&answer.Stats)}
	if groups.Rows, err = relation.Aggregate(rows, &fold, relation.NewBudget(c.budget)); err != nil {
		return refused(err, "group by fewer or coarser fields")
	}
	declined := groups.Stats.Requests
	groups.Stats = answer.Stats
	groups.Stats.Requests += declined
	groups.Stats.Folded = true
	return a.finish(groups)
}

// finish takes the averages.
func (a *aggregate) finish(groups *Groups) error {
	if a.averages == nil {
		return nil
	}
	return a.averages.of(groups)
}

// nulls returns the error of a null key where discovery rules nulls out.
func (a *aggregate) nulls(groups *Groups) error {
	if len(a.req.Joins) > 0 {
		return nil
	}
	for i, k := range a.plan.Keys {
		if a.table.Fields[k.At].Nullable {
			continue
		}
		for at, row := range groups.Rows {
			if row[i].IsNull() {
				return &AnswerError{Path: wire.PathAggregate, Place: fmt.Sprintf("rows[%d].%s", at, groups.Columns[i].Name),
					Rule: "discovery-7", Problem: "is null, and the field is not nullable"}
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
		return nil, planned(err)
	}
	slices.SortFunc(groups.Rows, order.Compare)
	groups.Rows = groups.Rows[:min(max(n, 0), len(groups.Rows))]
	groups.Stats.Sorted = true
	groups.Stats.Windowed = true
	return groups, nil
}

// pushAggregate returns the request for the connector, and reports whether all of
// it is declared.
func (c *Connection) pushAggregate(a *aggregate) (*wire.AggregateRequest, bool) {
	caps, asked := c.Document.Capabilities, a.req
	where, all := filter.Split(a.req.Where, keyset.Pushes(c.Document, a.table))
	if !all || !c.lists(wire.EndpointAggregate) || len(a.req.Joins) > 0 && !caps.Join {
		return nil, false
	}
	asked.Where = where
	asked.FieldTypes = typesOf(a.table, where, a.fields())
	asked.Joins = a.joins.stated()
	for _, at := range a.operands() {
		if column := a.joins.plan.Columns[at]; column.Type == wire.TypeString || column.Type == wire.TypeReference {
			asked.StringFields = append(asked.StringFields, column.Name)
		}
	}
	for _, k := range a.plan.Keys {
		if k.Grain != "" && !caps.DateBucket || isFalse(a.joins.field(a.table, k.At).Groupable) {
			return nil, false
		}
	}
	for _, m := range a.plan.Measures {
		if m.At >= 0 && isFalse(a.joins.field(a.table, m.At).Aggregatable) {
			return nil, false
		}
	}
	return &asked, true
}

func isFalse(b *bool) bool { return b != nil && !*b }
