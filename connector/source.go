package connector

import (
	"context"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Source is what the author of a connector writes: three methods over an
// upstream. Every optional route and flag of the protocol is one of the
// single-method interfaces below. [New] derives the capability document from the
// methods that a source has, so it cannot promise what is not there.
//
// Methods are called concurrently, for several tenants at once. The context
// ends at the request's deadline and when the client leaves. If a method runs past
// that, its rows are discarded. Errors made by [BadRequest]
// and its like reach the platform with their text; any other error is answered
// as "internal error" and logged without the tenant's secrets. A source must keep
// nothing about a tenant between calls.
type Source interface {
	// Check makes the cheapest upstream call that proves the credentials. If
	// they are wrong, it returns [CheckFailed] with a sentence for the person who
	// typed them. Other deliberate errors keep their status and code: for a
	// vendor that does not answer, return [UpstreamTimeout].
	Check(ctx context.Context, req *wire.CheckRequest) error

	// Discover returns the tables that these credentials can read.
	Discover(ctx context.Context, req *wire.DiscoveryRequest) (*wire.Discovery, error)

	// Query offers rows: out.Begin once, then Row for each. It may ignore
	// everything in the request but Table: the library filters, sorts, cuts the
	// window and picks the fields (see [Rows]). It returns [UnknownEntity] for a
	// table that these credentials do not have.
	Query(ctx context.Context, req *Query, out *Rows) error
}

// Describer lets the library refuse unknown tables and fields, and fields whose
// flags forbid what is asked, on every route, before the source is called. It is
// called for every request that names a table, so it must be cheap. Without it a
// source refuses unknown tables itself, and the library knows only the columns
// that Begin names.
type Describer interface {
	// Describe returns one table as discovery describes it; names, types, keys
	// and flags are enough. It returns [UnknownEntity] if there is no such table.
	Describe(ctx context.Context, creds wire.Credentials, table string) (*wire.Table, error)
}

// Sizer serves /size. Without it the platform sizes a table by a bounded pull.
type Sizer interface {
	// Size returns the table's number of rows, or [ErrDecline] if it is unknown.
	Size(ctx context.Context, req *wire.SizeRequest) (*wire.Size, error)
}

// Counter serves /count. Without it the platform counts rows itself.
type Counter interface {
	// Count returns the exact number of matching rows. A source that cannot
	// evaluate some filter exactly returns [ErrDecline]: the library then counts
	// the rows of Query.
	Count(ctx context.Context, req *wire.CountRequest) (int64, error)
}

// Aggregator serves /aggregate, and declares dateBucket: a group key may have a
// grain. Without it the platform folds rows itself.
type Aggregator interface {
	// Aggregate returns one row for each group, in any order: the group keys, then
	// the measures, as the request names them. No groups are an empty slice. Counts
	// are wire.Int; sums are wire.Decimal, wire.Int or null; a sum of floats is
	// refused as an internal error.
	//
	// It returns [ErrDecline] for what it cannot compute exactly: the answer is then
	// 204, and the platform folds the rows. A wrong number is never legal, and nil
	// rows without an error are refused as an internal error. A key with a Grain is the first day of its period in UTC, as
	// YYYY-MM-DD; the library refuses any other as an internal error. A source that
	// cannot group by periods declines, or its host sets [Omit].DateBucket.
	Aggregate(ctx context.Context, req *wire.AggregateRequest) ([][]wire.Value, error)
}

// CardinalityMeasurer serves /cardinality. Serve /size too: the platform compares
// the counts with it. Without it the platform measures over /query.
type CardinalityMeasurer interface {
	// Cardinality counts the non-null and the distinct values of each column. A
	// column that it leaves out, or whose entry is nil, is null on the wire: it cannot
	// be counted distinctly.
	Cardinality(ctx context.Context, req *wire.CardinalityRequest) (map[string]*wire.Cardinality, error)
}

// LinkMeasurer serves /linkHitRate. Without it the platform measures over
// /query.
type LinkMeasurer interface {
	// LinkHitRate measures how many values of one column are found in another.
	// OrphanRate need not be set: the library computes it.
	LinkHitRate(ctx context.Context, req *wire.LinkHitRateRequest) (*wire.LinkHitRate, error)
}

// Joiner declares join: /query executes LEFT joins. Without it a request with
// joins is refused with 422.
type Joiner interface {
	// QueryJoined is called instead of Query when the request has joins. The
	// columns it begins with say in Hop where each comes from.
	QueryJoined(ctx context.Context, req *Query, out *Rows) error
}

// SQLQuerier declares a dialect: /query also takes compiled SQL. Without
// it such a body is refused with 422.
type SQLQuerier interface {
	// Dialect returns the document's dialect, which is not empty. [New] calls it once. A
	// host that wants none sets [Omit].Dialect.
	Dialect() string
	// QuerySQL offers all rows that the statement returns.
	QuerySQL(ctx context.Context, req *wire.SQLRequest, out *Rows) error
}

// Query is the body of /query without its window. Limit and offset reach
// a source only through [Claim.TakeWindow], so that it cannot cut the window before
// it has filtered and sorted.
type Query struct {
	Table string
	wire.Where
	Sort   []wire.SortKey
	Fields []string
	// MaxRows is how many rows of the requested order the answer needs at most: offset
	// plus limit. 0 means all. math.MaxInt64 means all too, of a request that skips
	// some of them: its rows need a fixed order, as every window does. It helps a
	// source to plan; what it cuts it takes from [Claim.TakeWindow].
	MaxRows int64
	Joins   []wire.JoinHop
	wire.Envelope
}
