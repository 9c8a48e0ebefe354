// Package routes is the table of the protocol's POST routes. What only repeats for each of them is made of it: the conformance
// program's malformed and unknown names, its deadlines, its cases, the shapes that the platform's client requires.
package routes

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Route is a POST route.
type Route struct {
	Path    string
	Request func() (wire.Request, *wire.Envelope) // an empty one, and its envelope
	Answer  func() wire.Answer                    // an empty one; nil: it answers a stream
	Schema  string                                // of its JSON answers
	Rule    string                                // of docs/protocol.md, about the shape of its answer
	Always  bool                                  // it exists without being listed
	Measure bool                                  // it measures a table or a link
	// Legal is a legal body without credentials and times: names of members and their values by turns.
	// In these, %table and %field stand for a table and one of its fields.
	Legal []string
	// Wrong has members and values of wrong types by turns, those first that are mistaken most.
	Wrong []string
}

// All lists the routes. A new one stands at the end: ids that the facets of P0.6 had once follow the order.
var All = []Route{
	{Path: wire.PathCheck, Schema: "check-answer", Rule: "route-7", Always: true,
		Request: func() (wire.Request, *wire.Envelope) { r := &wire.CheckRequest{}; return r, &r.Envelope },
		Answer:  func() wire.Answer { return &wire.CheckAnswer{} }},
	{Path: wire.PathDiscovery, Schema: "discovery-answer", Rule: "discovery-3", Always: true,
		Request: func() (wire.Request, *wire.Envelope) { r := &wire.DiscoveryRequest{}; return r, &r.Envelope },
		Answer:  func() wire.Answer { return &wire.Discovery{} }},
	{Path: wire.PathQuery, Rule: "stream-10", Always: true,
		Request: func() (wire.Request, *wire.Envelope) { r := &wire.QueryRequest{}; return r, &r.Envelope },
		Legal:   []string{"table", "%table", "and", "[]", "sort", "[]", "fields", "[%field]", "limit", "1"},
		Wrong: []string{"limit", `"1"`, "sort", `[{"field":%field,"dir":"up"}]`, "or", "{}", "fields", `"id"`, "and", "{}",
			"table", "1", "offset", `"0"`, "or", "[1]", "and", "[1]", "sort", `"id"`, "sort", `[{"field":1,"dir":"asc"}]`, "sort", "[1]",
			"fields", "[1]", "joins", "{}", "fieldTypes", "[]", "table", "[]"}},
	{Path: wire.PathCount, Schema: "count-answer", Rule: "count-1",
		Request: func() (wire.Request, *wire.Envelope) { r := &wire.CountRequest{}; return r, &r.Envelope },
		Answer:  func() wire.Answer { return &wire.CountAnswer{} },
		Legal:   []string{"table", "%table", "and", "[]"},
		Wrong:   []string{"or", "{}", "and", "{}", "and", "[1]", "table", "1", "or", "[1]", "fieldTypes", "[]"}},
	{Path: wire.PathAggregate, Schema: "aggregate-answer", Rule: "aggregate-9",
		Request: func() (wire.Request, *wire.Envelope) { r := &wire.AggregateRequest{}; return r, &r.Envelope },
		Answer:  func() wire.Answer { return &wire.AggregateAnswer{} },
		Legal: []string{"table", "%table", "and", "[]", "groupBy", "[]",
			"measures", `[{"fn":"count","as":"n"}]`, "limit", strconv.Itoa(wire.AggregateLimit)},
		Wrong: []string{"limit", `"1001"`, "groupBy", "{}", "measures", `"count"`, "and", "{}",
			"table", "1", "groupBy", "[1]", "measures", "[1]", "stringFields", `"id"`}},
	{Path: wire.PathSize, Schema: "size-answer", Rule: "measure-4", Measure: true,
		Request: func() (wire.Request, *wire.Envelope) { r := &wire.SizeRequest{}; return r, &r.Envelope },
		Answer:  func() wire.Answer { return &wire.SizeAnswer{} },
		Legal:   []string{"table", "%table"},
		Wrong:   []string{"table", "1", "table", "{}"}},
	{Path: wire.PathCardinality, Schema: "cardinality-answer", Rule: "measure-6", Measure: true,
		Request: func() (wire.Request, *wire.Envelope) { r := &wire.CardinalityRequest{}; return r, &r.Envelope },
		Answer:  func() wire.Answer { return &wire.CardinalityAnswer{} },
		Legal:   []string{"table", "%table", "columns", "[%field]"},
		Wrong:   []string{"table", "1", "columns", `"id"`, "columns", "[1]"}},
	{Path: wire.PathLinkHitRate, Schema: "link-hit-rate-answer", Rule: "measure-8", Measure: true,
		Request: func() (wire.Request, *wire.Envelope) { r := &wire.LinkHitRateRequest{}; return r, &r.Envelope },
		Answer:  func() wire.Answer { return &wire.LinkHitRate{} },
		Legal:   []string{"fromTable", "%table", "fromColumn", "%field", "toTable", "%table", "toColumn", "%field"},
		Wrong:   []string{"fromTable", "1", "fromColumn", "[]", "toTable", "{}", "toColumn", "1"}},
}

// At returns the route of a path, or nil.
func At(path string) *Route {
	if i := slices.IndexFunc(All, func(r Route) bool { return r.Path == path }); i >= 0 {
		return &All[i]
	}
	return nil
}

// Measures returns the paths of the routes that measure.
func Measures() (paths []string) {
	for _, r := range All {
		if r.Measure {
			paths = append(paths, r.Path)
		}
	}
	return paths
}

// Naming returns the members of a legal body that name what a placeholder stands for, and their values.
func (r *Route) Naming(placeholder string) iter.Seq2[string, string] {
	return func(yield func(member, value string) bool) {
		for member, value := range Pairs(r.Legal) {
			if strings.Contains(value, placeholder) && !yield(member, value) {
				return
			}
		}
	}
}

// About returns a legal request about a table and a field, and its envelope, which is empty.
func (r *Route) About(table, field string) (wire.Request, *wire.Envelope) {
	names := strings.NewReplacer("%table", strconv.Quote(table), "%field", strconv.Quote(field))
	body := `{"credentials":{},"timeoutMs":1`
	for member, value := range Pairs(r.Legal) {
		body += fmt.Sprintf(",%q:%s", member, names.Replace(value))
	}
	m, envelope := r.Request()
	if err := wire.Decode([]byte(body+"}"), m); err != nil {
		panic(fmt.Sprintf("routes: the legal body of %s: %v", r.Path, err))
	}
	*envelope = wire.Envelope{}
	return m, envelope
}

// Pairs returns the members of [Route.Legal] or [Route.Wrong] with their values.
func Pairs(list []string) iter.Seq2[string, string] {
	return func(yield func(member, value string) bool) {
		for i := 0; i < len(list); i += 2 {
			if !yield(list[i], list[i+1]) {
				return
			}
		}
	}
}
