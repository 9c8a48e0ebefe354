package live

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/compare"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/exam"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// question is a part of a check that is about some tables. Most checks are a plan of questions, of
// which [liveRun.askAll] asks as many as the check may.
type question struct {
	tables   []*wire.Table
	requests int // that it sends at most
	// partly lets it be asked about tables of which only some rows were read.
	partly bool
	judge  func(rows known) *check.Finding
}

// known are the rows of the tables that a question is about, as they are when it is asked.
type known struct {
	oracle.Tables
	whole bool // they are all rows of the tables
}

// plan returns a check's questions about a table that was read whole. The rows are those of the table
// when its turn comes first: they serve to choose what to ask.
type plan func(p *liveRun, t *wire.Table, rows *oracle.Table) []question

// inTurn returns the judge that asks the questions of a plan about each table that has at least so many
// rows, as the tables take turns.
func inTurn(rows int, plan plan) func(*liveRun) *check.Finding {
	return func(p *liveRun) *check.Finding {
		return p.askAll(exam.InTurn(p.held(rows), func(t *wire.Table) []question {
			if rows := p.Snapshot(t).Table; rows != nil { // it may have grown since
				return plan(p, t, rows)
			}
			return nil
		}))
	}
}

func (p *liveRun) askAll(questions iter.Seq[question]) *check.Finding {
	for q := range questions {
		may := p.mayRead
		if q.partly {
			may = p.mayAskWindows
		}
		if !may(q.requests) {
			return nil
		}
		f := p.unmoved(func() *check.Finding {
			rows, f := p.rowsOf(q)
			if f != nil || rows.Tables == nil {
				return f
			}
			return q.judge(rows)
		}, q.tables...)
		if f != nil {
			return f
		}
	}
	return nil
}

// about returns the question about one table that was read whole.
func about(t *wire.Table, requests int, judge func(rows *oracle.Table) *check.Finding) question {
	return question{tables: []*wire.Table{t}, requests: requests, judge: func(rows known) *check.Finding {
		return judge(rows.Tables[t.Name])
	}}
}

// series returns the question that asks several about the same tables, one right after the other.
func series(questions ...question) question {
	all := question{tables: questions[0].tables}
	for _, q := range questions {
		all.requests += q.requests
	}
	all.judge = func(rows known) *check.Finding {
		for _, q := range questions {
			if f := q.judge(rows); f != nil {
				return f
			}
		}
		return nil
	}
	return all
}

// rowsOf returns the rows that a question is about, or none if those of a table are not known.
func (p *liveRun) rowsOf(q question) (rows known, f *check.Finding) {
	rows = known{oracle.Tables{}, true}
	for _, t := range q.tables {
		data, f := p.Table(t)
		if f == nil && data == nil && q.partly {
			rows.whole = false
			data, f = p.Window(t)
		}
		if f != nil || data == nil {
			return known{}, f
		}
		rows.Tables[t.Name] = data
		p.compared += len(data.Rows)
	}
	return rows, nil
}

// asking returns the question whose answer follows from the rows. What it says begins a finding.
// The connector may refuse it with one of the statuses.
func (p *liveRun) asking(path string, m wire.Request, what string, tables []*wire.Table, refusals ...int) question {
	return question{tables: tables, requests: 1, judge: func(rows known) *check.Finding {
		switch m := m.(type) {
		case *wire.QueryRequest:
			return p.compareRows(m, what, tables[0], rows.Tables, refusals)
		case *wire.AggregateRequest:
			_, f := p.compareGroups(m, what, tables[0], rows.Tables, refusals, len(m.GroupBy) == 0)
			return f
		}
		return p.compareAnswer(p.post(path, m), path, m, what, rows.Tables, refusals)
	}}
}

// and returns the Where of some filters that must all hold.
func and(filters ...wire.Filter) wire.Where { return wire.Where{And: filters} }

// rowsWith returns the query for the rows of a table that satisfy filters, with all columns.
func rowsWith(t *wire.Table, where wire.Where) *wire.QueryRequest {
	req := declared.AllRows(t)
	req.Where = where
	return req
}

// askingCount returns the question about their number.
func (p *liveRun) askingCount(t *wire.Table, where wire.Where) question {
	req := &wire.CountRequest{Table: t.Name, Where: where}
	return p.asking(wire.PathCount, req, ofTable(t)+describeFilters(where), []*wire.Table{t})
}

func ofTable(t *wire.Table) string { return "table " + terms.QuoteName(t.Name) }

func (p *liveRun) compareRows(
	req *wire.QueryRequest, what string, base *wire.Table, tables oracle.Tables, refusals []int,
) *check.Finding {
	right, err := oracle.Query(tables, req)
	if err != nil || len(right.Rows) > p.Rows {
		return nil
	}
	st, rows, f := p.ask(base, req)
	if refused(st.Answer, refusals) {
		p.Covered.AddRequest(req)
		return nil
	}
	if f != nil || rows == nil {
		return f.In("%s: %s", what)
	}
	p.Covered.AddRequest(req)
	p.Cases++
	if len(req.Sort) == 0 && compare.SpelledAlike(right.Rows, rows.Rows) {
		return nil
	}
	d := compare.Leniently.Rows(tables, req, rows.Rows)
	if d != nil && len(req.Joins) > 0 {
		return p.smallestJoin(req, base, tables, d)
	}
	return differs(what, d)
}

