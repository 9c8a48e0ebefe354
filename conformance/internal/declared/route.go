package declared

import (
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Route is a POST route.
type Route struct {
	Path   string
	Schema string             // of its JSON answers; empty: it answers a stream
	Answer func() wire.Answer // an empty one
	Always bool               // it exists without being listed
}

// Routes lists all POST routes. The loops of the checks over routes take them from here. A new one stands at the end:
// ids that the facets of P0.6 had once follow the order.
var Routes = []Route{
	{wire.PathCheck, "check-answer", func() wire.Answer { return &wire.CheckAnswer{} }, true},
	{wire.PathDiscovery, "discovery-answer", func() wire.Answer { return &wire.Discovery{} }, true},
	{Path: wire.PathQuery, Always: true},
	{wire.PathCount, "count-answer", func() wire.Answer { return &wire.CountAnswer{} }, false},
	{wire.PathAggregate, "aggregate-answer", func() wire.Answer { return &wire.AggregateAnswer{} }, false},
	{wire.PathSize, "size-answer", func() wire.Answer { return &wire.SizeAnswer{} }, false},
	{wire.PathCardinality, "cardinality-answer", func() wire.Answer { return &wire.CardinalityAnswer{} }, false},
	{wire.PathLinkHitRate, "link-hit-rate-answer", func() wire.Answer { return &wire.LinkHitRate{} }, false},
}

// RouteAt returns the route of a path, or nil.
func RouteAt(path string) *Route {
	if i := slices.IndexFunc(Routes, func(r Route) bool { return r.Path == path }); i >= 0 {
		return &Routes[i]
	}
	return nil
}

// name returns what endpoints calls a route.
func name(path string) string { return strings.TrimPrefix(path, "/") }

// Offers reports whether the document offers a route: the optional ones have to be listed.
func (d *Document) Offers(path string) bool {
	r := RouteAt(path)
	return r != nil && (r.Always || slices.Contains(d.Endpoints, wire.Endpoint(name(path))))
}

// Paths returns the paths of the routes that the document offers, or of those that it does not.
func (d *Document) Paths(offered bool) (paths []string) {
	for _, r := range Routes {
		if d.Offers(r.Path) == offered {
			paths = append(paths, r.Path)
		}
	}
	return paths
}
