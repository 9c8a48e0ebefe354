package conformance

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/coverage"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// JSON returns the report as one JSON object, for machines. Members are added over
// time and never renamed:
//
//	mode        string   fixture, live or both
//	summary     object   planned, pass, fail, skip, blocked (of the skips) and
//	                     advice: integers; planned is the sum of pass, fail,
//	                     skip and advice
//	failures    array    of the checks that failed, in the order of the checks:
//	                     id, title and detail, which are what a platform keeps
//	                     of the first ten; then url (where to read on),
//	                     rule (its ids), quote (what the rules say), fix,
//	                     facets? (the parts of the check that failed), expected?, received?, request?,
//	                     cases, failed, seed, and blocks: the ids of the
//	                     checks that could not be judged because of it
//	verdict     string   pass (exit code 0), fail (1) or "not run": 2, or 1 if the
//	                     connector refused the token or the credentials and
//	                     nothing else failed
//	words       string   the verdict in words, such as "conformant as far as asked (62 %)"
//	share       integer  of a hundred questions that the document and the data allow, how
//	                     many were asked
//	wholeMs?    integer  about what a run takes that nothing cuts short, if this one was
//	                     cut short because the connector was slow
//	leftOut?    string   which checks and tables were not judged although nothing was
//	                     wrong: a pass says nothing of them
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
//	coverage    object   requests, streams, rows, bytes, cases, generated, telling
//	                     (of the generated, those that not all rows match and some do):
//	                     integers; filters: an object from operator and type,
//	                     such as "eq number", to the filters judged; operators
//	                     of the document; tables: each { name, rows, partly?,
//	                     unjudged?, fields }, a field { name, type, filterable,
//	                     empty, judged, values?, asked? }, judged an object from
//	                     operators to answers, values the number of distinct values
//	                     of a column with at most fifty; basis: rows, tables, pairs
//	                     of field and operator, judged and empty (of the pairs),
//	                     values and asked (of the values), unjudged (tables), and
//	                     text, which says it; kinds: an array of { kind, all, asked }, for
//	                     filters, sorts, windows, groups, measures, joins, links and tenants;
//	                     unasked: what of them was not asked, { kind, table, column?, how? };
//	                     second?, the same of a second account
//
// A request is { method, url, header?, body?, curl }. It holds no secret: in the
// place of the token and the credentials it names environment variables, or shell
// expressions over them, which curl, a line for a shell, reads. Members with a question mark are absent when there is
// nothing to say.
func (r *Report) JSON() ([]byte, error) {
	v := r.verdict()
	out := jsonReport{
		Mode:     string(r.Mode),
		Summary:  r.Summary(),
		Failures: jsonFindings(r, r.Failures()),
		Verdict:  strings.ReplaceAll(v.Class, "skip", "not run"),
		verdict:  v,
		WholeMS:  r.Whole.Milliseconds(),
		Dialect:  r.DialectOnly,
		Endpoint: r.Endpoint, Slug: r.Slug, Seed: r.Seed,
		Began: r.Began.UTC().Format(time.RFC3339Nano), DurationMS: r.Duration.Milliseconds(), Problem: r.Problem,
		Skips:    append([]skipGroup{}, slices.Concat(r.skips(true)...)...),
		Advice:   jsonFindings(r, r.with(Advise)),
		Checks:   []jsonCheck{},
		Coverage: r.coverage,
	}
	if out.Coverage.Tables == nil { // there was no run: an empty list is a list
		out.Coverage.Filters, out.Coverage.Operators, out.Coverage.Tables = map[string]int{}, []wire.Op{}, []coverage.Table{}
	}
	if out.Coverage.Kinds == nil {
		out.Coverage.Kinds, out.Coverage.Unasked = []coverage.KindCount{}, []coverage.Question{}
	}
	if r.selection() {
		out.Selection = &jsonSelection{len(r.Outcomes), r.Available, r.Tables}
	}
	for _, o := range r.Outcomes {
		c := jsonCheck{
			ID: o.ID, Phase: o.Phase, Title: o.Title, Verdict: string(o.Verdict),
			Cases: o.Cases, DurationMS: o.Duration.Milliseconds(),
		}
		if o.Verdict == Skip {
			c.Reason, c.Detail, c.BlockedBy = o.Reason, o.Detail, o.blockedBy
		}
		out.Checks = append(out.Checks, c)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // a URL's & stays one
	enc.SetIndent("", "  ")
	if err := enc.Encode(&out); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

type jsonReport struct {
	Mode     string        `json:"mode"`
	Summary  Summary       `json:"summary"`
	Failures []jsonFinding `json:"failures"`
	Verdict  string        `json:"verdict"`
	verdict
	Selection  *jsonSelection  `json:"selection,omitempty"`
	WholeMS    int64           `json:"wholeMs,omitempty"`
	Dialect    string          `json:"dialectOnly,omitempty"`
	Endpoint   string          `json:"endpoint"`
	Slug       string          `json:"slug"`
	Seed       uint64          `json:"seed"`
	Began      string          `json:"began"`
	DurationMS int64           `json:"durationMs"`
	Problem    string          `json:"problem,omitempty"`
	Skips      []skipGroup     `json:"skips"`
	Advice     []jsonFinding   `json:"advice"`
	Checks     []jsonCheck     `json:"checks"`
	Coverage   coverage.Report `json:"coverage"`
}

type jsonSelection struct {
	Planned int `json:"planned"`
	Of      int `json:"of"`

	Tables []string `json:"tables,omitempty"`
}

type jsonFinding struct {
	ID       string       `json:"id"`
	Title    string       `json:"title"`
	Detail   string       `json:"detail"`
	URL      string       `json:"url"`
	Rule     string       `json:"rule"`
	Quote    string       `json:"quote"`
	Fix      string       `json:"fix"`
	Facets   []string     `json:"facets,omitempty"`
	Expected string       `json:"expected,omitempty"`
	Received string       `json:"received,omitempty"`
	Request  *jsonRequest `json:"request,omitempty"`
	Cases    int          `json:"cases"`
	Failed   int          `json:"failed"`
	Blocks   []string     `json:"blocks"`
	Seed     uint64       `json:"seed"`
}

type jsonRequest struct {
	Request
	Curl string `json:"curl"`
}

type jsonCheck struct {
	ID         string `json:"id"`
	Phase      int    `json:"phase"`
	Title      string `json:"title"`
	Verdict    string `json:"verdict"`
	Reason     Reason `json:"reason,omitempty"`
	Detail     string `json:"detail,omitempty"`
	BlockedBy  string `json:"blockedBy,omitempty"`
	Cases      int    `json:"cases"`
	DurationMS int64  `json:"durationMs"`
}

// jsonFindings returns outcomes as a report in JSON has them.
func jsonFindings(r *Report, outcomes []Outcome) []jsonFinding {
	list := []jsonFinding{}
	for _, o := range outcomes {
		f := jsonFinding{
			ID: o.ID, Title: o.Title, Detail: o.Detail, URL: o.url(), Rule: strings.Join(o.Rules, ", "), Quote: o.quote(), Fix: o.Fix,
			Facets: o.Broken, Expected: o.Expected, Received: o.Received, Cases: o.Cases, Failed: o.Failed, Seed: r.Seed,
			Blocks: append([]string{}, r.blocked(o.ID)...),
		}
		if o.Request != nil {
			f.Request = &jsonRequest{*o.Request, o.Request.Curl()}
		}
		list = append(list, f)
	}
	return list
}