// compareGroups compares the answer to an aggregate. It asks for nothing that has no exact answer, nor for as many
// groups as the limit, which have a check of their own. If several measures are declined, it asks for a part of them:
// one that the source cannot compute exactly declines the others with it, and is left out where it is asked for again.
// keyed says that the keys are known to be answered. It reports whether any measure was.
func (p *liveRun) compareGroups(
	req *wire.AggregateRequest, what string, t *wire.Table, tables oracle.Tables, refusals []int, keyed bool,
) (answered bool, f *check.Finding) {
	joined := len(req.Joins) > 0
	some := func(measures []wire.Measure) (answered bool, f *check.Finding) {
		part := aggregate(t, req.GroupBy, measures)
		part.Where = req.Where
		return p.compareGroups(part, describeAggregate(t, part), t, tables, refusals, keyed)
	}
	left := slices.DeleteFunc(slices.Clone(req.Measures), func(m wire.Measure) bool { return p.unmeasured[measureOf(t, m)] })
	if n := len(left); !joined && len(req.GroupBy)+len(req.And) > 0 && 0 < n && n < len(req.Measures) {
		return some(left)
	}
	if joined && p.declined >= maxDeclined {
		return false, nil
	}
	right, err := oracle.Aggregate(tables, req)
	if err == nil && int64(len(right.Rows)) >= req.Limit || joined && err != nil {
		return false, nil
	}
	if err == nil {
		a := p.post(wire.PathAggregate, req)
		p.Covered.AddRequest(req) // that it is declined is an answer too
		if !a.Declined() && !refused(a, refusals) {
			return true, p.compareAnswer(a, wire.PathAggregate, req, what, tables, nil)
		}
		if p.Cases == 0 {
			p.declined++
		}
	}
	if m := req.Measures; len(m) == 1 && keyed && m[0].Field != "" && !joined {
		p.unmeasured[measureOf(t, m[0])] = true
	}
	if joined || len(req.Measures) < 2 {
		return false, nil
	}
	for _, part := range parts(t, req.Measures) {
		if !p.mayRead(1) {
			break
		}
		one, f := some(part)
		if f != nil {
			return true, f
		}
		if !one && !keyed && part[0].Field == "" {
			return false, nil // not even the rows are counted by these keys
		}
		keyed, answered = keyed || one, answered || one
	}
	return answered, nil
}

// tableMeasure is a measure of a table, by whatever keys.
type tableMeasure struct {
	table, field string
	fn           wire.AggFunc
}

func measureOf(t *wire.Table, m wire.Measure) tableMeasure {
	return tableMeasure{t.Name, m.Field, m.Fn}
}

// refused reports whether a connector has refused a request with one of the statuses.
func refused(a *session.Answer, statuses []int) bool {
	return a.Err == nil && slices.Contains(statuses, a.Status)
}

func (p *liveRun) compareAnswer(
	a *session.Answer, path string, m wire.Request, what string, tables oracle.Tables, refusals []int,
) *check.Finding {
	if refused(a, refusals) {
		return nil
	}
	got, f := a.Decode()
	if f != nil {
		return f.In("%s: %s", what)
	}
	said, strict := compare.Strictly.Answer(tables, m, got)
	p.Covered.AddRequest(m)
	p.Cases += said
	if strict != nil {
		if _, d := compare.Leniently.Answer(tables, m, got); d != nil {
			return differs(what, d)
		}
	}
	if path == wire.PathAggregate || path == wire.PathCardinality {
		p.counted = true
		p.Watched("M31", differs(what, strict).From(p.Last))
	}
	switch req := m.(type) {
	case *wire.AggregateRequest:
		return p.groupsSpelled(req, what, got.(*wire.AggregateAnswer).Rows)
	case *wire.LinkHitRateRequest:
		samples := slices.Sorted(slices.Values(got.(*wire.LinkHitRate).OrphanSamples))
		if n := len(slices.Compact(slices.Clone(samples))); n < len(samples) {
			return check.Differs(fmt.Sprintf("%d distinct texts", n), message.Excerpt(fmt.Appendf(nil, "%q", samples), 200),
				"%s: orphanSamples hold a key twice", what)
		}
	}
	return nil
}

func differs(what string, d *oracle.Difference) *check.Finding {
	if d == nil {
		return nil
	}
	return check.Differs(d.Expected, d.Received, "%s: %s", what, d.Detail)
}

// groupsSpelled returns the finding about a period that is not spelled as a date, or a bound or a group of a column of
// instants that is not spelled as one.
func (p *liveRun) groupsSpelled(req *wire.AggregateRequest, what string, groups []map[string]wire.Value) *check.Finding {
	var names []string                                        // in the answer
	periods, instants := map[string]bool{}, map[string]bool{} // by these
	isInstant := func(name string) bool {
		f := p.discovery.Lookup[req.Table].Field(name)
		return len(req.Joins) == 0 && f != nil && f.Type == wire.TypeDatetime
	}
	for _, key := range req.GroupBy {
		names = append(names, key.As)
		periods[key.As] = key.Grain != ""
		instants[key.As] = key.Grain == "" && isInstant(key.Field)
	}
	for _, m := range req.Measures {
		names = append(names, m.As)
		instants[m.As] = (m.Fn == wire.AggMin || m.Fn == wire.AggMax) && isInstant(m.Field)
	}
	for _, group := range groups {
		for _, name := range names {
			switch v := group[name]; {
			case v.IsNull():
			case periods[name]:
				if _, err := time.Parse(time.DateOnly, v.String()); err != nil {
					return check.Differs("YYYY-MM-DD", message.Excerpt([]byte(v.String()), 100), "%s: a period is not spelled as a date", what)
				}
			case instants[name]:
				if want := misspelled(v, wire.TypeDatetime); want != "" {
					return check.Differs(want, message.Cell(v, 100), "%s: %s is no value of type datetime", what, terms.QuoteName(name))
				}
			}
		}
	}
	return nil
}
