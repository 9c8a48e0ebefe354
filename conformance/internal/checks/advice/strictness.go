package advice

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// strictnessChecks returns the checks about what a connector should refuse.
func strictnessChecks() []session.Check {
	return []session.Check{
		{ID: "A.11", Phase: 3, Advice: true, Judge: strayRequests, Rules: []string{"http-1b", "http-2"},
			Title: "an unknown path gives 404, a wrong method 405, both in the envelope",
			Fix:   "Answer what the router does not know in the envelope too, and name the right method in Allow."},
		{ID: "A.12", Phase: 3, Advice: true, Judge: looseJSON, Rules: []string{"http-4"},
			Title: "members that stand twice, or in another case, give 400",
			Fix: "Read bodies with a decoder that sees duplicates and case: " +
				"of two values for one filter, whoever checks the request sees only one."},
		{ID: "A.19", Phase: 3, Advice: true, Judge: unknownMembers, Rules: []string{"verdict-14", "http-5"},
			Title: "an unknown member of /query, /count and /aggregate gives 400",
			Fix:   "Refuse members that the route does not have: one that is dropped could change which rows answer."},
		{ID: "A.14", Phase: 3, Advice: true, Judge: tokenTwice, Rules: []string{"http-3a"},
			Title: "a token in the query string gives 401 even beside a good header",
			Fix:   "Refuse a request that shows the token in its URL: the token is then in the logs of every proxy on the way."},
		{ID: "A.16", Phase: 3, Advice: true, Judge: oddWindows, Rules: []string{"query-4"},
			Title: "limit and offset that are no counts give 400",
			Fix:   "Refuse fractions, negative numbers and a limit of 0 instead of rounding them."},
		{ID: "A.17", Phase: 3, Advice: true, Judge: unknownColumns,
			Rules: []string{"filter-11c", "filter-11a", "verdict-14"},
			Title: "an unknown field outside of filters gives 404 unknown_entity",
			Fix:   "Answer 404 unknown_entity with the field's name."},
	}
}

func strayRequests(run *session.Run) *check.Finding {
	a := run.Exchange(session.Call{Method: http.MethodPost, Path: "/conformance-no-such-route", Body: []byte("{}")})
	if f := refusedInEnvelope(run, a, "an unknown path", http.StatusNotFound); f != nil {
		return f
	}
	for _, c := range []session.Call{
		{Method: http.MethodGet, Path: wire.PathQuery},
		{Method: http.MethodPut, Path: wire.PathCheck, Body: []byte("{}")},
	} {
		what := c.Method + " " + c.Path
		a := run.Exchange(c)
		if f := refusedInEnvelope(run, a, what, http.StatusMethodNotAllowed); f != nil {
			return f
		}
		if allow := a.Header.Get("Allow"); allow != http.MethodPost {
			return check.Differs("Allow: POST", message.Excerpt([]byte("Allow: "+allow), 80),
				"%s is refused without saying what is allowed", what)
		}
	}
	body := run.Legal(session.RouteAt(wire.PathCheck), session.Topic{}).Text()
	a = run.Exchange(session.Call{Method: http.MethodPost, Path: wire.PathCheck + "/", Body: body})
	return refusedWithStatus(run, a, "a path with one more slash", http.StatusNotFound)
}

// refusedInEnvelope does what refusedWithStatus does, and wants the error envelope too.
func refusedInEnvelope(run *session.Run, a *session.Answer, what string, status int) *check.Finding {
	if f := refusedWithStatus(run, a, what, status); f != nil {
		return f
	}
	if a.Refusal() == nil {
		return check.Differs(`{"error":{"code":...,"message":...}}`, a.Describe(), "%s is refused without the envelope", what)
	}
	return nil
}

