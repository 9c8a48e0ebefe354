package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// payload is a JSON object as text, member by member, so that a legal body can
// be made illegal in exactly one place.
type payload []bodyMember

type bodyMember struct {
	name string
	json string
}

// with is the object with a member in place of the one of that name, or added.
func (o payload) with(name, json string) payload {
	out := slices.Clone(o)
	if i := slices.IndexFunc(out, func(m bodyMember) bool { return m.name == name }); i >= 0 {
		out[i].json = json
		return out
	}
	return append(out, bodyMember{name, json})
}

// and is the object with a further member, even one that it has.
func (o payload) and(name, json string) payload {
	return append(slices.Clone(o), bodyMember{name, json})
}

// without is the object without a member.
func (o payload) without(name string) payload {
	return slices.DeleteFunc(slices.Clone(o), func(m bodyMember) bool { return m.name == name })
}

func (o payload) has(name string) bool {
	return slices.ContainsFunc(o, func(m bodyMember) bool { return m.name == name })
}

// text is the object as JSON.
func (o payload) text() []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quoted(m.name))
		b.WriteByte(':')
		b.WriteString(m.json)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// quoted is a JSON string.
func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // no string fails
	}
	return string(text)
}

// topic is the table and fields that requests about the form of things name.
// When there is no table to name, they name ones that do not exist.
type topic struct {
	table *wire.Table // nil: none was discovered
	name  string
	field string
}

// topic is one for the first tenant. It never blocks: a connector whose
// discovery fails still has to refuse what is malformed.
func (x *exam) topic() topic {
	for _, t := range x.tables() {
		for _, f := range t.Fields {
			if f.Filterable == nil || *f.Filterable {
				return topic{t, t.Name, f.Name}
			}
		}
	}
	return topic{name: "conformance_table", field: "conformance_field"}
}

// tables are those that were discovered for the first tenant, without the one
// that stalls and those that store no rows; none when discovery failed. Smaller
// ones come first, where their size is told.
func (x *exam) tables() (list []*wire.Table) {
	s := x.session
	if s.found[0] == nil {
		s.found[0] = s.discover(x.ctx, 0)
	}
	d := s.found[0]
	for i := range d.Tables {
		if t := &d.Tables[i]; !slowTable(t) && t.StoresRows {
			list = append(list, t)
		}
	}
	slices.SortStableFunc(list, func(a, b *wire.Table) int {
		return int(min(known64(a.RowCount), 1<<30) - min(known64(b.RowCount), 1<<30))
	})
	return list
}

// known64 is a row count; an unknown one is taken for large, an empty table for
// larger still, since it shows nothing.
func known64(n *int64) int64 {
	switch {
	case n == nil:
		return 1 << 29
	case *n == 0:
		return 1 << 30
	}
	return *n
}

// legal is a legal body for the route, about the topic.
func (x *exam) legal(r route, of topic) payload {
	table, field := quoted(of.name), quoted(of.field)
	var o payload
	switch r.path {
	case wire.PathQuery:
		o = payload{{"table", table}, {"and", "[]"}, {"sort", "[]"}, {"fields", "[" + field + "]"}, {"limit", "1"}}
	case wire.PathCount:
		o = payload{{"table", table}, {"and", "[]"}}
	case wire.PathAggregate:
		o = payload{{"table", table}, {"and", "[]"}, {"groupBy", "[]"}, {"measures", `[{"fn":"count","as":"n"}]`}, {"limit", fmt.Sprint(wire.AggregateLimit)}}
	case wire.PathSize:
		o = payload{{"table", table}}
	case wire.PathCardinality:
		o = payload{{"table", table}, {"columns", "[" + field + "]"}}
	case wire.PathLinkHitRate:
		o = payload{{"fromTable", table}, {"fromColumn", field}, {"toTable", table}, {"toColumn", field}}
	}
	o = o.and("credentials", string(x.tenants[0].json)).and("timeoutMs", fmt.Sprint(usualTimeout.Milliseconds()))
	if r.path == wire.PathQuery {
		o = o.and("idleTimeoutMs", fmt.Sprint(idleTimeout.Milliseconds()))
	}
	return o
}

// routeAt is the route of a path.
func routeAt(path string) route {
	return routes[slices.IndexFunc(routes, func(r route) bool { return r.path == path })]
}

// to is a call that posts a body to a route.
func to(r route, body []byte) call { return call{method: "POST", path: r.path, body: body} }

// body posts a body and reads the answer, a stream too; its rows are not kept.
func (x *exam) body(r route, body []byte) *answer {
	if r.path != wire.PathQuery {
		return x.send(to(r, body))
	}
	return x.stream(to(r, body), nil).answer
}

// refuses ends the check unless the answer is a refusal of one of the codes. A
// refusal under the right status whose envelope or code is at fault is for
// P3.10 to report.
func (x *exam) refuses(a *answer, what string, codes ...wire.Code) {
	x.cases++
	f := refused(a, codes...)
	if f == nil {
		return
	}
	if e := a.refusal(); a.err == nil && slices.ContainsFunc(codes, func(c wire.Code) bool { return c.Status() == a.status }) {
		switch {
		case e == nil:
			x.blocked("P3.10a", "a refusal is not in the error envelope")
		case e.Code.Status() != a.status || e.Code == wire.CodeCheckFailed:
			x.blocked("P3.10b", fmt.Sprintf("a refusal of %d has the code %s", a.status, wire.QuoteName(string(e.Code))))
		}
	}
	f.detail = what + " is " + f.detail
	x.found(f)
}
