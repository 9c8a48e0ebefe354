package request

import (
	"context"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/session"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Size counts a table's rows, or returns the engine's estimate where the host
// prefers it.
func Size(ctx context.Context, s *session.Database, req *wire.SizeRequest) (*wire.Size, error) {
	x, r, err := openTable(ctx, s, req.Credentials, connector.Call{Method: "Size", Table: req.Table})
	if err != nil {
		return nil, err
	}
	defer x.Close()
	if s.Options.EstimateSizes && r.Catalog.Estimate != nil {
		return &wire.Size{Rows: *r.Catalog.Estimate}, nil
	}
	var n int64
	if err := x.Row(ctx, r.Name, "SELECT COUNT(*) FROM "+r.From, nil, &n); err != nil {
		return nil, err
	}
	return &wire.Size{Rows: n, Exact: true}, nil
}

// Count counts by one statement, or declines: the library then counts what Query
// answers.
func Count(ctx context.Context, s *session.Database, req *wire.CountRequest) (int64, error) {
	x, r, err := openTable(ctx, s, req.Credentials, connector.Call{Method: "Count", Table: req.Table})
	if err != nil {
		return 0, err
	}
	defer x.Close()
	filters, err := x.filters(ctx, r, req.Where)
	if err != nil {
		return 0, err
	}
	x.explainFilters(r, req.Where, filters)
	if !filters.All {
		x.Keep = true // for the library, which counts by reading
		return 0, connector.ErrDecline
	}
	x.Pushed("count")
	b := x.Builder()
	var n int64
	err = x.Row(ctx, r.Name, "SELECT COUNT(*) FROM "+r.From+b.Where(filters.Pushed, r.Column), b.Args, &n)
	if session.Declined(err) {
		return 0, decline("the engine cannot count these rows")
	}
	return n, err
}
