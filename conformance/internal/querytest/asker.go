// Package querytest asks a connector generated questions about tables whose rows
// are known, judges the answers, and reports the smallest question that is still
// answered wrongly.
package querytest

import (
	"fmt"
	"net/http"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/generate"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Asker asks the generated questions of one check.
type Asker struct {
	*session.Run
	Live   bool // the rows may change meanwhile
	Claims bool // judge the served line rather than the answer
	// Blame, when set, returns the finding that blocks a question that was answered
	// wrongly because of another check's fault.
	Blame func(*generate.Question) *check.Finding

	// wide is set when the connector leaves filters or sorts to the platform. It is
	// then asked for their fields too, as the platform would.
	wide     bool
	asked    int
	declined int
}

// Ask asks the questions in order and stops at the first wrong answer.
func (a *Asker) Ask(list []*generate.Question) *check.Finding {
	for _, q := range list {
		if a.Ctx.Err() != nil {
			return check.Skip(check.NotReached, "%s", a.Interrupted(a.Ctx))
		}
		a.asked++
		if c := a.judge(q); c != nil {
			return a.report(q, c)
		}
		a.Cases++
		a.count(q)
	}
	return nil
}

// Finish returns why the questions that were asked show nothing, or nil.
func (a *Asker) Finish() *check.Finding {
	switch {
	case a.asked == 0:
		return check.Skip(check.NoData, "no table has rows that tell two answers apart")
	case a.asked == a.declined:
		return check.Skip(check.NoData, "all %d generated aggregates were declined", a.declined)
	}
	return nil
}

// count counts a judged question for the report.
func (a *Asker) count(q *generate.Question) {
	telling := q.Telling()
	a.Covered.Add(func(c *session.Counts) {
		c.Generated++
		if telling {
			c.Telling++
		}
	})
	a.Covered.AddFilters(q.Table, q.Where)
}

// judge asks a question and returns what is wrong with the answer, or nil.
func (a *Asker) judge(q *generate.Question) *generate.Complaint {
	switch {
	case q.Path == wire.PathCount:
		return a.judgeCount(q)
	case q.Path == wire.PathAggregate:
		return a.judgeAggregate(q)
	case a.Claims:
		return a.judgeClaims(q)
	}
	return a.judgeRows(q)
}

// wrongAnswer returns the complaint about an answer that differs from the right one.
func wrongAnswer(f *check.Finding, request *check.Request) *generate.Complaint {
	return &generate.Complaint{Kind: "answer", Finding: f.From(request)}
}

func (a *Asker) judgeCount(q *generate.Question) *generate.Complaint {
	want, err := oracle.Count(q.Known(), q.Count())
	if err != nil {
		panic(err) // the generator knows the table's fields
	}
	answer := a.Post(wire.PathCount, q.Count())
	var got wire.CountAnswer
	if f := answer.Decode("count-answer", &got); f != nil {
		return unanswered(answer, f)
	}
	if got.Count == want {
		return nil
	}
	return wrongAnswer(check.Differs(fmt.Sprint(want), fmt.Sprint(got.Count),
		"%s is counted wrongly%s", wire.QuoteName(q.Table.Name), describeWhere(q)), answer.Request)
}

func (a *Asker) judgeAggregate(q *generate.Question) *generate.Complaint {
	answer := a.Post(wire.PathAggregate, q.Aggregate())
	if answer.Declined() {
		a.declined++
		return nil
	}
	var got wire.AggregateAnswer
	if f := answer.Decode("aggregate-answer", &got); f != nil {
		return unanswered(answer, f)
	}
	d := oracle.VerifyGroups(q.Known(), q.Aggregate(), got.Rows)
	if d == nil {
		return nil
	}
	return wrongAnswer(check.Differs(d.Expected, d.Received,
		"aggregate over %s%s: %s", wire.QuoteName(q.Table.Name), describeWhere(q), d.Detail), answer.Request)
}

// unanswered returns the complaint about an answer that holds no number or groups.
func unanswered(answer *session.Answer, f *check.Finding) *generate.Complaint {
	f.Request = answer.Request
	c := &generate.Complaint{Kind: "refused", Finding: f, Lost: answer.Err != nil}
	switch {
	case answer.Err == nil && answer.Status == http.StatusOK:
		c.Kind = "broken"
		c.Finding = check.Block("P3.11a", "%s", f.Detail)
	case answer.Err == nil:
		c.Kind = fmt.Sprintf("refused %d", answer.Status)
		f.Detail = fmt.Sprintf("a legal request is refused with %d", answer.Status)
	}
	return c
}

// stream asks for the rows of a question and gives them the declared types. The
// request may ask for more fields than the question.
func (a *Asker) stream(q *generate.Question) (*oracle.Table, *session.Stream, *generate.Complaint) {
	req := q.Query()
	if a.wide {
		req.Fields = q.Needed(req.Fields)
	}
	st := a.Query(req)
	if f := st.Unusable(); f != nil {
		if st.Fault != nil {
			return nil, st, &generate.Complaint{Kind: "refused in the stream", Finding: f}
		}
		return nil, st, unanswered(st.Answer, f)
	}
	if st.Broken != nil {
		return nil, st, &generate.Complaint{Kind: "broken", Finding: st.Broken}
	}
	if st.Over {
		return nil, st, wrongAnswer(check.Differs(fmt.Sprintf("at most %d rows", q.Rows()), "more rows than the budget of the run",
			"more rows are answered than %s has", wire.QuoteName(q.Table.Name)), st.Request)
	}
	t := &oracle.Table{Name: q.Table.Name, Rows: st.Table.Rows}
	for _, name := range req.Fields {
		t.Columns = append(t.Columns, q.Table.Columns[q.Table.Index(name)])
	}
	return t, st, nil
}

func (a *Asker) judgeRows(q *generate.Question) *generate.Complaint {
	t, st, c := a.stream(q)
	if c != nil {
		return c
	}
	req := q.Query()
	for _, column := range t.Columns[len(req.Fields):] {
		req.Fields = append(req.Fields, column.Name)
	}
	final, err := oracle.Finish(t, req, st.Served)
	if err != nil {
		if a.wide {
			panic(err) // every field that is needed was asked for
		}
		a.wide = true
		return a.judgeRows(q)
	}
	d := oracle.Verify(q.Known(), req, final.Rows)
	if d == nil {
		return nil
	}
	return wrongAnswer(check.Differs(d.Expected, d.Received, "%s", explain(q, final, d)), st.Request)
}

// report returns the finding about a question that was answered wrongly: about the
// smallest one that still is, and over live data only if the table has not
// changed.
func (a *Asker) report(q *generate.Question, c *generate.Complaint) *check.Finding {
	if !c.Failure() {
		return c.Finding
	}
	if a.Blame != nil {
		if f := a.Blame(q); f != nil {
			return f
		}
	}
	if f := a.changed(q); f != nil {
		return f
	}
	small := q
	if !c.Lost {
		small, c = generate.Shrink(a.Ctx, q, c, a.judge)
		if f := a.changed(q); f != nil {
			return f
		}
	}
	detail := fmt.Sprintf("%s (seed %d, generated case %d", c.Detail, a.Seed, a.asked)
	if small != q {
		detail += fmt.Sprintf(", shrunk from %d members to %d", q.Size(), small.Size())
	}
	a.Cases = a.asked
	return &check.Finding{Detail: detail + ")", Expected: c.Expected, Received: c.Received, Request: c.Request}
}

// changed returns the finding that skips the check if a live table is no longer
// what it was.
func (a *Asker) changed(q *generate.Question) *check.Finding {
	if !a.Live {
		return nil
	}
	d, f := a.Discovery(0)
	if f != nil {
		return f
	}
	described := d.Lookup[q.Table.Name]
	a.Forget(0, described)
	now, f := a.Table(described)
	if f != nil {
		return f
	}
	if now == nil || oracle.Verify(q.Known(), session.AllRows(described), now.Rows) != nil {
		return check.Skip(check.DataChanged, "table %s has changed since it was read; a generated query that disagreed cannot be judged",
			wire.QuoteName(q.Table.Name))
	}
	return nil
}

// InOrder returns a table with its rows in an order that does not depend on the one
// they were read in, so that a seed asks the same questions again. A large table
// without a key stays as it was read.
func InOrder(t *oracle.Table) *oracle.Table {
	names := t.PrimaryKey
	if len(names) == 0 && len(t.Rows) <= 5000 {
		for _, c := range t.Columns {
			names = append(names, c.Name)
		}
	}
	var keys []wire.SortKey
	for _, name := range names {
		keys = append(keys, wire.SortKey{Field: name, Dir: wire.Asc})
	}
	sorted, err := oracle.Sort(t, keys, nil)
	if err != nil {
		return t // a declared key that is no column, which another check reports
	}
	return sorted
}
