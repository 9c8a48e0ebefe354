package render

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
)

// JSON returns the report as one JSON object.
func (r *Report) JSON() ([]byte, error) {
	s := r.Summary
	out := jsonReport{
		Mode:     r.Mode,
		Summary:  jsonSummary{s.Planned, s.Passed, s.Failed, s.Skipped, s.Blocked, s.Advised},
		Failures: r.jsonFindings(fail),
		Verdict:  [...]string{ExitPass: pass, ExitFail: fail, ExitNotRun: "not run"}[r.Exit],
		Exit:     r.Exit, Why: r.why(), Dialect: r.Dialect,
		Endpoint: r.Endpoint, Slug: r.Slug, Seed: r.Seed,
		Began: r.Began.UTC().Format(time.RFC3339Nano), DurationMS: r.Duration.Milliseconds(), Problem: r.Problem,
		Skips:    append([]skipGroup{}, r.skips(true)...),
		Advice:   r.jsonFindings(advise),
		Checks:   []jsonCheck{},
		Coverage: r.Coverage,
	}
	if out.Coverage.Filters == nil {
		out.Coverage.Filters = map[string]int{}
	}
	out.Coverage.Operators = append([]string{}, out.Coverage.Operators...)
	out.Coverage.Tables = append([]Table{}, out.Coverage.Tables...)
	if r.selection() {
		out.Selection = &jsonSelection{len(r.Outcomes), r.Available, r.Tables}
	}
	for _, o := range r.Outcomes {
		c := jsonCheck{
			ID: o.ID, Phase: o.Phase, Title: o.Title, Verdict: o.Verdict,
			Cases: o.Cases, DurationMS: o.Duration.Milliseconds(),
		}
		if o.Verdict == skip {
			c.Reason, c.Detail, c.BlockedBy = o.Reason, o.Detail, o.BlockedBy
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
	Mode       string         `json:"mode"`
	Summary    jsonSummary    `json:"summary"`
	Failures   []jsonFinding  `json:"failures"`
	Verdict    string         `json:"verdict"`
	Exit       int            `json:"exit"`
	Why        string         `json:"why"`
	Selection  *jsonSelection `json:"selection,omitempty"`
	Dialect    string         `json:"dialectOnly,omitempty"`
	Endpoint   string         `json:"endpoint"`
	Slug       string         `json:"slug"`
	Seed       uint64         `json:"seed"`
	Began      string         `json:"began"`
	DurationMS int64          `json:"durationMs"`
	Problem    string         `json:"problem,omitempty"`
	Skips      []skipGroup    `json:"skips"`
	Advice     []jsonFinding  `json:"advice"`
	Checks     []jsonCheck    `json:"checks"`
	Coverage   Coverage       `json:"coverage"`
}

type jsonSelection struct {
	Planned int `json:"planned"`
	Of      int `json:"of"`

	Tables []string `json:"tables,omitempty"`
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
	Blocks   []string     `json:"blocks"`
	Seed     uint64       `json:"seed"`
}

type jsonRequest struct {
	check.Request
	Curl string `json:"curl"`
}

type jsonCheck struct {
	ID         string       `json:"id"`
	Phase      int          `json:"phase"`
	Title      string       `json:"title"`
	Verdict    string       `json:"verdict"`
	Reason     check.Reason `json:"reason,omitempty"`
	Detail     string       `json:"detail,omitempty"`
	BlockedBy  string       `json:"blockedBy,omitempty"`
	Cases      int          `json:"cases"`
	DurationMS int64        `json:"durationMs"`
}

// jsonFindings returns the outcomes with a verdict.
func (r *Report) jsonFindings(verdict string) []jsonFinding {
	list := []jsonFinding{}
	for _, o := range r.with(verdict) {
		f := jsonFinding{
			ID: o.ID, Title: o.Title, Detail: o.Detail, Rule: o.ruleIDs(), Quote: o.ruleText(), Fix: o.Fix,
			Expected: o.Expected, Received: o.Received, Cases: o.Cases, Failed: o.Failed, Seed: r.seed(&o),
			Blocks: append([]string{}, r.blocked(o.ID)...),
		}
		if o.Request != nil {
			f.Request = &jsonRequest{*o.Request, o.Request.Curl()}
		}
		list = append(list, f)
	}
	return list
}
