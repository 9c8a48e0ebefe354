// Package ask sends the questions of package exam and judges the answers. What it reports of a wrong
// answer is the smallest request that is still answered wrongly.
package ask

import (
	"fmt"
	"net/http"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/compare"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/coverage"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/exam"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Runner asks the generated questions of one check.
type Runner struct {
	*session.Run
	// Live is set for data of which only a whole read is known. A finding goes to the check that what is
	// left of its question is for.
	Live bool

	// wide is set when the connector leaves filters or sorts to the platform. It is then asked for their fields too, as
	// the platform would. Requests of a batch that were made before may be narrow still.
	wide     bool
	asked    int
	declined int

	beside      int        // answers that were wrong beside others, and right alone
	wrongBeside *Complaint // about the first of them
}

// Ask asks the questions in order and stops at the first wrong answer, which it reports by the
// smallest question that is still answered so.
func (a *Runner) Ask(list []*exam.Question) *check.Finding {
	for _, q := range list {
		if a.Ctx.Err() != nil {
			return check.Interrupted(a.Ctx, a.Timeout)
		}
		c := a.Batch([]*exam.Question{q})[0]
		switch {
		case c == nil:
			continue
		case !c.Failure():
			return c.Finding
		}
		_, c = a.Smallest(q, c)
		a.Cases = a.asked
		return c.Finding
	}
	return nil
}

// Finish returns why the questions that were asked show nothing, or nil.
func (a *Runner) Finish() *check.Finding {
	switch {
	case a.asked == 0:
		return check.Skip(check.NoData, "no table has rows that tell two answers apart")
	case a.asked == a.declined:
		return check.Skip(check.NoData, "all %d generated aggregates were declined", a.declined)
	}
	return nil
}

func (a *Runner) count(q *exam.Question) {
	tells := q.Tells()
	a.Covered.Add(func(c *coverage.Counts) {
		c.Generated++
		if tells {
			c.Telling++
		}
	})
	a.Covered.AddFilters(q.Table, q.Where)
	if a.Live {
		a.Covered.AddRequest(q.Message())
	}
}

// judge asks a question and returns what is wrong with the answer, or nil.
func (a *Runner) judge(q *exam.Question) *Complaint {
	return a.assess(q, a.ExchangeWith(a.Ctx, a.call(q)))
}

func (a *Runner) call(q *exam.Question) session.Call {
	if q.Path == wire.PathCount || q.Path == wire.PathAggregate {
		return a.Session.Ask(q.Path, q.Message(), 0)
	}
	req := q.Query()
	if a.wide {
		req.Fields = q.Needed(req.Fields)
	}
	call := a.Session.Ask(wire.PathQuery, req, 0)
	call.Most = int(q.Window)
	return call
}

// assess returns what is wrong with the answer to a question, or nil.
func (a *Runner) assess(q *exam.Question, answer *session.Answer) *Complaint {
	st := answer.Stream
	if st == nil {
		return a.assessAnswer(q, answer)
	}
	t, c := table(q, st)
	switch {
	case c != nil:
		return c
	case q.Window > 0:
		return a.assessWindow(q, st, t)
	}
	return a.assessRows(q, st, t)
}

func wrong(kind string, request *check.Request, f *check.Finding) *Complaint {
	return &Complaint{Kind: kind, Finding: f.From(request)}
}

// assessAnswer returns what is wrong with a count or with groups, or nil.
func (a *Runner) assessAnswer(q *exam.Question, answer *session.Answer) *Complaint {
	if q.Path == wire.PathAggregate && answer.Declined() {
		a.declined++
		return nil
	}
	got, f := answer.Decode()
	if f != nil {
		return unanswered(answer, f)
	}
	name, where := terms.QuoteName(q.Table.Name), describeWhere(q)
	if groups, ok := got.(*wire.AggregateAnswer); ok {
		d := oracle.VerifyGroups(q.Known(), q.Message().(*wire.AggregateRequest), groups.Rows)
		if d == nil {
			return nil
		}
		return wrong("answer", answer.Request, check.Differs(d.Expected, d.Received, "aggregate over %s%s: %s", name, where, d.Detail))
	}
	want, err := oracle.Count(q.Known(), q.Message().(*wire.CountRequest))
	if err != nil {
		panic(err) // the generator knows the table's fields
	}
	n := got.(*wire.CountAnswer).Count
	if n == want {
		return nil
	}
	return wrong("answer", answer.Request, check.Differs(fmt.Sprint(want), fmt.Sprint(n),
		"%s is counted wrongly%s%s", name, where, asIf(q.CountAsIf(n))))
}

// unanswered returns the complaint about an answer that holds no number or groups.
func unanswered(answer *session.Answer, f *check.Finding) *Complaint {
	f.Request = answer.Request
	c := &Complaint{Kind: "refused", Finding: f, Lost: answer.Err != nil}
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

// table returns the rows of a stream under the declared types, or why they cannot be
// judged. The request may have asked for more fields than the question.
func table(q *exam.Question, st *session.Stream) (*oracle.Table, *Complaint) {
	if f := st.Unusable(); f != nil {
		if st.Fault != nil {
			return nil, &Complaint{Kind: "refused in the stream", Finding: f}
		}
		return nil, unanswered(st.Answer, f)
	}
	if st.Broken != nil {
		return nil, &Complaint{Kind: "broken", Finding: st.Broken}
	}
	if st.Over && q.Window == 0 {
		return nil, wrong("answer", st.Request, check.Differs(fmt.Sprintf("at most %d rows", q.Rows()), "more rows than the budget of the run",
			"more rows are answered than %s has", terms.QuoteName(q.Table.Name)))
	}
	t := &oracle.Table{Name: q.Table.Name, Rows: st.Table.Rows}
	for _, member := range st.Table.Columns {
		t.Columns = append(t.Columns, q.Table.Columns[q.Table.Index(member.Name)])
	}
	return t, nil
}

// assessRows returns what is wrong with rows, as the platform finishes them, of a table that is known whole.
func (a *Runner) assessRows(q *exam.Question, st *session.Stream, t *oracle.Table) *Complaint {
	req := q.Query()
	for _, column := range t.Columns[len(req.Fields):] {
		req.Fields = append(req.Fields, column.Name)
	}
	final, err := oracle.Finish(t, req, st.Served)
	if err != nil {
		if len(t.Columns) >= len(q.Needed(q.Query().Fields)) {
			panic(err) // every field that is needed was asked for
		}
		a.wide = true
		return a.judge(q)
	}
	if c := unsatisfied(q, st, t); c != nil {
		return c
	}
	d := oracle.Verify(q.Known(), req, final.Rows)
	if d == nil {
		return nil
	}
	if _, ok := oracle.Unmatched(final, q.And, q.Or, q.FieldTypes); ok && a.Live {
		if at := lostRow(q, final); at >= 0 {
			c := wrong("lost", st.Request, check.Differs(fmt.Sprintf("a row that the whole read of %d rows has", q.Rows()),
				message.Row(final.Columns, final.Rows[at]),
				"a whole read of %s loses rows: the answer%s has one that is not among them", terms.QuoteName(q.Table.Name), describeWhere(q)))
			c.Cause = "L11"
			return c
		}
	}
	return wrong("answer", st.Request, check.Differs(d.Expected, d.Received,
		"%s%s%s", explain(q, final, d), asIf(q.RowsAsIf(req, final)), byClaim(q, final, st.Served)))
}

// unsatisfied returns the complaint about a row that does not satisfy the filters of
// and. Their operators are declared, so it has to, whatever is claimed [rule filter-16].
func unsatisfied(q *exam.Question, st *session.Stream, t *oracle.Table) *Complaint {
	at, ok := oracle.Unmatched(t, q.And, nil, nil)
	if ok {
		return nil
	}
	why := ""
	if q.Window == 0 {
		why = asIf(q.RowsAsIf(q.Query(), t))
	}
	return wrong("answer", st.Request, check.Differs("only rows that satisfy the filters, whose operators the document declares",
		message.Row(t.Columns, t.Rows[at]), "row %d of %s answered although %s%s%s", at, terms.QuoteName(q.Table.Name),
		brokenFilter(q, t, at), why, byClaim(q, t, st.Served)))
}

// assessWindow judges the answer to a question about a table of which only some rows are known: rows that came satisfy
// the filters and, if there are no more, those that are known are among them.
func (a *Runner) assessWindow(q *exam.Question, st *session.Stream, t *oracle.Table) *Complaint {
	if c := unsatisfied(q, st, t); c != nil {
		return c
	}
	if st.Over || int64(len(t.Rows)) >= q.Query().Limit {
		return nil
	}
	known := *q.Table
	req := &wire.QueryRequest{Table: known.Name, Where: q.Where}
	for _, column := range t.Columns {
		req.Fields = append(req.Fields, column.Name)
	}
	right, err := oracle.Query(oracle.Tables{known.Name: &known}, req)
	if err != nil {
		panic(err) // the generator knows the table's fields
	}
	if at := compare.Missing(right.Columns, right.Rows, t.Rows, len(right.Rows)); at >= 0 {
		return wrong("missing", st.Request, check.Differs(
			"this row, which a plain read answers and which satisfies the filters: "+message.Row(right.Columns, right.Rows[at]),
			fmt.Sprintf("%d rows without it, and no more", len(t.Rows)),
			"a row of %s is missing%s", terms.QuoteName(q.Table.Name), describeWhere(q)))
	}
	return nil
}

// asIf returns the end of a sentence about a misreading.
func asIf(misreading string) string {
	if misreading == "" {
		return ""
	}
	return ", as if " + misreading
}
