package conformance

import (
	"cmp"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/render"
	"github.com/connectorsdk/connector-sdk-go/internal/rules"
)

// Text returns the report for a person at a terminal: what failed, the first findings
// with what was expected and received, the request as a line to paste, what to do, the
// rules, and the checks that could not be judged because of it; then advice, what was
// skipped and why, what was judged if nothing failed, and a summary. With colour it
// holds the escapes of a terminal; nothing that came from the connector does.
//
// With full, it leaves nothing out: every finding in full, the ids of all skipped checks,
// and the judged answers of every field by operator.
func (r *Report) Text(colour, full bool) string { return r.rendered().Text(colour, full) }

// CoverageText returns the judged answers of every field by operator, or "" if no table was
// found.
func (r *Report) CoverageText() string { return r.rendered().CoverageText() }

// Finding returns all that a report says of how a check ended: what was expected and
// received, the rules, what to do, and the request as a line to paste.
func (r *Report) Finding(o *Outcome) string { return rendered(o).Lines(cmp.Or(o.Seed, r.Seed)) }

// HTML returns the report as one page that needs nothing else: no server, no network
// and no script, except for the buttons that copy a request.
func (r *Report) HTML() ([]byte, error) { return r.rendered().HTML() }

// JUnit returns the report in the XML that CI servers show as test results: a suite
// for each phase, a case for each check. A skipped check is skipped and says why;
// advice is a passed case that has something to say. A run that is not green for
// another reason than a failed check, such as a problem or a check that was blocked,
// has one more suite, whose only case is an error: so no server shows a run green
// that is not.
func (r *Report) JUnit() ([]byte, error) { return r.rendered().JUnit() }

// JSON returns the report as one JSON object, for machines. Members are added over
// time and never renamed:
//
//	mode        string   fixture, live or both
//	summary     object   planned, pass, fail, skip, blocked (of the skips) and
//	                     advice: integers; planned is the sum of pass, fail,
//	                     skip and advice
//	failures    array    of the checks that failed, in the order of the checks:
//	                     id, title and detail, which are what a platform keeps
//	                     of the first ten; then rule (its ids), quote (what
//	                     the rules say), fix, expected?, received?, request?,
//	                     cases, failed, seed, and blocks: the ids of the
//	                     checks that could not be judged because of it
//	verdict     string   pass, fail or "not run", for the exit codes 0, 1, 2
//	selection?  object   planned and of: so many checks of the mode were planned; tables?,
//	                     an array: those that were judged. A pass then says nothing of
//	                     the others
//	dialectOnly? string  the connector takes queries in this dialect of SQL alone;
//	                     a pass then says nothing of the rows
//	exit        integer
//	why         string   what the exit code stands for, in a sentence
//	endpoint    string   the base URL
//	slug        string   of the connector; empty when its document was not read
//	seed        integer  up to 2^64-1: of the generated queries
//	began       string   ISO 8601 in UTC
//	durationMs  integer
//	problem?    string   why the run could not happen or come to its end
//	skips       array    of { reason, why, ids }: why checks were skipped
//	advice      array    as failures, of the checks that advise
//	checks      array    of every planned check: id, phase, title, verdict
//	                     (pass, fail, skip or advice), reason? and detail? of a
//	                     skip, blockedBy?, cases, durationMs
//	coverage    object   requests, streams, rows, bytes, cases, generated:
//	                     integers; filters: an object from operator and type,
//	                     such as "eq number", to the filters judged; operators
//	                     of the document; tables: each { name, rows, partly?,
//	                     fields }, a field { name, type, filterable, empty,
//	                     judged }, judged an object from operators to answers;
//	                     basis: rows, tables, pairs of field and operator, judged
//	                     and empty (of the pairs), and text, which says it
//
// A request is { method, url, header?, body?, curl }. It holds no secret: in the
// place of the token and the credentials it names environment variables, or shell
// expressions over them, which curl, a line for a shell, reads. Members with a question mark are absent when there is
// nothing to say.
func (r *Report) JSON() ([]byte, error) { return r.rendered().JSON() }

// Explain returns what there is to say about a check, for a terminal.
func (c *Check) Explain() string {
	var modes []string
	for _, m := range c.modes() {
		modes = append(modes, string(m))
	}
	return render.Explain(rendered(&Outcome{Check: *c}), modes, c.Advice)
}

// rendered returns the report as package render takes it.
func (r *Report) rendered() *render.Report {
	s, c := r.Summary(), r.coverage
	basis := c.Basis()
	out := &render.Report{
		Mode: string(r.Mode), Endpoint: r.Endpoint, Slug: r.Slug, Seed: r.Seed, Began: r.Began, Duration: r.Duration,
		Summary: render.Summary(s), Problem: r.Problem, Exit: r.Exit(),
		Available: r.Available, Tables: r.Tables, Dialect: r.DialectOnly,
		Coverage: render.Coverage{
			Requests: c.Requests, Streams: c.Streams, Rows: c.Rows, Bytes: c.Bytes,
			Cases: c.Cases, Generated: c.Generated, Filters: c.Filters,
			Basis: render.Basis{
				Rows: basis.Rows, Tables: basis.Tables, Pairs: basis.Pairs, Judged: basis.Judged, Empty: basis.Empty,
			},
		},
	}
	if len(c.Tables) > 0 {
		out.Coverage.Basis.Text = basis.String()
	}
	for _, op := range c.Operators {
		out.Coverage.Operators = append(out.Coverage.Operators, string(op))
	}
	for i := range c.Tables {
		out.Coverage.Tables = append(out.Coverage.Tables, renderedTable(&c.Tables[i]))
	}
	for i := range r.Outcomes {
		out.Outcomes = append(out.Outcomes, *rendered(&r.Outcomes[i]))
	}
	return out
}

// renderedTable returns what was judged of a table as package render takes it.
func renderedTable(t *tableCoverage) render.Table {
	out := render.Table{Name: t.Name, Rows: t.Rows, Partly: t.Partly, Fields: []render.Field{}}
	for _, f := range t.Fields {
		judged := map[string]int{}
		for op, n := range f.Judged {
			judged[string(op)] = n
		}
		out.Fields = append(out.Fields, render.Field{
			Name: f.Name, Type: string(f.Type), Filterable: f.Filterable, Empty: f.Empty, Judged: judged,
		})
	}
	return out
}

// rendered returns an outcome as package render takes it, with what its rules say.
func rendered(o *Outcome) *render.Outcome {
	out := &render.Outcome{
		ID: o.ID, Phase: o.Phase, Title: o.Title, Fix: o.Fix, Verdict: string(o.Verdict), Reason: check.Reason(o.Reason),
		Detail: o.Detail, BlockedBy: o.BlockedBy, Expected: o.Expected, Received: o.Received, Request: (*check.Request)(o.Request),
		Cases: o.Cases, Failed: o.Failed, Duration: o.Duration, Seed: o.Seed,
	}
	for _, id := range o.Rules {
		rule, _ := rules.Lookup(id)
		out.Rules = append(out.Rules, render.Rule{ID: id, Text: rule.Text})
	}
	return out
}
