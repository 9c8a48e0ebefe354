// Package connector serves a data source over the external data connector
// protocol, for many tenants at once.
//
// You write a [Source]: three methods over your upstream, the system that holds
// the data. [New] returns an [http.Handler] for it, which you mount where you
// like, or serve with [ListenAndServe]:
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
//		return out.Begin(planets.Columns()).All(upstream(ctx))
//	}
//
//	handler, err := connector.New(connector.Definition{Slug: "hello"}, source{}, token, nil)
//
// That is a complete connector. A query asks for filters, a sort, a window (offset
// and limit) and some of the fields. A source may ignore all of them: the library
// applies them to the rows that the source offers.
//
// A source that has applied the filters or the sort itself says so with
// [Rows.Claim]. That makes a connector faster and is never needed. A claim must
// hold exactly, because nobody checks the rows again; package connectortest does
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
// obtained with them. Its context ends with the request; rows that it emits later
// are discarded.
//
// The guide is docs/authoring.md; docs/operating.md is about hosts. The rules of the
// protocol are in docs/protocol.md; comments cite them as [rule query-3].
package connector
