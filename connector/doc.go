// Package connector serves a data source over the external data connector
// protocol: capability document, discovery, queries, counts, aggregates and
// measurements, for many tenants at once. The protocol's rules are in
// docs/protocol.md; comments cite them as [rule query-3].
//
// You write a [Source]: three methods over your upstream, the system that holds
// the data. [New] returns an [http.Handler] for it, which you mount where you
// like, or serve with [ListenAndServe]:
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
// That is a complete connector. A query asks for filters, a sort, a window and
// some of the fields. A source may ignore all of them: the library applies them
// to the rows that the source offers, in constant memory, except that a sort with
// a limit keeps offset+limit rows. The platform does a sort without a limit.
//
// Rows are cells (RowWriter.Row). Package rowmap makes them of Go structs and of
// decoded JSON.
//
// # Served, claim, window, push
//
// The window of a query is the part of its sorted rows that offset and limit
// select. The first line of an answer tells the platform which of filters, sort
// and window are served, that is, already applied. The platform does the rest.
//
// To push work is to leave it to the upstream, for instance as an SQL condition.
// It makes a connector faster and is never needed. A source that has applied the
// filters or the sort itself claims so, once, with [Rows.Claim]. The library does
// not repeat what is claimed. It does the rest, and tells the platform that both
// parts are served. A [Pushdown] declares what an upstream can filter and sort
// by, and returns what to push together with the claim. [Claim.TakeWindow] returns
// offset and limit, once filters and sort are served.
//
// A claim must hold exactly, with the platform's semantics (see package filter):
// nobody checks the rows again. Package connectortest checks every claim in tests.
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
//	                 dateBucket           grains are refused with 422
//	Cardinality      /cardinality         the platform measures over /query
//	LinkHitRate      /linkHitRate         the platform measures over /query
//	QueryJoined      join                 joins are refused with 422
//	QuerySQL         dialect              a body with sql is refused
//
// [New] derives the capability document from the methods, so it cannot promise
// what is not there. It declares operators, sort and offset in full, because the
// library applies them itself. [Options].Omit subtracts; nothing adds.
//
// # Errors
//
// [BadRequest], [UnknownEntity], [Unsupported], [UpstreamTimeout] and [CheckFailed]
// make deliberate errors, whose text, status and code reach the platform. A cause
// that a %w keeps goes to the log alone. Every other error, a panic included, is
// answered as "internal error"; its cause goes to [Options].Logger. Credential values are removed from messages and from the
// log. Only the message of a failed check may show what was typed into a plain
// text field, since the person who typed it reads it.
//
// # Time
//
// All clocks start when the request arrives. The source's context ends with
// the request. If a method runs past the deadline, the request is answered 408, or
// its stream ends in an error line, and the rows that the method emits later are
// discarded. At most 256 such calls may still run; beyond that, requests are
// refused until some return. The library sends batches and
// heartbeats, and blocks the source while the reader is slow. If the definition
// states a concurrency, requests beyond it wait for their turn, within their time.
//
// # Operating
//
// Each request has one line in the log of [Options].Logger, and an id, which a
// source gets from [RequestID]. [Options].Observe gets the same as
// [RequestStats], for metrics. The nested module connector/otelconnector makes
// spans and metrics of OpenTelemetry from it. [Serve] answers probes at /healthz.
//
// # Tenants
//
// One handler serves many tenants. Their credentials travel in every request
// and cannot be printed (see wire.Credentials). A source must keep nothing between
// calls that is keyed by credentials or was obtained with them.
//
// # Departures
//
// The library departs from the text of the protocol, or fills a gap in it, in
// these places:
//
//   - Two more codes answer what the platform never sends: not_found for an
//     unknown path and method_not_allowed for a wrong method.
//   - HEAD is answered as GET is where the protocol has GET, and [Serve] answers
//     GET and HEAD of /healthz with 200 and without a token, for probes.
//   - A ping may stand before the served line, when the source has stated nothing
//     for ten seconds: silence would make the platform cut the stream.
//   - A batch is cut at 44 KiB of text as well as at 5,000 rows, because it is what a
//     stream holds while its reader takes nothing.
//   - A reader is cut off when it takes less than a batch, or 64 KiB of a larger one,
//     in [Options].WriteStall. A write deadline cannot come closer to "takes nothing".
//   - A line that begins before the request's deadline may take up to five seconds
//     longer, so that an error line can follow it. After the deadline no row
//     begins.
//   - If a join reaches the base table again, a further hop from that name starts
//     at the base.
package connector
