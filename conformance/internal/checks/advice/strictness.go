package advice

import (
	"net/http"
	"net/url"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/payload"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/refusal"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func strictnessChecks() []session.Check {
	return []session.Check{
		{ID: "A.11", Phase: 3, Advice: true, Judge: strayRequests, Rules: []string{"http-1b", "http-2"},
			Title: "an unknown path gives 404, a wrong method 405, both in the envelope",
			Fix:   "Answer what the router does not know in the envelope too, and name the right method in Allow."},
		{ID: "A.12", Phase: 3, Advice: true, Judge: refusal.Table{Rows: looseJSON}.Judge, Rules: []string{"http-4"},
			Title: "members that stand twice, or in another case, give 400",
			Fix: "Read bodies with a decoder that sees duplicates and case: " +
				"of two values for one filter, whoever checks the request sees only one."},
		{ID: "A.19", Phase: 3, Advice: true, Judge: refusal.Table{Rows: unknownMembers}.Judge, Rules: []string{"verdict-14", "http-5"},
			Title: "an unknown member of /query, /count and /aggregate gives 400",
			Fix:   "Refuse members that the route does not have: one that is dropped could change which rows answer."},
		{ID: "A.14", Phase: 3, Advice: true, Judge: tokenTwice, Rules: []string{"http-3a"},
			Title: "a token in the query string gives 401 even beside a good header",
			Fix:   "Refuse a request that shows the token in its URL: the token is then in the logs of every proxy on the way."},
		{ID: "A.16", Phase: 3, Advice: true, Judge: refusal.Table{Rows: oddWindows}.Judge, Rules: []string{"query-4"},
			Title: "limit and offset that are no counts give 400",
			Fix:   "Refuse fractions, negative numbers and a limit of 0 instead of rounding them."},
		{ID: "A.17", Phase: 3, Advice: true, Judge: refusal.Table{Rows: unknownColumns, Declinable: true}.Judge,
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
	body := run.Legal(wire.PathCheck, payload.Topic{}).Text()
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

func tokenTwice(run *session.Run) *check.Finding {
	c := session.Call{Path: wire.PathCheck, Body: run.Legal(wire.PathCheck, payload.Topic{}).Text()}
	for _, name := range []string{"token", "access_token"} {
		c.Query = url.Values{name: {run.Token}}.Encode()
		what := "a token in the query string as " + name + " beside a good header"
		if f := refusedWithStatus(run, run.Exchange(c), what, http.StatusUnauthorized); f != nil {
			return f
		}
	}
	return nil
}

var looseJSON = []refusal.Row{
	{Paths: query, Body: `%cut,"table":%table}`, What: "with table twice"},
	{Paths: query, Member: "and", JSON: `[{"field":%field,"op":"eq","op":"neq","value":"a"}]`, What: "with op twice in a filter"},
	{Paths: query, Body: `%cut,"Limit":2}`, What: "with Limit beside limit"},
	{Paths: []string{wire.PathCheck}, Body: `%cut,"timeoutMs":60000}`, What: "with timeoutMs twice"},
	{Paths: []string{wire.PathCheck}, Body: `%cut,"TimeoutMs":60000}`, What: "with TimeoutMs beside timeoutMs"},
}

var (
	query     = []string{wire.PathQuery}
	aggregate = []string{wire.PathAggregate}
)

var unknownMembers = []refusal.Row{
	{Paths: query, Member: "having", JSON: "[]", What: "with an unknown member having"},
	{Paths: query, Member: "sort", JSON: `[{"field":%field,"dir":"asc","nulls":"first"}]`,
		What: "with an unknown member nulls in a sort entry"},
	{Paths: []string{wire.PathCount, wire.PathAggregate}, Member: "having", JSON: "[]", What: "with an unknown member having"},
	{Paths: aggregate, Member: "groupBy", JSON: `[{"field":%field,"as":"g","width":10}]`, What: "with an unknown member width in groupBy"},
	{Paths: aggregate, Member: "measures", JSON: `[{"fn":"count","as":"n","distinct":true}]`,
		What: "with an unknown member distinct in a measure"},
}

var oddWindows = []refusal.Row{
	{Paths: query, Member: "limit", JSON: "0"},
	{Paths: query, Member: "limit", JSON: "-1"},
	{Paths: query, Member: "limit", JSON: "1.5"},
	{Paths: query, Member: "offset", JSON: "-1"},
	{Paths: query, Member: "offset", JSON: "0.5"},
}

var unknownColumns = []refusal.Row{
	{Paths: query, Member: "fields", JSON: "[%noField]", What: "with an unknown field in fields", Codes: unknownEntity},
	{Paths: query, Member: "sort", JSON: `[{"field":%noField,"dir":"asc"}]`, What: "with an unknown field in sort", Codes: unknownEntity},
	{Paths: aggregate, Member: "groupBy", JSON: `[{"field":%noField,"as":"g"}]`,
		What: "with an unknown field in groupBy", Codes: unknownEntity},
}

var unknownEntity = []wire.Code{wire.CodeUnknownEntity}
