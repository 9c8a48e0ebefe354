package filesource

import (
	"context"
	"fmt"
	"maps"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Query reads the file from its start, in constant memory.
func (s *Source) Query(ctx context.Context, req *connector.QueryRequest, out *connector.Rows) error {
	t, err := s.open(ctx, req.Credentials, req.Table)
	if err != nil {
		return err
	}
	defer t.close()
	rows := t.relation(ctx)
	return out.Begin(rows.Columns).All(rows.Rows)
}

// QueryJoined reads the joined tables into memory, within the budget, and then
// streams the base table.
func (s *Source) QueryJoined(ctx context.Context, req *connector.QueryRequest, out *connector.Rows) error {
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
	return out.Begin(joined.Columns).All(joined.Rows)
}

// join joins the tables of the request's hops to base. It reads the tables
// before it returns.
func (s *Source) join(
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
	return memsource.Join(base, req, hops, s.budget)
}

// Size returns the exact number of rows.
func (s *Source) Size(ctx context.Context, req *wire.SizeRequest) (*wire.Size, error) {
	t, err := s.open(ctx, req.Credentials, req.Table)
	if err != nil {
		return nil, err
	}
	defer t.close()
	return &wire.Size{Rows: t.rowCount, Exact: true}, nil
}

// Count reads the file, unless there is nothing to filter by.
func (s *Source) Count(ctx context.Context, req *wire.CountRequest) (int64, error) {
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
func (s *Source) Aggregate(ctx context.Context, req *wire.AggregateRequest) ([][]wire.Value, error) {
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
	return memsource.Aggregate(rows, req, s.budget)
}

// Cardinality answers what was counted with the description. It reads the file
// for the columns that had too many values to be counted there.
func (s *Source) Cardinality(ctx context.Context, req *wire.CardinalityRequest) (map[string]*wire.Cardinality, error) {
	t, err := s.open(ctx, req.Credentials, req.Table)
	if err != nil {
		return nil, err
	}
	defer t.close()
	answer := map[string]*wire.Cardinality{}
	uncounted := *req
	uncounted.Columns = nil
	for _, name := range req.Columns {
		if i := t.field(name); i >= 0 {
			if counted, ok := t.columns[i].profile.cardinality(); ok {
				answer[name] = &counted
				continue
			}
		}
		uncounted.Columns = append(uncounted.Columns, name)
	}
	if len(uncounted.Columns) == 0 {
		return answer, nil
	}
	measured, err := memsource.Cardinality(t.relation(ctx), &uncounted, s.budget)
	maps.Copy(answer, measured)
	return answer, err
}

// LinkHitRate reads both files.
func (s *Source) LinkHitRate(ctx context.Context, req *wire.LinkHitRateRequest) (*wire.LinkHitRate, error) {
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
	return memsource.LinkHitRate(from.relation(ctx), to.relation(ctx), req, s.budget)
}
