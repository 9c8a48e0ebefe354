// Package document checks the capability document, and what the routes answer to an empty body.
package document

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/routes"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Checks returns the checks in the order in which they run.
func Checks() []session.Check {
	return []session.Check{
		{ID: "P0.1", Phase: 0, Open: true, Judge: fetched(anything), Rules: []string{"document-4", "tenant-8"},
			Title: "the document is served without authentication",
			Fix:   "Answer GET " + wire.PathDocument + " with 200 and the document, whatever headers the request has."},
		{ID: "P0.2", Phase: 0, Open: true, Judge: notRedirected, Rules: []string{"document-4"},
			Title: "the document does not redirect",
			Fix: "Serve the document at the exact path below the base URL. " +
				"A proxy that adds or removes a slash or moves http to https must not stand in front of it."},
		{ID: "P0.3", Phase: 0, Open: true, Judge: fetched(contentType), Rules: []string{"document-4"},
			Title: "the document's content type is application/json",
			Fix: "Send Content-Type: " + terms.MediaJSON + " with the document. " +
				"A login page, or the page of a host without a connector, is text/html."},
		{ID: "P0.4", Phase: 0, Open: true, Judge: fetched(size), Rules: []string{"document-5"},
			Title: "the document is at most 64 KiB",
			Fix:   "Shorten the help texts of the credential fields: the document describes the connector, not the data."},
		{ID: "P0.5", Phase: 0, Open: true, Judge: fetched(parses),
			Rules: []string{
				"document-19", "document-6", "document-7", "document-15", "document-17", "document-18",
				"credential-1", "credential-2", "credential-3", "credential-4", "credential-6", "credential-7",
			},
			Title: "the document parses, and every value in it is legal",
			Fix:   "Compare the document with the rulebook's section on it. Machines can use the schema wire/schema/document.json."},
		session.Merge(session.Check{
			ID: "P0.6", Phase: 0, Title: "every route rejects an empty body with a 400 envelope", Fix: matchShape,
		}, emptyBodies()),
		{ID: "P0.7", Phase: 0, Judge: unlistedRoutes, Rules: []string{"route-10", "route-5", "http-2"},
			Needs: declared.Only(func(d *declared.Document) bool { return len(d.Paths(false)) > 0 }, "endpoints lists every optional route"),
			Title: "a route that the document does not list is refused",
			Fix:   "Mount an optional route exactly when endpoints lists it, and answer 404, 405 or 422 otherwise."},
		{ID: "P0.8", Phase: 0, Judge: sameForAll, Rules: []string{"document-1c", "document-4"},
			Title: "the document says the same to every caller, each time",
			Fix: "Compute the document once, from nothing but the host's own configuration, and serve it whatever the request's headers are. " +
				"What differs between tenants belongs into discovery."},
		{ID: "P0.9", Phase: 0, Judge: takesSQL, Rules: []string{"document-8", "query-13"},
			Needs: declared.Only(func(d *declared.Document) bool { return d.Dialect != "" || d.EmptyDialect }, "the document has no dialect"),
			Title: "a connector whose document has a dialect takes SQL on /query",
			Fix: `Leave dialect out of the document unless /query takes {"sql": ..., "params": [...]}. If it does, ` +
				"name the dialect, and refuse a statement only for what it says."},
	}
}

// Advice returns the checks about what the text of the protocol does not forbid.
func Advice() []session.Check {
	return []session.Check{
		{ID: "A.27", Phase: 0, Advice: true, Judge: namesOnce, Rules: []string{"document-20"},
			Title: "the document lists no operator, endpoint or credential twice",
			Fix:   "List each once. Of two credential fields with one key, one value is lost."},
		{ID: "A.28", Phase: 0, Advice: true, Judge: ownSlug, Rules: []string{"document-21"},
			Title: "the slug is not the name of a widespread kind of source",
			Fix:   "Name the connector after yourself or your product: the platform's own kinds of sources have such names."},
	}
}

const matchShape = "Compare the body with the shape of the route before anything else, " +
	"and answer 400 bad_request in the envelope."

// emptyBodies returns the facets of P0.6, that each route rejects an empty body: P0.6a, P0.6b and so on.
func emptyBodies() (facets []session.Check) {
	const letters = "abcdefgh" // a route that came later has none
	for i, r := range routes.All {
		was := ""
		if i < len(letters) {
			was = "P0.6" + letters[i:i+1]
		}
		facets = append(facets, session.Check{
			Was: was, Facet: r.Path, Needs: declared.Needs(r.Path),
			Judge: func(run *session.Run) *check.Finding { return judgeEmptyBody(run, r.Path) },
			Title: r.Path + " rejects an empty body with a 400 envelope",
			Rules: []string{"route-11"},
			Fix:   matchShape,
		})
	}
	return facets
}

