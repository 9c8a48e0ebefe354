package connector

import (
	"context"
	"log/slog"
	"math"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Definition states what the methods of a source cannot say about a connector.
// Everything else in the capability document follows from the source.
type Definition struct {
	// Slug names the kind of source: ^[a-z][a-z0-9-]{2,39}$.
	Slug string `json:"slug"`
	// Credentials are the inputs of the connect form. Empty only when no
	// secret is needed per tenant.
	Credentials []wire.CredentialField `json:"credentialSchema"`
	// KeysEnforced says that every primary key and unique field that discovery
	// declares is a real constraint of the source.
	KeysEnforced bool `json:"keysEnforced"`
	// Limits of the source; see wire.Limits for what each bounds.
	//
	// Concurrency is how many requests of all tenants together call the source at
	// once. The library enforces it: other requests wait within their deadlines,
	// tenants in turn, and a stream sends its heartbeats meanwhile. A request occupies
	// its place until the source has returned. If it is zero, the document says 4, and the
	// library lets each tenant have 4 requests at once, whatever others do. Requests
	// without credentials are then not limited, because nothing tells whose they are.
	Limits wire.Limits `json:"limits"`
}

// defaultConcurrency stands in the document of a definition that states none.
const defaultConcurrency = 4

// Options are what a host may set. Nil, and every zero member, is the default.
type Options struct {
	// Logger gets one line for each request, of level Info, and the causes of
	// internal errors, without secrets, bodies or cells. Default: slog.Default().
	Logger *slog.Logger
	// MaxRequestBytes limits a request body. Default: 8 MiB.
	MaxRequestBytes int64
	// MaxTimeout limits every timeout that a request states. Default: one hour.
	MaxTimeout time.Duration
	// WriteStall is how long a reader may take nothing, or less than a batch (or
	// 64 KiB of a larger one), before it is cut off. Default: 20 seconds.
	WriteStall time.Duration
	// SortBudget is the largest offset+limit, in rows, that the library sorts
	// for a source that does not sort. Default: 50,000.
	SortBudget int64
	// Omit takes capabilities away that the source has.
	Omit Omit
	// Observe is called after each request, refusals included, in the goroutine
	// that answered it: for metrics, or lines of a log of your own. It may be
	// called for many requests at once, and a short answer may wait for it. The
	// context is the request's, except that it does not end.
	Observe func(ctx context.Context, seen RequestStats)
	// Intercept is called around each call of the source: traces, metrics,
	// semaphores. It calls next once and returns its error. A panic of the
	// source is logged, and comes out of next as an error. An error that Intercept
	// swallows still fails the request.
	Intercept func(ctx context.Context, call Call, next func(context.Context) error) error
}

// Call tells [Options.Intercept] what is being called.
type Call struct {
	Method string // the method of the source, such as "Query"
	Table  string // the table concerned, or empty
}

// Omit subtracts from the document what the source could do. Nothing can be
// added: that is what methods are for.
type Omit struct {
	Endpoints  []wire.Endpoint
	Operators  []wire.Op
	Sort       wire.SortSupport // "" leaves multi; wire.SortSingle, wire.SortNone declare less
	Offset     bool
	Join       bool
	DateBucket bool // the aggregates of the source cannot group by periods
	Dialect    bool
}

func (o *Options) withDefaults() Options {
	var d Options
	if o != nil {
		d = *o
	}
	if d.Logger == nil {
		d.Logger = slog.Default()
	}
	if d.MaxRequestBytes <= 0 {
		d.MaxRequestBytes = 8 << 20
	}
	d.MaxRequestBytes = min(d.MaxRequestBytes, math.MaxInt64-1) // a byte more is read
	if d.MaxTimeout <= 0 {
		d.MaxTimeout = time.Hour
	}
	d.MaxTimeout = min(d.MaxTimeout, math.MaxInt64/4) // times are added to it
	if d.WriteStall <= 0 {
		d.WriteStall = 20 * time.Second
	}
	if d.SortBudget <= 0 {
		d.SortBudget = 50_000
	}
	return d
}
