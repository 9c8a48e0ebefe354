package sqlsource

import (
	"context"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Size counts a table's rows, or returns the engine's estimate where the host
// prefers it.
func Size(ctx context.Context, s *database, req *wire.SizeRequest) (*wire.Size, error) {
	x, r, err := s.openTable(ctx, req.Credentials, connector.Call{Method: "Size", Table: req.Table})
	if err != nil {
		return nil, err
	}
	defer x.close()
	if s.options.estimateSizes && r.catalog.Estimate != nil {
		return &wire.Size{Rows: *r.catalog.Estimate}, nil
	}
	var n int64
	if err := x.row(ctx, r.name, "SELECT COUNT(*) FROM "+r.from, nil, &n); err != nil {
		return nil, err
	}
	return &wire.Size{Rows: n, Exact: true}, nil
}

// Count counts by one statement, or declines: the library then counts what Query
// answers.
func Count(ctx context.Context, s *database, req *wire.CountRequest) (int64, error) {
	x, r, err := s.openTable(ctx, req.Credentials, connector.Call{Method: "Count", Table: req.Table})
	if err != nil {
		return 0, err
	}
	defer x.close()
	filters, err := x.filters(ctx, r, req.Where)
	if err != nil {
		return 0, err
	}
	x.explainFilters(r, req.Where, filters)
	if !filters.all {
		x.keep = true // for the library, which counts by reading
		return 0, connector.ErrDecline
	}
	x.pushed("count")
	b := x.builder()
	var n int64
	err = x.row(ctx, r.name, "SELECT COUNT(*) FROM "+r.from+b.where(filters.pushed, r.column), b.args, &n)
	if declined(err) {
		return 0, decline("the engine cannot count these rows")
	}
	return n, err
}
