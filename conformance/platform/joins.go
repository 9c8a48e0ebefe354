package platform

import (
	"context"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// joins are the joins of a question whose names have been looked up.
type joins struct {
	request relation.JoinRequest
	tables  []*wire.Table // of the hops
	plan    *relation.JoinPlan
	columns []wire.Column // what the hops add, under their "as"
}

// planJoins looks the names of joins up in the discovered tables.
func (c *Connection) planJoins(base *wire.Table, hops []wire.JoinHop, fields []string) (*joins, error) {
	j := &joins{request: relation.JoinRequest{Table: base.Name, Joins: hops, Fields: fields}}
	columns := make([][]wire.Column, len(hops))
	for i, hop := range hops {
		table, err := c.table(hop.ToTable)
		if err != nil {
			return nil, err
		}
		j.tables, columns[i] = append(j.tables, table), table.Columns()
	}
	var err error
	if j.plan, err = relation.PlanJoin(base.Columns(), columns, j.request); err != nil {
		return nil, planned(err)
	}
	j.columns = j.plan.Columns[len(base.Fields):]
	return j, nil
}

// field returns the field that a column of the joined rows has.
func (j *joins) field(base *wire.Table, column int) *wire.Field {
	hop, at := j.plan.Origin(column)
	if hop == 0 {
		return &base.Fields[at]
	}
	return &j.tables[hop-1].Fields[at]
}

// stated returns the hops, whose fields all have a name in the answer and a type.
func (j *joins) stated() []wire.JoinHop {
	stated, columns := slices.Clone(j.request.Joins), j.columns
	for i := range stated {
		stated[i].Fields = slices.Clone(stated[i].Fields)
		for k := range stated[i].Fields {
			stated[i].Fields[k].As, stated[i].Fields[k].Type = columns[0].Name, columns[0].Type
			columns = columns[1:]
		}
	}
	return stated
}

// joiner reads the tables of the hops, one after the other, to join them to rows of
// these base columns.
func (c *Connection) joiner(
	ctx context.Context, j *joins, base []wire.Column, budget *relation.Budget, stats *Stats,
) (*relation.Joiner, error) {
	stats.Joined = true
	hops := make([]relation.Relation, len(j.tables))
	for i, table := range j.tables {
		hops[i] = c.relation(ctx, table, j.fields(i), stats)
	}
	joiner, err := relation.NewJoiner(base, j.request, hops, budget)
	return joiner, refused(err, "join a smaller table")
}

// fields returns what a join reads of the table of the ith hop.
func (j *joins) fields(i int) (fields []string) {
	for _, at := range j.plan.Needed(i) {
		fields = append(fields, j.tables[i].Fields[at].Name)
	}
	return fields
}

// relation returns fields of all rows of a table.
func (c *Connection) relation(ctx context.Context, t *wire.Table, fields []string, stats *Stats) relation.Relation {
	p := c.whole(t, fields)
	return relation.Relation{Columns: p.columns, Rows: c.rows(ctx, p, stats)}
}

// whole returns the pull of all rows of a table.
func (c *Connection) whole(t *wire.Table, fields []string) *pull {
	p := &pull{table: t, request: wire.QueryRequest{Table: t.Name, Fields: fields}}
	for _, name := range fields {
		p.columns = append(p.columns, wire.Column{Name: name, Type: t.Field(name).Type})
	}
	return p
}
