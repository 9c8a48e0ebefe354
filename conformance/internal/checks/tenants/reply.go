package tenants

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/compare"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/phrase"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

type reply struct {
	*session.Answer
	asked   wire.Request
	shown   string
	fault   *check.Finding // the stream of an answer that cannot be used
	refused bool           // the table, or a field, is said not to exist
	rows    *oracle.Table  // of /query, as the platform finishes them
	over    bool           // there were more rows than are compared
	figures wire.Answer    // of another route; nil if the answer says nothing
}

// most is how many rows of a table are compared.
const most = 5_000

// maxSwept is how many rows of a table are compared that is read whole once for each tenant.
const maxSwept = 50_000

// send sends a request and reads the answer. It is safe for concurrent use.
func send(run *pairRun, c session.Call, m wire.Request, columns []wire.Column) reply {
	c.Most = cmp.Or(c.Most, min(run.Rows, most))
	a := run.ExchangeWith(run.Ctx, c)
	r := reply{Answer: a, asked: m, shown: a.Describe()}
	if e := a.Refusal(); e != nil {
		r.refused = e.Code == wire.CodeUnknownEntity || e.Code == wire.CodeUnsupported
	}
	if req, ok := m.(*wire.QueryRequest); ok {
		r.readRows(req, columns)
		return r
	}
	if answer, f := a.Decode(); f == nil {
		r.figures = answer
	}
	if size, ok := r.figures.(*wire.SizeAnswer); ok && (size.Size == nil || !size.Size.Exact) {
		r.figures = nil
	}
	return r
}

// readRows reads the rows of a stream, under the types of the table's columns, and does
// what the connector left to the platform.
func (r *reply) readRows(req *wire.QueryRequest, columns []wire.Column) {
	st := r.Stream
	if r.over = st.Over; r.refused || st.Status == http.StatusTooManyRequests {
		return
	}
	if f := st.Problem(); f != nil && !st.Over {
		r.fault = f
		return
	}
	t := compare.Typed(req, st.Table.Rows, func(_ string, f wire.JoinField) wire.Type {
		if f.As != "" {
			return f.Type
		}
		return columns[slices.IndexFunc(columns, func(c wire.Column) bool { return c.Name == f.Field })].Type
	})
	if final, err := oracle.Finish(t, req, st.Served); err == nil && !st.Over {
		t = final
	}
	r.rows, r.shown = t, "no rows"
	if len(t.Rows) > 0 {
		r.shown = phrase.Plural(len(t.Rows), "row") + ", such as " + message.Row(t.Columns, t.Rows[0])
	}
}

// silent reports whether the answer says nothing of any rows.
func (r *reply) silent() bool { return r.rows == nil && r.figures == nil }

// breaks reports whether the answer is an error that no legal request about a table of the tenant's has.
func (r *reply) breaks() bool {
	e := r.Refusal()
	return r.Err == nil && r.Status >= http.StatusInternalServerError || e != nil && e.Code == wire.CodeUnknownEntity
}

// holds reports whether the answer is what some rows give, in any reading of the protocol.
func (r *reply) holds(of oracle.Tables) bool {
	if m, ok := r.asked.(*wire.QueryRequest); ok {
		return compare.Leniently.Rows(of, m, r.rows.Rows) == nil
	}
	_, d := compare.Leniently.Answer(of, r.asked, r.figures)
	return d == nil
}

// onlyIn returns a row of the answer that the one table has and the other has not, or nil.
func (r *reply) onlyIn(one, other *oracle.Table) []wire.Value {
	req, ok := r.asked.(*wire.QueryRequest)
	if !ok || r.rows == nil || one == nil || len(req.Joins) > 0 {
		return nil
	}
	in, out := tally(one, req.Fields), tally(other, req.Fields)
	for _, row := range r.rows.Rows {
		if key := compare.RowKey(row); in[key] > 0 && out[key] == 0 {
			return row
		}
	}
	return nil
}

// tally counts the rows of a table by the cells of some columns: none if they are not known.
func tally(t *oracle.Table, fields []string) map[string]int {
	if t == nil {
		return nil
	}
	return compare.Tally(compare.Project(t, fields))
}
