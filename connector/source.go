package connector

import (
	"context"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Source is what the author of a connector writes: three methods over his
// upstream. Every optional route and flag of the protocol is one of the
// single-method interfaces below; the capability document is read off the
// methods a source has, so it cannot promise what is not there (H1).
//
// Methods are called concurrently, by several tenants at once. The context
// ends at the request's deadline and when the client leaves: a source that
// outlives it is abandoned, and its rows go nowhere (C5, C8). Errors made by
// [BadRequest] and its kin reach the platform with their text; any other error
// is answered as "internal error" and logged without the tenant's secrets (G9).
// A source keeps nothing about a tenant between calls (G11).
type Source interface {
	// Check makes the cheapest upstream call that proves the credentials, and
	// answers [CheckFailed] with a sentence for the person who typed them when
	// it proves them wrong. Any other error is an internal one (G8).
	Check(ctx context.Context, req *wire.CheckRequest) error

	// Discover lists the tables these credentials can read.
	Discover(ctx context.Context, req *wire.DiscoveryRequest) (*wire.Discovery, error)

	// Query answers rows: out.Begin once, then Row for each. It may ignore
	// everything in the request but Table: the SDK filters, sorts, cuts and
	// projects what the source did not (see [Rows.Begin]). It answers
	// [UnknownEntity] for a table these credentials do not have.
	Query(ctx context.Context, req *QueryRequest, out *Rows) error
}

// Describer lets the SDK refuse unknown tables and fields, and fields whose
// flags forbid what is asked, on every route, before the source is called
// (A11, F3, E7). It is asked with every request that names a table, so it must
// be cheap. Without it a source refuses unknown tables itself, and the SDK
// judges fields by the columns that Begin names.
type Describer interface {
	// Describe is one table as discovery would describe it; names, types, keys
	// and flags are enough. [UnknownEntity] when there is no such table.
	Describe(ctx context.Context, creds wire.Credentials, table string) (*wire.Table, error)
}

// Sizer serves /size. Without it the platform sizes a table by a bounded pull.
type Sizer interface {
	// Size is the table's number of rows; nil when it is unknown.
	Size(ctx context.Context, req *wire.SizeRequest) (*wire.Size, error)
}

// Counter serves /count. Without it the platform counts rows itself.
type Counter interface {
	// Count is the exact number of matching rows. A source that cannot
	// evaluate some filter exactly answers [ErrDecline]: the SDK then counts
	// by reading Query (A12).
	Count(ctx context.Context, req *wire.CountRequest) (int64, error)
}

// Aggregator serves /aggregate. Without it the platform folds rows itself.
type Aggregator interface {
	// Aggregate answers groups, or [ErrDecline] for what it cannot compute
	// exactly: 204, and the platform folds the rows (E6). A wrong number is
	// never legal: counts are wire.Int, sums wire.Decimal, wire.Int or null
	// (E1); a sum of floats is refused as an internal error.
	Aggregate(ctx context.Context, req *wire.AggregateRequest) (*AggregateAnswer, error)
}

// DateAggregator declares dateBucket: group keys may carry a grain (E4). It
// needs [Aggregator]. Without it such a request is refused with 422.
type DateAggregator interface {
	// AggregateByDate is called instead of Aggregate when any group key has a
	// grain.
	AggregateByDate(ctx context.Context, req *wire.AggregateRequest) (*AggregateAnswer, error)
}

// CardinalityMeasurer serves /cardinality. Serve /size too: the counts are
// judged against it. Without it the platform measures over /query.
type CardinalityMeasurer interface {
	// Cardinality counts non-null and distinct values (F1). A nil entry says
	// that the column cannot be counted distinctly.
	Cardinality(ctx context.Context, req *wire.CardinalityRequest) (map[string]*wire.Cardinality, error)
}

// LinkMeasurer serves /linkHitRate. Without it the platform measures over
// /query.
type LinkMeasurer interface {
	// LinkHitRate measures how many values of one column are found in another
	// (F2). OrphanRate need not be set: the SDK computes it.
	LinkHitRate(ctx context.Context, req *wire.LinkHitRateRequest) (*wire.LinkHitRate, error)
}

// Joiner declares join: /query executes LEFT joins (B6). Without it a request
// with joins is refused with 422 (B7).
type Joiner interface {
	// QueryJoined is called instead of Query when the request has joins. The
	// columns it begins with say in Hop where each comes from.
	QueryJoined(ctx context.Context, req *QueryRequest, out *Rows) error
}

// SQLQuerier declares a dialect: /query also takes compiled SQL (C9). Without
// it such a body is refused with 422.
type SQLQuerier interface {
	// Dialect is the document's dialect; it is read once, by [New]. "" means
	// absent, so that one type can serve with or without.
	Dialect() string
	// QuerySQL answers what the statement returned, in full.
	QuerySQL(ctx context.Context, req *wire.SQLRequest, out *Rows) error
}

// QueryRequest is what a source is asked for: the body of /query without its
// window. Limit and offset reach a source through [Claim.Window] alone, so that
// it cannot cut the window before it has filtered and sorted.
type QueryRequest struct {
	Table string
	wire.Where
	Sort   []wire.SortKey
	Fields []string
	// Windowed reports whether the request has an offset or a limit at all.
	Windowed bool
	Joins    []wire.JoinHop
	wire.Envelope
}

// AggregateAnswer is what a source answers to an aggregate. Each row holds the
// group keys, then the measures, in the order in which the request names them.
// Rows may come in any order.
type AggregateAnswer struct {
	Rows [][]wire.Value
}
