package conformance

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// strictnessAdvice are rules on what a connector should not take.
func strictnessAdvice() []Check {
	return []Check{
		{
			ID: "A.11", Phase: 3, Advice: true, judge: strayRequests,
			Title: "an unknown path gives 404, a wrong method 405, both in the envelope",
			Rule:  "G1, G2", Quote: "Every refusal is the JSON envelope; nothing ever redirects; paths match exactly.",
			Fix: "Answer what the router does not know in the envelope too, and name the method that is right in Allow.",
		},
		{
			ID: "A.12", Phase: 3, Advice: true, judge: looseJSON,
			Title: "members that stand twice, or in another case, give 400",
			Rule:  "G4", Quote: "UTF-8, one JSON object, nothing after it, depth <= 32, no duplicate member at any level, member names exact",
			Fix: "Read bodies with a decoder that sees doubles and case: of two values for one filter only one is judged by whoever checks the request.",
		},
		{
			ID: "A.19", Phase: 3, Advice: true, judge: unknownMembers,
			Title: "an unknown member of /query, /count and /aggregate gives 400",
			Rule:  "G5", Quote: "400 on `/query`, `/count`, `/aggregate` and inside filters, sort keys, hops, groups and measures",
			Fix: "Refuse members that the route does not have: one that is dropped could change which rows answer.",
		},
		{
			ID: "A.14", Phase: 3, Advice: true, judge: tokenTwice,
			Title: "a token in the query string gives 401 even beside a good header",
			Rule:  "G3", Quote: "a token in the query string is 401 even beside a good header",
			Fix: "Refuse a request that shows the token in its URL: the token is then in the logs of every proxy on the way.",
		},
		{
			ID: "A.16", Phase: 3, Advice: true, judge: oddWindows,
			Title: "limit and offset that are no counts give 400",
			Rule:  "B4", Quote: "`limit` is an integer >= 1, `offset` an integer >= 0 and may stand without a limit.",
			Fix: "Refuse fractions, negative numbers and a limit of 0 instead of rounding them.",
		},
		{
			ID: "A.17", Phase: 3, Advice: true, judge: unknownColumns,
			Title: "an unknown field outside of filters gives 404 unknown_entity",
			Rule:  "A11", Quote: "in `fields`, `sort`, `groupBy`, a measure or a hop 404 `unknown_entity` (a column the source does not have)",
			Fix: "Answer 404 unknown_entity with the field's name.",
		},
	}
}

func strayRequests(x *exam) {
	a := x.send(call{method: http.MethodPost, path: "/conformance-no-such-route", body: []byte("{}")})
	x.refusedStatus(a, "an unknown path", http.StatusNotFound)
	x.inEnvelope(a, "an unknown path")
	for _, c := range []call{
		{method: http.MethodGet, path: wire.PathQuery},
		{method: http.MethodPut, path: wire.PathCheck, body: []byte("{}")},
	} {
		what := c.method + " " + c.path
		a := x.send(c)
		x.refusedStatus(a, what, http.StatusMethodNotAllowed)
		x.inEnvelope(a, what)
		if allow := a.header.Get("Allow"); allow != http.MethodPost {
			x.want("Allow: POST", excerpt([]byte("Allow: "+allow), 80), "%s is refused without saying what is allowed", what)
		}
	}
	a = x.send(call{method: http.MethodPost, path: wire.PathCheck + "/", body: x.legal(routes[0], topic{}).text()})
	x.refusedStatus(a, "a path with a slash more", http.StatusNotFound)
}

func (x *exam) inEnvelope(a *answer, what string) {
	if a.refusal() == nil {
		x.want(`{"error":{"code":...,"message":...}}`, a.describe(), "%s is refused without the envelope", what)
	}
}

func looseJSON(x *exam) {
	of := x.some()
	name, field := quoted(of.name), quoted(of.field)
	filter := `[{"field":` + field + `,"op":"eq","op":"neq","value":"a"}]`
	check, query := routes[0], routeAt(wire.PathQuery)
	body := x.legal(query, of)
	for _, c := range []struct {
		r    route
		what string
		body payload
	}{
		{query, "table twice", body.and("table", name)},
		{query, "op twice in a filter", body.with("and", filter)},
		{query, "Limit beside limit", body.and("Limit", "2")},
		{check, "timeoutMs twice", x.legal(check, of).and("timeoutMs", "60000")},
		{check, "TimeoutMs beside timeoutMs", x.legal(check, of).and("TimeoutMs", "60000")},
	} {
		x.refusedStatus(x.body(c.r, c.body.text()), c.r.path+" with "+c.what, http.StatusBadRequest)
	}
}

func tokenTwice(x *exam) {
	c := to(routes[0], x.legal(routes[0], topic{}).text())
	for _, name := range []string{"token", "access_token"} {
		c.query = url.Values{name: {x.target.Token}}.Encode()
		x.refusedStatus(x.send(c), "a token in the query string as "+name+" beside a good header", http.StatusUnauthorized)
	}
}

func oddWindows(x *exam) {
	of, r := x.some(), routeAt(wire.PathQuery)
	for _, c := range []struct{ member, json string }{{"limit", "0"}, {"limit", "-1"}, {"limit", "1.5"}, {"offset", "-1"}, {"offset", "0.5"}} {
		x.refusedStatus(x.body(r, x.legal(r, of).with(c.member, c.json).text()), "/query with "+c.member+": "+c.json, http.StatusBadRequest)
	}
}

func unknownColumns(x *exam) {
	of := x.some()
	unused := quoted(unusedField)
	for _, c := range []struct{ path, member, json string }{
		{wire.PathQuery, "fields", "[" + unused + "]"},
		{wire.PathQuery, "sort", `[{"field":` + unused + `,"dir":"asc"}]`},
		{wire.PathAggregate, "groupBy", `[{"field":` + unused + `,"as":"g"}]`},
	} {
		r := routeAt(c.path)
		if !slices.ContainsFunc(x.mounted(), func(m route) bool { return m.path == c.path }) {
			continue
		}
		a := x.body(r, x.legal(r, of).with(c.member, c.json).text())
		if c.path == wire.PathAggregate && declines(a) {
			continue
		}
		x.refusedStatus(a, fmt.Sprintf("%s with an unknown field in %s", c.path, c.member), http.StatusNotFound)
	}
}
