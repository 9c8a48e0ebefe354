package live

import (
	"slices"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/compare"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// question is a part of a check that is about tables which were read whole. Its judge gets their
// rows as they are when it is asked.
type question struct {
	tables []*wire.Table
	judge  func(oracle.Tables) *check.Finding
}

// asking returns the question whose answer follows from the rows. What it says begins a finding.
// The connector may refuse it with one of the statuses.
func (p *liveRun) asking(path string, m wire.Request, what string, tables []*wire.Table, refusals ...int) question {
	return question{tables, func(rows oracle.Tables) *check.Finding {
		switch m := m.(type) {
		case *wire.QueryRequest:
			return p.compareRows(m, what, tables[0], rows, refusals)
		case *wire.AggregateRequest:
			return p.compareGroups(m, what, tables[0], rows, refusals)
		}
		return p.compareNumbers(path, m, what, rows, refusals)
	}}
}

// ofTable names a table in a finding.
func ofTable(t *wire.Table) string { return "table " + terms.QuoteName(t.Name) }

// compareRows compares the answer to a query.
func (p *liveRun) compareRows(
	req *wire.QueryRequest, what string, base *wire.Table, tables oracle.Tables, refusals []int,
) *check.Finding {
	right, err := oracle.Query(tables, req)
	if err != nil || len(right.Rows) > p.Rows {
		return nil
	}
	st, rows, f := p.ask(base, req)
	if st.Err == nil && slices.Contains(refusals, st.Status) {
		return nil
	}
	if f != nil || rows == nil {
		return f.In("%s: %s", what)
	}
	p.Cases++
	if len(req.Sort) == 0 && session.SpelledAlike(right.Rows, rows.Rows) {
		return nil
	}
	d := compare.Leniently.Rows(tables, req, rows.Rows)
	switch {
	case d == nil:
		return nil
	case len(req.Joins) > 0:
		return p.shorterJoin(req, what, base, tables, right, rows, d)
	}
	return differs(what, d)
}

// compareGroups compares the answer to an aggregate. It asks for nothing that has no exact answer,
// nor for as many groups as the limit, which have a check of their own. If several measures are
// declined, it asks for a part of them: one that the source cannot compute exactly declines the
// others with it, and is left out where it is asked for again.
func (p *liveRun) compareGroups(
	req *wire.AggregateRequest, what string, t *wire.Table, tables oracle.Tables, refusals []int,
) *check.Finding {
	left := *req
	left.Measures = slices.DeleteFunc(slices.Clone(req.Measures), func(m wire.Measure) bool { return p.unmeasured[measureOf(t, m)] })
	if n := len(left.Measures); len(req.Joins) == 0 && len(req.GroupBy)+len(req.And) > 0 && 0 < n && n < len(req.Measures) {
		left.StringFields = aggregate(t, left.GroupBy, left.Measures).StringFields
		req, what = &left, describeAggregate(t, &left)
	}
	_, f := p.comparePart(req, what, t, tables, refusals, len(req.GroupBy) == 0)
	return f
}

// tableMeasure is a measure of a table, by whatever keys.
type tableMeasure struct {
	table, field string
	fn           wire.AggFunc
}

func measureOf(t *wire.Table, m wire.Measure) tableMeasure {
	return tableMeasure{t.Name, m.Field, m.Fn}
}

// comparePart does what compareGroups does, for some of the measures, and reports whether any was
// answered. keyed says that the keys are known to be.
func (p *liveRun) comparePart(
	req *wire.AggregateRequest, what string, t *wire.Table, tables oracle.Tables, refusals []int, keyed bool,
) (answered bool, f *check.Finding) {
	right, err := oracle.Aggregate(tables, req)
	joined := len(req.Joins) > 0
	if err == nil && int64(len(right.Rows)) >= req.Limit || joined && (err != nil || p.declined >= maxDeclined) {
		return false, nil
	}
	if err == nil {
		a := p.post(wire.PathAggregate, req)
		if !a.Declined() && (a.Err != nil || !slices.Contains(refusals, a.Status)) {
			return true, p.compareAnswer(a, wire.PathAggregate, req, what, tables)
		}
		if p.Cases == 0 {
			p.declined++
		}
	}
	if m := req.Measures[0]; len(req.Measures) == 1 && keyed && m.Field != "" && !joined {
		p.unmeasured[measureOf(t, m)] = true
	}
	if joined || len(req.Measures) < 2 {
		return false, nil
	}
	for _, some := range parts(t, req.Measures) {
		if !p.room(1) {
			break
		}
		part := aggregate(t, req.GroupBy, some)
		part.Where = req.Where
		one, f := p.comparePart(part, describeAggregate(t, part), t, tables, refusals, keyed)
		if f != nil {
			return true, f
		}
		if !one && !keyed && some[0].Field == "" {
			return false, nil // not even the rows are counted by these keys
		}
		keyed, answered = keyed || one, answered || one
	}
	return answered, nil
}

// compareNumbers compares the answer of a route that counts or measures.
func (p *liveRun) compareNumbers(path string, m wire.Request, what string, tables oracle.Tables, refusals []int) *check.Finding {
	a := p.post(path, m)
	if a.Err == nil && slices.Contains(refusals, a.Status) {
		return nil
	}
	return p.compareAnswer(a, path, m, what, tables)
}

func (p *liveRun) compareAnswer(a *session.Answer, path string, m wire.Request, what string, tables oracle.Tables) *check.Finding {
	got, f := session.RouteAt(path).Decode(a)
	if f != nil {
		return f.In("%s: %s", what)
	}
	said, d := compare.Leniently.Answer(tables, m, got)
	p.Cases += said
	if d != nil {
		return differs(what, d)
	}
	if req, ok := m.(*wire.AggregateRequest); ok {
		return periodsSpelled(req, what, got.(*wire.AggregateAnswer).Rows)
	}
	return nil
}

// differs returns a difference as a finding.
func differs(what string, d *oracle.Difference) *check.Finding {
	return check.Differs(d.Expected, d.Received, "%s: %s", what, d.Detail)
}

// periodsSpelled returns the finding about a period that is not spelled as a date.
func periodsSpelled(req *wire.AggregateRequest, what string, groups []map[string]wire.Value) *check.Finding {
	for _, key := range req.GroupBy {
		for _, group := range groups {
			period := group[key.As]
			if _, err := time.Parse(time.DateOnly, period.String()); key.Grain != "" && !period.IsNull() && err != nil {
				return check.Differs("YYYY-MM-DD", message.Excerpt([]byte(period.String()), 100), "%s: a period is not spelled as a date", what)
			}
		}
	}
	return nil
}

// rowsOf returns the whole reads of tables, or nil if one is not held.
func (p *liveRun) rowsOf(tables []*wire.Table) (oracle.Tables, *check.Finding) {
	rows := oracle.Tables{}
	for _, t := range tables {
		data, f := p.Table(t)
		if f != nil || data == nil {
			return nil, f
		}
		rows[t.Name] = data
		p.compared += len(data.Rows)
	}
	return rows, nil
}
