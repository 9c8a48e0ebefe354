package declared

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Route is a POST route.
type Route struct {
	Path    string
	Schema  string             // of its JSON answers; empty: it answers a stream
	Answer  func() wire.Answer // an empty one
	Always  bool               // it exists without being listed
	Measure bool               // it measures a table or a link
	// Legal is a legal body without credentials and times: names of members and their values by turns.
	// In these, %table and %field stand for a table and one of its fields.
	Legal []string
}

// Routes lists all POST routes. The loops of the checks over routes take them from here. A new one stands at the end:
// ids that the facets of P0.6 had once follow the order.
var Routes = []Route{
	{Path: wire.PathCheck, Schema: "check-answer", Always: true,
		Answer: func() wire.Answer { return &wire.CheckAnswer{} }},
	{Path: wire.PathDiscovery, Schema: "discovery-answer", Always: true,
		Answer: func() wire.Answer { return &wire.Discovery{} }},
	{Path: wire.PathQuery, Always: true,
		Legal: []string{"table", "%table", "and", "[]", "sort", "[]", "fields", "[%field]", "limit", "1"}},
	{Path: wire.PathCount, Schema: "count-answer",
		Answer: func() wire.Answer { return &wire.CountAnswer{} },
		Legal:  []string{"table", "%table", "and", "[]"}},
	{Path: wire.PathAggregate, Schema: "aggregate-answer",
		Answer: func() wire.Answer { return &wire.AggregateAnswer{} },
		Legal: []string{"table", "%table", "and", "[]", "groupBy", "[]",
			"measures", `[{"fn":"count","as":"n"}]`, "limit", strconv.Itoa(wire.AggregateLimit)}},
	{Path: wire.PathSize, Schema: "size-answer", Measure: true,
		Answer: func() wire.Answer { return &wire.SizeAnswer{} },
		Legal:  []string{"table", "%table"}},
	{Path: wire.PathCardinality, Schema: "cardinality-answer", Measure: true,
		Answer: func() wire.Answer { return &wire.CardinalityAnswer{} },
		Legal:  []string{"table", "%table", "columns", "[%field]"}},
	{Path: wire.PathLinkHitRate, Schema: "link-hit-rate-answer", Measure: true,
		Answer: func() wire.Answer { return &wire.LinkHitRate{} },
		Legal:  []string{"fromTable", "%table", "fromColumn", "%field", "toTable", "%table", "toColumn", "%field"}},
}

// Naming returns the members of a legal body that name what a placeholder stands for, and their values.
func (r *Route) Naming(placeholder string) iter.Seq2[string, string] {
	return func(yield func(member, value string) bool) {
		for i := 0; i < len(r.Legal); i += 2 {
			if strings.Contains(r.Legal[i+1], placeholder) && !yield(r.Legal[i], r.Legal[i+1]) {
				return
			}
		}
	}
}

// Measures returns the paths of the routes that measure.
func Measures() (paths []string) {
	for _, r := range Routes {
		if r.Measure {
			paths = append(paths, r.Path)
		}
	}
	return paths
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
