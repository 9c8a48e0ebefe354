package conformance

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// documentChecks are phase 0: the capability document, and what an empty body
// is answered.
func documentChecks() []Check {
	const quote = "always, unauthenticated, at most 64 KiB, content type `application/json`, no redirect"
	checks := []Check{
		{
			ID: "P0.1", Phase: 0, open: true, judge: documentServed,
			Title: "the document is served without authentication",
			Rule:  "protocol, Endpoints", Quote: quote,
			Fix: "Answer GET " + wire.PathDocument + " with 200 and the document, whatever headers the request has.",
		},
		{
			ID: "P0.2", Phase: 0, open: true, judge: documentStays,
			Title: "the document does not redirect",
			Rule:  "protocol, Endpoints", Quote: quote,
			Fix: "Serve the document at the exact path below the base URL; a proxy that adds or cuts a slash or moves http to https must not sit in front of it.",
		},
		{
			ID: "P0.3", Phase: 0, open: true, judge: documentType,
			Title: "the document's content type is application/json",
			Rule:  "protocol, Endpoints", Quote: quote,
			Fix: "Send Content-Type: " + wire.MediaJSON + " with the document; a page of a login or of a host that has no connector is text/html.",
		},
		{
			ID: "P0.4", Phase: 0, open: true, judge: documentSize,
			Title: "the document is at most 64 KiB",
			Rule:  "protocol, Endpoints; Limits", Quote: quote,
			Fix: "Shorten the help texts of the credential fields: the document describes the connector, and nothing of the data.",
		},
		{
			ID: "P0.5", Phase: 0, open: true, judge: documentParses,
			Title: "the document parses, and every value in it is legal",
			Rule:  "protocol, Capability document; Credential field; H3",
			Quote: "the document is served unauthenticated, parses, does not redirect; every route rejects an empty body with a 400 envelope",
			Fix:   "Hold the document against the tables of the section Resources; the schema wire/schema/document.json says the same for machines.",
		},
	}
	for i, r := range routes {
		checks = append(checks, Check{
			ID: fmt.Sprintf("P0.6%c", 'a'+i), Phase: 0, needs: r.needs, judge: func(x *exam) { emptyBody(x, r) },
			Title: r.path + " rejects an empty body with a 400 envelope",
			Rule:  "protocol, Conformance check",
			Quote: "the document is served unauthenticated, parses, does not redirect; every route rejects an empty body with a 400 envelope",
			Fix:   "Check the body against the shape of the route before anything else, and answer 400 bad_request in the envelope.",
		})
	}
	return append(checks, Check{
		ID: "P0.7", Phase: 0, judge: unlistedRoutes,
		needs: func(d *document) string {
			if len(unlisted(d)) == 0 {
				return "endpoints lists every optional route"
			}
			return ""
		},
		Title: "a route that the document does not list is refused",
		Rule:  "protocol, Endpoints; G2",
		Quote: "any of `size`, `count`, `aggregate`, `cardinality`, `linkHitRate`; optional routes the connector serves",
		Fix:   "Mount an optional route exactly when endpoints lists it, and answer 404, 405 or 422 otherwise.",
	})
}

// route is a POST route, and when it is there.
type route struct {
	path     string
	endpoint wire.Endpoint // empty: it is always mounted
}

var routes = []route{
	{path: wire.PathCheck},
	{path: wire.PathDiscovery},
	{path: wire.PathQuery},
	{path: wire.PathCount, endpoint: wire.EndpointCount},
	{path: wire.PathAggregate, endpoint: wire.EndpointAggregate},
	{path: wire.PathSize, endpoint: wire.EndpointSize},
	{path: wire.PathCardinality, endpoint: wire.EndpointCardinality},
	{path: wire.PathLinkHitRate, endpoint: wire.EndpointLinkHitRate},
}

// needs is the check's condition that the route is mounted.
func (r route) needs(d *document) string {
	if r.endpoint == "" || d.has(r.endpoint) {
		return ""
	}
	return fmt.Sprintf("endpoints does not list %s", r.endpoint)
}

