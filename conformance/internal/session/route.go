package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Route is a POST route, and the entry of the document that makes it exist.
type Route struct {
	Path     string
	Endpoint wire.Endpoint // empty: the route always exists
	schema   string        // of its JSON answers; empty: it answers a stream
	answer   func() wire.Answer
}

// Routes lists all POST routes.
var Routes = []Route{
	{wire.PathCheck, "", "check-answer", func() wire.Answer { return &wire.CheckAnswer{} }},
	{wire.PathDiscovery, "", "discovery-answer", func() wire.Answer { return &wire.Discovery{} }},
	{Path: wire.PathQuery},
	{wire.PathCount, wire.EndpointCount, "count-answer", func() wire.Answer { return &wire.CountAnswer{} }},
	{wire.PathAggregate, wire.EndpointAggregate, "aggregate-answer", func() wire.Answer { return &wire.AggregateAnswer{} }},
	{wire.PathSize, wire.EndpointSize, "size-answer", func() wire.Answer { return &wire.SizeAnswer{} }},
	{wire.PathCardinality, wire.EndpointCardinality, "cardinality-answer", func() wire.Answer { return &wire.CardinalityAnswer{} }},
	{wire.PathLinkHitRate, wire.EndpointLinkHitRate, "link-hit-rate-answer", func() wire.Answer { return &wire.LinkHitRate{} }},
}

// Decode reads a JSON answer of the route, and returns why it cannot.
func (r Route) Decode(a *Answer) (wire.Answer, *check.Finding) {
	m := r.answer()
	return m, a.Decode(r.schema, m)
}

// RouteAt returns the route of a path, or the zero Route.
func RouteAt(path string) Route {
	if i := slices.IndexFunc(Routes, func(r Route) bool { return r.Path == path }); i >= 0 {
		return Routes[i]
	}
	return Route{}
}

// Needs returns why the route does not exist, or "". It is the Needs of a check
// about the route.
func (r Route) Needs(d *Document) string {
	if r.Endpoint == "" || d.Has(r.Endpoint) {
		return ""
	}
	return fmt.Sprintf("endpoints does not list %s", r.Endpoint)
}

// Call returns the call that posts a body to the route.
func (r Route) Call(body []byte) Call {
	return Call{Method: http.MethodPost, Path: r.Path, Body: body}
}

// Mounted returns the routes that the document lists.
func (run *Run) Mounted() []Route {
	return slices.DeleteFunc(slices.Clone(Routes), func(r Route) bool { return r.Needs(run.Document) != "" })
}

// PostBody posts a body and reads the answer.
func (run *Run) PostBody(r Route, body []byte) *Answer { return run.Exchange(r.Call(body)) }

// Payload is a JSON object as text, member by member, so that a legal body can be
// made illegal in exactly one place.
type Payload []member

// member is one member of a [Payload].
type member struct{ Name, JSON string }

// With returns the object with a member added, or replaced if it has one of that
// name.
func (p Payload) With(name, json string) Payload {
	out := slices.Clone(p)
	if i := slices.IndexFunc(out, func(m member) bool { return m.Name == name }); i >= 0 {
		out[i].JSON = json
		return out
	}
	return append(out, member{name, json})
}

// Plus returns the object with a member added, even if it has one of that name.
func (p Payload) Plus(name, json string) Payload { return append(slices.Clone(p), member{name, json}) }

// Without returns the object without a member.
func (p Payload) Without(name string) Payload {
	return slices.DeleteFunc(slices.Clone(p), func(m member) bool { return m.Name == name })
}

// Has reports whether the object has a member.
func (p Payload) Has(name string) bool {
	return slices.ContainsFunc(p, func(m member) bool { return m.Name == name })
}

// Text returns the object as JSON.
func (p Payload) Text() []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range p {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(Quoted(m.Name))
		b.WriteByte(':')
		b.WriteString(m.JSON)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// Quoted returns a JSON string.
func Quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // no string fails
	}
	return string(text)
}

// Names that no source has.
const (
	UnusedTable = "conformance_no_such_table"
	UnusedField = "conformance_no_such_field"
)

// Topic is the table and the field that a request names whose form matters rather
// than its data. When there is no table, they do not exist.
type Topic struct {
	Table *wire.Table // nil: none was discovered
	Name  string
	Field string
}

// Topic returns a topic for the first tenant. It works without a discovery too: a
// connector whose discovery fails still has to refuse what is malformed.
func (run *Run) Topic() Topic {
	for _, t := range run.SmallestFirst() {
		for _, f := range t.Fields {
			if Allowed(f.Filterable) {
				return Topic{t, t.Name, f.Name}
			}
		}
	}
	return Topic{Name: "conformance_table", Field: "conformance_field"}
}

// ExistingTopic returns a topic whose table exists. The check is blocked when
// discovery fails, and skipped when there is no such table.
func (run *Run) ExistingTopic() (Topic, *check.Finding) {
	if _, f := run.Discovery(0); f != nil {
		return Topic{}, f
	}
	topic := run.Topic()
	if topic.Table == nil {
		return topic, check.Skip(check.NoData, "no table with a field that filters may name")
	}
	return topic, nil
}

// Legal returns a legal body for a route, about the topic.
func (run *Run) Legal(r Route, about Topic) Payload {
	table, field := Quoted(about.Name), Quoted(about.Field)
	var p Payload
	switch r.Path {
	case wire.PathQuery:
		p = Payload{{"table", table}, {"and", "[]"}, {"sort", "[]"}, {"fields", "[" + field + "]"}, {"limit", "1"}}
	case wire.PathCount:
		p = Payload{{"table", table}, {"and", "[]"}}
	case wire.PathAggregate:
		p = Payload{
			{"table", table}, {"and", "[]"}, {"groupBy", "[]"},
			{"measures", `[{"fn":"count","as":"n"}]`}, {"limit", fmt.Sprint(wire.AggregateLimit)},
		}
	case wire.PathSize:
		p = Payload{{"table", table}}
	case wire.PathCardinality:
		p = Payload{{"table", table}, {"columns", "[" + field + "]"}}
	case wire.PathLinkHitRate:
		p = Payload{{"fromTable", table}, {"fromColumn", field}, {"toTable", table}, {"toColumn", field}}
	}
	p = p.Plus("credentials", string(run.Tenants[0].JSON)).Plus("timeoutMs", fmt.Sprint(usualTimeout(r.Path)))
	if r.Path == wire.PathQuery {
		p = p.Plus("idleTimeoutMs", fmt.Sprint(idleTimeout.Milliseconds()))
	}
	return p
}