// fetch returns the answer to a request for the document. An answer that is lost or
// a redirect has a check of its own, which blocks the others.
func fetch(run *session.Run) (*session.Answer, *check.Finding) {
	a := run.Exchange(session.Call{Method: http.MethodGet, Path: wire.PathDocument})
	switch {
	case a.Err != nil && a.Status == 0 && (run.Unreached != "" || run.Document != nil):
		// There is nothing to grade.
		return a, check.Skip(check.NotReached, "no answer came for the document: %s", cmp.Or(run.Unreached, a.Err.Error()))
	case a.Err != nil:
		return a, check.Block("P0.1", "%s", a.Err)
	case a.Status >= 300 && a.Status < 400:
		return a, check.Block("P0.2", "the document is answered by a redirect")
	}
	return a, nil
}

// fetched returns the judge of the answer that holds the document, for checks that need a 200.
func fetched(judge func(*session.Answer) *check.Finding) func(*session.Run) *check.Finding {
	return func(run *session.Run) *check.Finding {
		a, f := fetch(run)
		switch {
		case f != nil:
			return f
		case a.Status != http.StatusOK:
			f = check.Block("P0.1", "the document is answered with %d", a.Status)
			f.Expected, f.Received = "200", a.Describe()
			return f
		}
		return judge(a)
	}
}

// anything takes the answer as it is: that it came is all that must hold.
func anything(*session.Answer) *check.Finding { return nil }

func notRedirected(run *session.Run) *check.Finding {
	_, f := fetch(run)
	return f
}

func contentType(a *session.Answer) *check.Finding {
	if a.Media != terms.MediaJSON {
		received := message.Excerpt([]byte(a.Header.Get("Content-Type")), 80)
		return check.Differs(terms.MediaJSON, received, "the document has another content type")
	}
	return nil
}

func size(a *session.Answer) *check.Finding {
	if len(a.Body) > terms.MaxDocumentBytes {
		return check.Differs("at most 65536 bytes", "more", "the document is too long")
	}
	return nil
}

func parses(a *session.Answer) *check.Finding {
	if len(a.Body) > terms.MaxDocumentBytes {
		return check.Block("P0.4", "the document is too long")
	}
	return message.Check(a.Body, "document", &wire.Document{})
}

// judgeEmptyBody posts no byte, and an object without a member.
func judgeEmptyBody(run *session.Run, path string) *check.Finding {
	run.Cases = 2
	if f := run.Exchange(session.Call{Path: path}).RefusedWith(wire.CodeBadRequest); f != nil {
		return f
	}
	codes := []wire.Code{wire.CodeBadRequest}
	if path == wire.PathCheck {
		// Missing credentials may count as rejected ones.
		codes = append(codes, wire.CodeCheckFailed)
	}
	return run.Exchange(session.Call{Path: path, Body: []byte("{}")}).RefusedWith(codes...)
}

func unlistedRoutes(run *session.Run) *check.Finding {
	const expected = "404, 405 or 422"
	refusals := []int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusUnprocessableEntity}
	topic := run.Topic()
	for _, path := range run.Document.Paths(false) {
		run.Cases++
		a := run.Exchange(session.Call{Path: path, Body: run.Legal(path, topic).Text()})
		switch {
		case a.Err != nil:
			return check.Differs(expected, a.Err.Error(), "%s, which endpoints does not list, is not refused", path)
		case !slices.Contains(refusals, a.Status):
			return check.Differs(expected, a.Describe(), "%s, which endpoints does not list, is answered with %d", path, a.Status)
		}
	}
	return nil
}

func namesOnce(run *session.Run) *check.Finding {
	var keys []string
	for _, f := range run.Document.CredentialSchema {
		keys = append(keys, f.Key)
	}
	run.Cases = 3
	for _, list := range []struct{ member, twice string }{
		{"capabilities.operators", twice(run.Document.Capabilities.Operators)},
		{"endpoints", twice(run.Document.Endpoints)},
		{"credentialSchema", twice(keys)},
	} {
		if list.twice != "" {
			return check.Fail("%s lists %s twice", list.member, terms.QuoteName(list.twice))
		}
	}
	return nil
}

func twice[S ~string](list []S) string {
	for i, name := range list {
		if slices.Contains(list[:i], name) {
			return string(name)
		}
	}
	return ""
}

// kinds are names of widespread kinds of sources. The protocol does not say which ones are built into the platform.
var kinds = []string{
	"airtable", "athena", "bigquery", "cassandra", "clickhouse", "cockroachdb", "csv", "databricks", "duckdb", "dynamodb",
	"elasticsearch", "excel", "google-sheets", "graphql", "hubspot", "jira", "json", "mariadb", "mongodb", "mssql",
	"mysql", "notion", "oracle", "parquet", "postgres", "postgresql", "redis", "redshift", "rest", "salesforce",
	"sharepoint", "shopify", "snowflake", "sql", "sql-server", "sqlite", "sqlserver", "stripe", "trino",
}

func ownSlug(run *session.Run) *check.Finding {
	run.Cases = 1
	if !slices.Contains(kinds, run.Document.Slug) {
		return nil
	}
	return check.Fail("the slug %s may be that of a kind of source that is built into the platform", terms.QuoteName(run.Document.Slug))
}
