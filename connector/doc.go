// Package connector serves a data source over the external data connector
// protocol: capability document, discovery, queries, counts, aggregates and
// measurements, for many tenants at once.
//
// You write a [Source]: three methods over your upstream. [New] makes an
// [http.Handler] of it, which you mount where you like:
//
//	type source struct{}
//
//	func (source) Check(context.Context, *wire.CheckRequest) error { return nil }
//
//	func (source) Discover(context.Context, *wire.DiscoveryRequest) (*wire.Discovery, error) {
//		return &wire.Discovery{Tables: []wire.Table{planets}}, nil
//	}
//
//	func (source) Query(ctx context.Context, req *connector.QueryRequest, out *connector.Rows) error {
//		if req.Table != planets.Name {
//			return connector.UnknownEntity("no table %q", req.Table)
//		}
//		w := out.Begin(planets.Columns())
//		return w.All(upstream(ctx))
//	}
//
//	handler, err := connector.New(connector.Definition{Slug: "hello"}, source{}, token, nil)
//
// That is a complete connector. The platform asks for filters, a sort, a
// window, some of the fields; a source may ignore all of it, and the SDK does
// it over the rows it emits, in constant memory (a sort with a limit by a heap
// of offset+limit rows).
//
// # Doing more upstream
//
// Pushing work to the upstream is an optimisation, never a duty. A source
// states once, with [Rows.Claim], what it has applied itself; filter.Split
// returns the filters that it can take, and [Claim.Window] returns offset and
// limit once filters and sort are served. A claim must hold exactly, with the platform's semantics
// (package filter): wrong numbers end up in board meetings. Package
// connectortest checks every claim against the rows.
//
// # Capabilities are methods
//
// Each optional route or flag is an interface with one method:
//
//	method           route or flag        without it
//	Describe         -                    the source refuses unknown tables itself
//	Size             /size                the platform sizes tables by a bounded pull
//	Count            /count               the platform counts rows
//	Aggregate        /aggregate           the platform folds rows
//	AggregateByDate  dateBucket           grains are refused with 422
//	Cardinality      /cardinality         the platform measures over /query
//	LinkHitRate      /linkHitRate         the platform measures over /query
//	QueryJoined      join                 joins are refused with 422
//	QuerySQL         dialect              a body with sql is refused
//
// The capability document is read off the methods and cannot promise what is
// not there. Operators, sort and offset are declared in full, because the SDK
// finishes them. [Options].Omit subtracts; nothing adds.
//
// # Errors
//
// [BadRequest], [UnknownEntity], [Unsupported], [Timeout] and [CheckFailed]
// make deliberate errors, whose text reaches the platform. Every other error,
// a panic included, is answered as "internal error"; its cause goes to
// [Options].Logger, without the tenant's secrets (G9).
//
// # Time
//
// All clocks start when the request arrives. The source's context ends with
// the request; a source that ignores it is abandoned on time: the request is
// answered 408, or its stream ends in an error line, and whatever the source
// emits later goes nowhere. At most 256 such calls may linger; then requests
// are refused until some return. Heartbeats, batches and back-pressure need
// nothing from the source.
//
// # Tenants
//
// One handler serves many tenants. Their credentials travel in every request
// and cannot be printed (wire.Credentials). Keep nothing between calls that was
// keyed by or obtained with them (G11).
//
// # Departures from the text of the protocol
//
// Two codes beyond the protocol's table name answers the platform never sees:
// not_found for an unknown path and method_not_allowed (G2). A batch is cut at
// 256 KiB of text as well as at 5,000 rows: larger ones leave the processor's
// cache and make no stream faster. A reader is cut off when it takes less than
// 64 KiB in Options.WriteStall, which is as near to "takes nothing" as a write
// deadline comes. Of a base table and one hop to the same table, a further hop
// from that name starts at the base (B6).
package connector
