package conformance

import (
	"fmt"
	"net/http"

	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// inquiry puts questions to the connector.
type inquiry struct {
	*exam
	live   bool // the rows may change meanwhile
	claims bool // the served line is judged, rather than the answer
	// wide: the connector leaves filters or sorts to the platform, so it is
	// asked for their fields too, as the platform would.
	wide     bool
	asked    int
	declined int
}

// complaint is what is wrong with an answer. Two of one kind are wrong in the
// same way.
type complaint struct {
	kind               string
	detail             string
	expected, received string
	request            *Request
	// by is the check whose rule the answer broke before it could be judged.
	by string
	// lost: no answer came, so that asking again may take as long.
	lost bool
}

// put asks questions until one is answered wrongly.
func (i *inquiry) put(list []*question) {
	for _, q := range list {
		if err := i.ctx.Err(); err != nil {
			i.skip(NotReached, "%s", i.interrupted(i.ctx))
		}
		i.asked++
		c := i.judged(q)
		if c == nil {
			i.cases++
			i.note(q)
			continue
		}
		i.report(q, c)
	}
}

// close ends an inquiry in which nothing was wrong.
func (i *inquiry) close() {
	switch {
	case i.asked == 0:
		i.skip(NoData, "no table has rows that tell two answers apart")
	case i.asked == i.declined:
		i.skip(NoData, "all %d generated aggregates were declined", i.declined)
	}
}

// note counts a judged question for the report.
func (i *inquiry) note(q *question) {
	telling := q.telling(q.matching(q.and, q.or))
	i.cover.add(func(c *coverage) {
		c.generated++
		if telling {
			c.telling++
		}
	})
	i.cover.filters(q.table, q.and, q.or)
}

// judged asks a question; nil when the answer is right.
func (i *inquiry) judged(q *question) *complaint {
	switch q.path {
	case wire.PathCount:
		return i.judgedCount(q)
	case wire.PathAggregate:
		return i.judgedAggregate(q)
	}
	if i.claims {
		return i.judgedClaims(q)
	}
	return i.judgedQuery(q)
}

func (i *inquiry) judgedCount(q *question) *complaint {
	want, err := oracle.Count(q.known(), q.count())
	if err != nil {
		panic(err) // the generator knows the table's fields
	}
	a := i.post(wire.PathCount, q.count())
	var got wire.CountAnswer
	if f := a.decode("count-answer", &got); f != nil {
		return unanswered(a, f)
	}
	if got.Count == want {
		return nil
	}
	return &complaint{kind: "answer", request: a.request, expected: fmt.Sprint(want), received: fmt.Sprint(got.Count),
		detail: fmt.Sprintf("%s is counted wrongly%s", wire.QuoteName(q.table.Name), where(q))}
}

func (i *inquiry) judgedAggregate(q *question) *complaint {
	a := i.post(wire.PathAggregate, q.aggregate())
	if a.err == nil && a.status == http.StatusNoContent {
		i.declined++
		return nil
	}
	var got wire.AggregateAnswer
	if f := a.decode("aggregate-answer", &got); f != nil {
		return unanswered(a, f)
	}
	d := oracle.VerifyGroups(q.known(), q.aggregate(), got.Rows)
	if d == nil {
		return nil
	}
	return &complaint{kind: "answer", request: a.request, expected: d.Expected, received: d.Received,
		detail: fmt.Sprintf("aggregate over %s%s: %s", wire.QuoteName(q.table.Name), where(q), d.Detail)}
}

// unanswered is the complaint of an answer that holds no number or groups.
func unanswered(a *answer, f *finding) *complaint {
	c := &complaint{kind: "refused", detail: f.detail, expected: f.expected, received: f.received, request: a.request, lost: a.err != nil}
	switch {
	case a.err == nil && a.status == http.StatusOK:
		c.kind, c.by = "broken", "P3.11a"
	case a.err == nil:
		c.kind = fmt.Sprintf("refused %d", a.status)
		c.detail = fmt.Sprintf("a legal request is refused with %d", a.status)
	}
	return c
}

// streamed asks for rows, and types them; the request may have got further
// fields.
func (i *inquiry) streamed(q *question) (*oracle.Table, *stream, *complaint) {
	req := q.query()
	if i.wide {
		req.Fields = q.needed(req.Fields)
	}
	st := i.exam.query(req)
	if f := st.unusable(); f != nil {
		c := unanswered(st.answer, f)
		if st.fault != nil {
			*c = complaint{kind: "refused in the stream", detail: f.detail, expected: f.expected, received: f.received, request: f.request}
		}
		return nil, st, c
	}
	if st.broken != "" {
		return nil, st, &complaint{kind: "broken", by: st.broken, detail: st.why, request: st.request}
	}
	if st.over {
		return nil, st, &complaint{kind: "answer", detail: fmt.Sprintf("more rows are answered than %s has", wire.QuoteName(q.table.Name)),
			expected: fmt.Sprintf("at most %d rows", q.rows()), received: "more rows than the budget of the run", request: st.request}
	}
	t := &oracle.Table{Name: q.table.Name, Rows: st.table.Rows}
	for _, name := range req.Fields {
		t.Columns = append(t.Columns, q.table.Columns[q.table.Index(name)])
	}
	return t, st, nil
}

func (i *inquiry) judgedQuery(q *question) *complaint {
	t, st, c := i.streamed(q)
	if c != nil {
		return c
	}
	req := q.query()
	for _, column := range t.Columns[len(req.Fields):] {
		req.Fields = append(req.Fields, column.Name)
	}
	final, err := oracle.Finish(t, req, st.served)
	if err != nil {
		if i.wide {
			panic(err) // every field that is needed was asked for
		}
		i.wide = true
		return i.judgedQuery(q)
	}
	d := oracle.Verify(q.known(), req, final.Rows)
	if d == nil {
		return nil
	}
	return &complaint{kind: "answer", request: st.request, expected: d.Expected, received: d.Received, detail: explain(q, final, d)}
}

// report ends the check over a question that was answered wrongly: with the
// smallest one that still is, and over live data only if they stayed as they
// were.
func (i *inquiry) report(q *question, c *complaint) {
	if c.by != "" {
		i.blocked(c.by, c.detail)
	}
	i.unclaimed(q)
	i.unmoved(q)
	small := q
	if !c.lost {
		s := shrinker{ctx: i.ctx, judged: i.judged}
		small, c = s.shrink(q, c)
		i.unmoved(q)
	}
	detail := fmt.Sprintf("%s (seed %d, generated case %d", c.detail, i.Seed, i.asked)
	if small != q {
		detail += fmt.Sprintf(", shrunk from %d members to %d", q.members(), small.members())
	}
	i.cases = i.asked
	i.found(&finding{detail: detail + ")", expected: c.expected, received: c.received, request: c.request})
}

// unclaimed blocks the check when a part of what the connector claims means
// nothing at all, so that no answer of it can be judged.
func (i *inquiry) unclaimed(q *question) {
	if i.live || q.path != wire.PathQuery {
		return
	}
	f := i.corpusServed()
	switch {
	case len(q.and)+len(q.or) > 0 && i.lies(f, claimFilters):
		i.blocked("P2.9a", "served.filters is claimed of filters that are not applied")
	case len(q.sort) > 0 && i.lies(f, claimSort):
		i.blocked("P2.9b", "served.sort is claimed of rows that are not sorted")
	case q.limit+q.offset > 0 && i.lies(f, claimWindow):
		i.blocked("P2.9c", "served.window is claimed of rows that are not cut")
	}
}

// unmoved skips the check when a live table is no longer what it was.
func (i *inquiry) unmoved(q *question) {
	if !i.live {
		return
	}
	described := i.discovery(0).tables[q.table.Name]
	i.forget(0, described)
	now := i.table(described)
	if now == nil || oracle.Verify(q.known(), everything(described), now.Rows) != nil {
		i.skip(DataChanged, "table %s has changed since it was read; a generated query that disagreed cannot be judged", wire.QuoteName(q.table.Name))
	}
}