func looseJSON(run *session.Run) *check.Finding {
	topic, f := run.ExistingTopic()
	if f != nil {
		return f
	}
	filter := `[{"field":` + session.Quoted(topic.Field) + `,"op":"eq","op":"neq","value":"a"}]`
	route, query := session.RouteAt(wire.PathCheck), session.RouteAt(wire.PathQuery)
	body := run.Legal(query, topic)
	for _, c := range []struct {
		route session.Route
		what  string
		body  session.Payload
	}{
		{query, "table twice", body.Plus("table", session.Quoted(topic.Name))},
		{query, "op twice in a filter", body.With("and", filter)},
		{query, "Limit beside limit", body.Plus("Limit", "2")},
		{route, "timeoutMs twice", run.Legal(route, topic).Plus("timeoutMs", "60000")},
		{route, "TimeoutMs beside timeoutMs", run.Legal(route, topic).Plus("TimeoutMs", "60000")},
	} {
		a := run.PostBody(c.route, c.body.Text())
		if f := refusedWithStatus(run, a, c.route.Path+" with "+c.what, http.StatusBadRequest); f != nil {
			return f
		}
	}
	return nil
}

func unknownMembers(run *session.Run) *check.Finding {
	topic, f := run.ExistingTopic()
	if f != nil {
		return f
	}
	field := session.Quoted(topic.Field)
	for _, c := range []struct{ path, member, json, what string }{
		{wire.PathQuery, "having", "[]", "an unknown member having"},
		{wire.PathQuery, "sort", `[{"field":` + field + `,"dir":"asc","nulls":"first"}]`, "an unknown member nulls in a sort entry"},
		{wire.PathCount, "having", "[]", "an unknown member having"},
		{wire.PathAggregate, "having", "[]", "an unknown member having"},
		{wire.PathAggregate, "groupBy", `[{"field":` + field + `,"as":"g","width":10}]`, "an unknown member width in groupBy"},
		{wire.PathAggregate, "measures", `[{"fn":"count","as":"n","distinct":true}]`, "an unknown member distinct in a measure"},
	} {
		for _, r := range run.MountedAt(c.path) {
			a := run.PostBody(r, run.Legal(r, topic).With(c.member, c.json).Text())
			if f := run.Refused(a, r.Path+" with "+c.what, wire.CodeBadRequest); f != nil {
				return f
			}
		}
	}
	return nil
}

func tokenTwice(run *session.Run) *check.Finding {
	route := session.RouteAt(wire.PathCheck)
	c := route.Call(run.Legal(route, session.Topic{}).Text())
	for _, name := range []string{"token", "access_token"} {
		c.Query = url.Values{name: {run.Token}}.Encode()
		what := "a token in the query string as " + name + " beside a good header"
		if f := refusedWithStatus(run, run.Exchange(c), what, http.StatusUnauthorized); f != nil {
			return f
		}
	}
	return nil
}

func oddWindows(run *session.Run) *check.Finding {
	topic, f := run.ExistingTopic()
	if f != nil {
		return f
	}
	r := session.RouteAt(wire.PathQuery)
	for _, c := range []struct{ member, json string }{
		{"limit", "0"}, {"limit", "-1"}, {"limit", "1.5"}, {"offset", "-1"}, {"offset", "0.5"},
	} {
		a := run.PostBody(r, run.Legal(r, topic).With(c.member, c.json).Text())
		if f := refusedWithStatus(run, a, "/query with "+c.member+": "+c.json, http.StatusBadRequest); f != nil {
			return f
		}
	}
	return nil
}

func unknownColumns(run *session.Run) *check.Finding {
	topic, f := run.ExistingTopic()
	if f != nil {
		return f
	}
	unused := session.Quoted(session.UnusedField)
	for _, c := range []struct{ path, member, json string }{
		{wire.PathQuery, "fields", "[" + unused + "]"},
		{wire.PathQuery, "sort", `[{"field":` + unused + `,"dir":"asc"}]`},
		{wire.PathAggregate, "groupBy", `[{"field":` + unused + `,"as":"g"}]`},
	} {
		for _, r := range run.MountedAt(c.path) {
			a := run.PostBody(r, run.Legal(r, topic).With(c.member, c.json).Text())
			if c.path == wire.PathAggregate && a.Declined() {
				continue
			}
			what := fmt.Sprintf("%s with an unknown field in %s", c.path, c.member)
			if f := refusedWithStatus(run, a, what, http.StatusNotFound); f != nil {
				return f
			}
		}
	}
	return nil
}
