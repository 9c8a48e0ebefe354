// Package connector serves a data source over the external data connector
// protocol, for many tenants at once.
//
// You write a [Source]: three methods over your upstream, the system that holds
// the data. [New] returns an [http.Handler] for it, which you mount where you
// like or give to [Serve]. Package standalone makes a whole program of a source:
//
//	func (source) Check(context.Context, *wire.CheckRequest) error { return nil }
//
//	func (source) Discover(context.Context, *wire.DiscoveryRequest) (*wire.Discovery, error) {
//		return &wire.Discovery{Tables: []wire.Table{planets}}, nil
//	}
//
//	func (source) Query(ctx context.Context, req *connector.Query, out *connector.Rows) error {
//		if req.Table != planets.Name {
//			return connector.UnknownEntity("no table %q", req.Table)
//		}
//		return out.Begin(planets.Columns()).All(upstream(ctx))
//	}
//
//	func main() { standalone.Main(connector.Definition{Slug: "hello"}, source{}, nil) }
//
// That is a complete connector. A query asks for filters, a sort, a window (offset
// and limit) and some of the fields. A source may ignore all of them: the library
// applies them to the rows that the source offers. A source that has applied the
// filters or the sort itself says so with [Rows.Claim], which makes it faster. A claim
// must hold exactly, because nobody checks the rows again; package connectortest does
// in tests.
//
// Each optional route or flag is an interface with one method: [Describer], [Sizer],
// [Counter], [Aggregator], [CardinalityMeasurer], [LinkMeasurer], [Joiner] and
// [SQLQuerier]. New derives the capability document from the methods that the
// source has, and [Options].Omit subtracts from it.
//
// [BadRequest], [UnknownEntity], [Unsupported], [UpstreamTimeout] and [CheckFailed]
// make errors whose text reaches the platform. Every other error, a panic included,
// is answered as "internal error", and its cause goes to the log alone.
//
// A source must keep nothing between calls that is keyed by credentials or was
// obtained with them.
//
// The guide is docs/authoring.md; docs/operating.md is about hosts. Comments cite the
// rules of docs/protocol.md as [rule query-3].
package connector
