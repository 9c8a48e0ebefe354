package conformance

import (
	"bytes"
	"encoding/json"
	"time"
)

// JSON is the report as one JSON object, for machines; a file with the
// extension .json holds it. Members are added over time and never renamed:
//
//	mode        string   fixture, live or both
//	summary     object   planned, pass, fail, skip, blocked (of the skips) and
//	                     advice: integers; planned is the sum of pass, fail,
//	                     skip and advice
//	failures    array    of the checks that failed, in the order of the checks:
//	                     id, title and detail, which are what a platform keeps
//	                     of the first ten; then rule, quote, fix, expected?,
//	                     received?, request?, cases, failed, seed
//	verdict     string   pass, fail or "not run", for the exit codes 0, 1, 2
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
//	                     skip, cases, durationMs
//	coverage    object   requests, streams, rows, bytes, cases, generated:
//	                     integers; filters: an object from operator and type,
//	                     such as "eq number", to the predicates judged
//
// A request is { method, url, header?, body?, curl }. It holds no secret: where
// the token and the credentials stood, it names environment variables, which
// curl, a line for a shell, reads. Members with a question mark are absent when
// there is nothing to say.
func (r *Report) JSON() ([]byte, error) {
	s := r.Summary()
	out := jsonReport{
		Mode:     r.Mode,
		Summary:  jsonSummary{s.Planned, s.Passed, s.Failed, s.Skipped, s.Blocked, s.Advised},
		Failures: jsonFindings(r.Failures(), r.Seed),
		Verdict:  [...]string{ExitPass: "pass", ExitFail: "fail", ExitNotRun: "not run"}[r.Exit()],
		Exit:     r.Exit(), Why: r.why(),
		Endpoint: r.Endpoint, Slug: r.Slug, Seed: r.Seed,
		Began: r.Began.UTC().Format(time.RFC3339Nano), DurationMS: r.Duration.Milliseconds(), Problem: r.Problem,
		Skips:  []jsonSkip{},
		Advice: jsonFindings(r.Advice(), r.Seed),
		Checks: []jsonCheck{},
		Coverage: jsonCoverage{r.Coverage.Requests, r.Coverage.Streams, r.Coverage.Rows, r.Coverage.Bytes,
			r.Coverage.Cases, r.Coverage.Generated, r.Coverage.Filters},
	}
	if out.Coverage.Filters == nil {
		out.Coverage.Filters = map[string]int{}
	}
	for _, g := range r.skips() {
		out.Skips = append(out.Skips, jsonSkip(g))
	}
	for _, o := range r.Outcomes {
		c := jsonCheck{ID: o.ID, Phase: o.Phase, Title: o.Title, Verdict: o.Verdict, Cases: o.Cases, DurationMS: o.Duration.Milliseconds()}
		if o.Verdict == Skip {
			c.Reason, c.Detail = o.Reason, o.Detail
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
	Mode       Mode          `json:"mode"`
	Summary    jsonSummary   `json:"summary"`
	Failures   []jsonFinding `json:"failures"`
	Verdict    string        `json:"verdict"`
	Exit       int           `json:"exit"`
	Why        string        `json:"why"`
	Endpoint   string        `json:"endpoint"`
	Slug       string        `json:"slug"`
	Seed       uint64        `json:"seed"`
	Began      string        `json:"began"`
	DurationMS int64         `json:"durationMs"`
	Problem    string        `json:"problem,omitempty"`
	Skips      []jsonSkip    `json:"skips"`
	Advice     []jsonFinding `json:"advice"`
	Checks     []jsonCheck   `json:"checks"`
	Coverage   jsonCoverage  `json:"coverage"`
}

type jsonSummary struct {
	Planned int `json:"planned"`
	Pass    int `json:"pass"`
	Fail    int `json:"fail"`
	Skip    int `json:"skip"`
	Blocked int `json:"blocked"`
	Advice  int `json:"advice"`
}

type jsonFinding struct {
	ID       string       `json:"id"`
	Title    string       `json:"title"`
	Detail   string       `json:"detail"`
	Rule     string       `json:"rule"`
	Quote    string       `json:"quote"`
	Fix      string       `json:"fix"`
	Expected string       `json:"expected,omitempty"`
	Received string       `json:"received,omitempty"`
	Request  *jsonRequest `json:"request,omitempty"`
	Cases    int          `json:"cases"`
	Failed   int          `json:"failed"`
	Seed     uint64       `json:"seed"`
}

type jsonRequest struct {
	Request
	Curl string `json:"curl"`
}

type jsonSkip struct {
	Reason Reason   `json:"reason"`
	Why    string   `json:"why"`
	IDs    []string `json:"ids"`
}

type jsonCheck struct {
	ID         string  `json:"id"`
	Phase      int     `json:"phase"`
	Title      string  `json:"title"`
	Verdict    Verdict `json:"verdict"`
	Reason     Reason  `json:"reason,omitempty"`
	Detail     string  `json:"detail,omitempty"`
	Cases      int     `json:"cases"`
	DurationMS int64   `json:"durationMs"`
}

type jsonCoverage struct {
	Requests  int            `json:"requests"`
	Streams   int            `json:"streams"`
	Rows      int64          `json:"rows"`
	Bytes     int64          `json:"bytes"`
	Cases     int            `json:"cases"`
	Generated int            `json:"generated"`
	Filters   map[string]int `json:"filters"`
}

func jsonFindings(outcomes []Outcome, seed uint64) []jsonFinding {
	list := []jsonFinding{}
	for _, o := range outcomes {
		f := jsonFinding{ID: o.ID, Title: o.Title, Detail: o.Detail, Rule: o.Rule, Quote: o.Quote, Fix: o.Fix,
			Expected: o.Expected, Received: o.Received, Cases: o.Cases, Failed: o.Failed, Seed: seed}
		if o.Request != nil {
			f.Request = &jsonRequest{*o.Request, o.Request.Curl()}
		}
		list = append(list, f)
	}
	return list
}