// mounted are the routes that the document lists.
func (x *exam) mounted() (list []route) {
	for _, r := range routes {
		if r.needs(x.document()) == "" {
			list = append(list, r)
		}
	}
	return list
}

// unlisted are the optional routes that the document does not list.
func unlisted(d *document) (list []route) {
	for _, r := range routes {
		if r.needs(d) != "" {
			list = append(list, r)
		}
	}
	return list
}

// fetch is the document's answer: one that came, and is neither an error nor a
// redirect, which have checks of their own.
func (x *exam) fetch() *answer {
	a := x.send(call{method: http.MethodGet, path: wire.PathDocument})
	switch {
	case a.err != nil && a.status == 0:
		// The run could not happen (I1a).
		x.skip(NotReached, "no answer came: %v", a.err)
	case a.err != nil:
		x.blocked("P0.1", a.err.Error())
	case a.status >= 300 && a.status < 400:
		x.blocked("P0.2", "the document is answered by a redirect")
	}
	return a
}

func documentServed(x *exam) {
	if a := x.fetch(); a.status != http.StatusOK {
		x.want("200", a.describe(), "the document is answered with %d", a.status)
	}
}

func documentStays(x *exam) {
	x.fetch()
}

// served200 is the document's answer, a 200.
func (x *exam) served200() *answer {
	a := x.fetch()
	if a.status != http.StatusOK {
		x.blocked("P0.1", fmt.Sprintf("the document is answered with %d", a.status))
	}
	return a
}

func documentType(x *exam) {
	a := x.served200()
	if a.media() != wire.MediaJSON {
		x.want(wire.MediaJSON, excerpt([]byte(a.header.Get("Content-Type")), 80), "the document is of another content type")
	}
}

func documentSize(x *exam) {
	if a := x.served200(); len(a.body) > wire.MaxDocumentBytes {
		x.want("at most 65536 bytes", "more", "the document is too long")
	}
}

func documentParses(x *exam) {
	a := x.served200()
	if len(a.body) > wire.MaxDocumentBytes {
		x.blocked("P0.4", "the document is too long")
	}
	var d wire.Document
	x.found(checkMessage(a.body, "document", &d))
}

// emptyBody posts no byte, and an object without a member.
func emptyBody(x *exam, r route) {
	x.cases = 2
	x.found(refused(x.body(r, nil), wire.CodeBadRequest))
	codes := []wire.Code{wire.CodeBadRequest}
	if r.path == wire.PathCheck {
		// Credentials that are not there may count as rejected ones.
		codes = append(codes, wire.CodeCheckFailed)
	}
	x.found(refused(x.body(r, []byte("{}")), codes...))
}

// unlistedRoutes posts a legal body to each route that is not mounted.
func unlistedRoutes(x *exam) {
	of := x.topic()
	for _, r := range unlisted(x.document()) {
		x.cases++
		a := x.send(to(r, x.legal(r, of).text()))
		switch {
		case a.err != nil:
			x.want("404, 405 or 422", a.err.Error(), "%s, which endpoints does not list, is not refused", r.path)
		case !slices.Contains([]int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusUnprocessableEntity}, a.status):
			x.want("404, 405 or 422", a.describe(), "%s, which endpoints does not list, is answered with %d", r.path, a.status)
		}
	}
}

// refused says what an answer lacks of being a refusal with one of the codes,
// under the status of that code and in the envelope.
func refused(a *answer, codes ...wire.Code) *finding {
	expected := ""
	for i, code := range codes {
		if i > 0 {
			expected += " or "
		}
		expected += fmt.Sprintf("%d %s", code.Status(), code)
	}
	if a.err != nil {
		return &finding{detail: a.err.Error(), expected: expected, request: a.request}
	}
	e := a.refusal()
	for _, code := range codes {
		if a.status == code.Status() && e != nil && e.Code == code {
			return nil
		}
	}
	detail := fmt.Sprintf("answered %d", a.status)
	switch {
	case a.status >= 400 && e == nil:
		detail += " without the error envelope"
	case e != nil:
		detail += fmt.Sprintf(" with code %s", wire.QuoteName(string(e.Code)))
	}
	return &finding{detail: detail, expected: expected, received: a.describe(), request: a.request}
}
