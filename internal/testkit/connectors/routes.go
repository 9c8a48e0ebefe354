package connectors

import (
	"context"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The types below are what a source may have besides a [Source]. Each is embedded beside
// one, and is a function that answers in place of the method; nil answers for [Items].
type (
	// Sizer has Size.
	Sizer func(context.Context, *wire.SizeRequest) (*wire.Size, error)
	// Counter has Count.
	Counter func(context.Context, *wire.CountRequest) (int64, error)
	// Aggregator has Aggregate.
	Aggregator func(context.Context, *wire.AggregateRequest) ([][]wire.Value, error)
	// Measurer has Cardinality.
	Measurer func(context.Context, *wire.CardinalityRequest) (map[string]*wire.Cardinality, error)
	// Linker has LinkHitRate.
	Linker func(context.Context, *wire.LinkHitRateRequest) (*wire.LinkHitRate, error)
	// Joiner has QueryJoined.
	Joiner func(context.Context, *connector.Query, *connector.Rows) error
	// Describer has Describe.
	Describer func(context.Context, wire.Credentials, string) (*wire.Table, error)
	// Speaker has a dialect and QuerySQL.
	Speaker struct {
		Name  string
		OnSQL func(context.Context, *wire.SQLRequest, *connector.Rows) error
	}
)

// Endpoints is a source of every optional route and of joins.
type Endpoints struct {
	Source
	Sizer
	Counter
	Aggregator
	Measurer
	Linker
	Joiner
}

// Described is Endpoints with Describe.
type Described struct {
	Endpoints
	Describer
}

// Bend returns the methods of a source, each of which a test may replace.
func Bend(src *memsource.Source) Described {
	return Described{
		Endpoints: Endpoints{
			Source: Source{OnCheck: src.Check, OnDiscover: src.Discover, OnQuery: src.Query},
			Sizer:  src.Size, Counter: src.Count, Aggregator: src.Aggregate,
			Measurer: src.Cardinality, Linker: src.LinkHitRate, Joiner: src.QueryJoined,
		},
		Describer: src.Describe,
	}
}

// Full is a source of all that there is.
type Full struct {
	Described
	Speaker
}

// Size answers 3 rows.
func (f Sizer) Size(ctx context.Context, req *wire.SizeRequest) (*wire.Size, error) {
	if f != nil {
		return f(ctx, req)
	}
	return &wire.Size{Rows: 3, Exact: true}, nil
}

// Count answers 3 rows.
func (f Counter) Count(ctx context.Context, req *wire.CountRequest) (int64, error) {
	if f != nil {
		return f(ctx, req)
	}
	return 3, nil
}

// Aggregate answers one group, every measure of which is 3.
func (f Aggregator) Aggregate(ctx context.Context, req *wire.AggregateRequest) ([][]wire.Value, error) {
	if f != nil {
		return f(ctx, req)
	}
	return OneGroup(req), nil
}

// OneGroup returns one group, every measure of which is 3.
func OneGroup(req *wire.AggregateRequest) [][]wire.Value {
	row := make([]wire.Value, len(req.GroupBy)+len(req.Measures))
	for i := range req.Measures {
		row[len(req.GroupBy)+i] = wire.Int(3)
	}
	return [][]wire.Value{row}
}

// Cardinality answers that column id has 3 values.
func (f Measurer) Cardinality(ctx context.Context, req *wire.CardinalityRequest) (map[string]*wire.Cardinality, error) {
	if f != nil {
		return f(ctx, req)
	}
	return map[string]*wire.Cardinality{"id": {NonNull: 3, Distinct: 3}}, nil
}

// LinkHitRate answers that 3 rows have a target.
func (f Linker) LinkHitRate(ctx context.Context, req *wire.LinkHitRateRequest) (*wire.LinkHitRate, error) {
	if f != nil {
		return f(ctx, req)
	}
	return &wire.LinkHitRate{FromNonNull: 3}, nil
}

// QueryJoined answers all rows, without those joined.
func (f Joiner) QueryJoined(ctx context.Context, req *connector.Query, out *connector.Rows) error {
	if f != nil {
		return f(ctx, req, out)
	}
	return Source{}.Query(ctx, req, out)
}

// Dialect returns the name.
func (s Speaker) Dialect() string { return s.Name }

// QuerySQL answers the number one.
func (s Speaker) QuerySQL(ctx context.Context, req *wire.SQLRequest, out *connector.Rows) error {
	if s.OnSQL != nil {
		return s.OnSQL(ctx, req, out)
	}
	return out.Begin([]wire.Column{{Name: "one"}}).Row(wire.Int(1))
}

// Describe describes the items.
func (f Describer) Describe(ctx context.Context, creds wire.Credentials, table string) (*wire.Table, error) {
	if f != nil {
		return f(ctx, creds, table)
	}
	t, err := Source{}.table(table)
	if err != nil {
		return nil, err
	}
	return &t.Table, nil
}
