package main

import (
	"context"
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The optional routes. Package kit computes them from rows, exactly, and
// within memsource.DefaultBudget of memory for each request; what was counted when
// the file was described is answered without reading it again.

var (
	_ connector.Describer           = (*source)(nil)
	_ connector.Sizer               = (*source)(nil)
	_ connector.Counter             = (*source)(nil)
	_ connector.Aggregator          = (*source)(nil)
	_ connector.DateAggregator      = (*source)(nil)
	_ connector.CardinalityMeasurer = (*source)(nil)
	_ connector.LinkMeasurer        = (*source)(nil)
	_ connector.Joiner              = (*source)(nil)
)

// relation are the rows of the table for package memsource.
func (t *openTable) relation(ctx context.Context) memsource.Relation {
	return memsource.Relation{Columns: t.wireColumns(), Rows: t.all(ctx, t.file)}
}

// Size is the exact number of rows.
func (s *source) Size(ctx context.Context, req *wire.SizeRequest) (*wire.Size, error) {
	t, err := s.open(ctx, req.Credentials, req.Table)
	if err != nil {
		return nil, err
	}
	defer t.close()
	return &wire.Size{Rows: t.rowCount, Exact: true}, nil
}

// Count reads the file, unless there is nothing to filter by.
func (s *source) Count(ctx context.Context, req *wire.CountRequest) (int64, error) {
	t, err := s.open(ctx, req.Credentials, req.Table)
	if err != nil {
		return 0, err
	}
	defer t.close()
	if len(req.And) == 0 && len(req.Or) == 0 {
		return t.rowCount, nil
	}
	return memsource.Count(t.relation(ctx), req)
}

// Aggregate folds the rows of the file, joined or not.
func (s *source) Aggregate(ctx context.Context, req *wire.AggregateRequest) (*connector.AggregateAnswer, error) {
	t, err := s.open(ctx, req.Credentials, req.Table)
	if err != nil {
		return nil, err
	}
	defer t.close()
	rows := t.relation(ctx)
	if len(req.Joins) > 0 {
		joins := memsource.JoinRequest{Table: req.Table, Joins: req.Joins, FieldTypes: req.FieldTypes}
		if rows, err = s.join(ctx, req.Credentials, rows, joins); err != nil {
			return nil, err
		}
	}
	return memsource.Aggregate(rows, req, memsource.DefaultBudget)
}

// AggregateByDate is Aggregate: package kit takes grains too.
func (s *source) AggregateByDate(ctx context.Context, req *wire.AggregateRequest) (*connector.AggregateAnswer, error) {
	return s.Aggregate(ctx, req)
}

// Cardinality answers what was counted with the description, and reads the
// file for the columns that were too many to count there.
func (s *source) Cardinality(ctx context.Context, req *wire.CardinalityRequest) (map[string]*wire.Cardinality, error) {
	t, err := s.open(ctx, req.Credentials, req.Table)
	if err != nil {
		return nil, err
	}
	defer t.close()
	answer := map[string]*wire.Cardinality{}
	rest := *req
	rest.Columns = nil
	for _, name := range req.Columns {
		if i := t.field(name); i >= 0 {
			if counted, ok := t.columns[i].profile.cardinality(); ok {
				answer[name] = &counted
				continue
			}
		}
		rest.Columns = append(rest.Columns, name)
	}
	if len(rest.Columns) == 0 {
		return answer, nil
	}
	measured, err := memsource.Cardinality(t.relation(ctx), &rest, memsource.DefaultBudget)
	for name, c := range measured {
		answer[name] = c
	}
	return answer, err
}

// LinkHitRate reads both files.
func (s *source) LinkHitRate(ctx context.Context, req *wire.LinkHitRateRequest) (*wire.LinkHitRate, error) {
	from, err := s.open(ctx, req.Credentials, req.FromTable)
	if err != nil {
		return nil, err
	}
	defer from.close()
	to, err := s.open(ctx, req.Credentials, req.ToTable)
	if err != nil {
		return nil, err
	}
	defer to.close()
	return memsource.LinkHitRate(from.relation(ctx), to.relation(ctx), req, memsource.DefaultBudget)
}

// QueryJoined holds the joined tables in memory, within the budget, and
// streams the base table.
func (s *source) QueryJoined(ctx context.Context, req *connector.QueryRequest, out *connector.Rows) error {
	t, err := s.open(ctx, req.Credentials, req.Table)
	if err != nil {
		return err
	}
	defer t.close()
	joins := memsource.JoinRequest{Table: req.Table, Joins: req.Joins, Fields: req.Fields, FieldTypes: req.FieldTypes}
	joined, err := s.join(ctx, req.Credentials, t.relation(ctx), joins)
	if err != nil {
		return err
	}
	w := out.Begin(joined.Columns)
	return w.All(joined.Rows)
}

// join joins the tables of the request's hops to base. They are read when it
// returns.
func (s *source) join(
	ctx context.Context, creds wire.Credentials, base memsource.Relation, req memsource.JoinRequest,
) (memsource.Relation, error) {
	var hops []memsource.Relation
	for i, j := range req.Joins {
		t, err := s.open(ctx, creds, j.ToTable)
		if err != nil {
			return memsource.Relation{}, fmt.Errorf("joins[%d]: %w", i, err)
		}
		defer t.close()
		hops = append(hops, t.relation(ctx))
	}
	return memsource.Join(base, req, hops, memsource.DefaultBudget)
}
