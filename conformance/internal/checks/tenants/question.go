package tenants

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A cache answers a request that it has seen. So every question has any number of
// wordings: requests with different bytes and the same answer. A wording that is
// asked for the first time cannot be answered from what was kept for the other
// tenant, unless the key of the cache is less than the request.

// wordings counts the wordings of a run. It begins at random, because a connector may
// remember an earlier run.
type wordings struct {
	run  uint32
	last int
}

func newWordings() *wordings { return &wordings{run: rand.Uint32()} }

// fresh returns a wording that was not used before.
func fresh(run *session.Run) int {
	w := session.Keep(run.Session, newWordings)
	w.last++
	return w.last
}

// unused returns a text that no data hold, one for each wording.
func unused(run *session.Run, wording int) string {
	return fmt.Sprintf("conformance-%d-%d", session.Keep(run.Session, newWordings).run, wording)
}

// questionPaths are the routes that questions are asked on, the most telling first.
var questionPaths = []string{
	wire.PathQuery, wire.PathCount, wire.PathSize, wire.PathCardinality, wire.PathAggregate, wire.PathLinkHitRate,
}

// view is what questions are about: fields of a table, of all rows or of some.
type view struct {
	table  *wire.Table
	fields []string
	only   []wire.Filter // that rows are asked for with; may be empty
}

// question returns a request about a table, in a wording. All wordings have the same
// answer.
func question(run *session.Run, path string, v view, wording int) wire.Request {
	t, fields := v.table, v.fields
	envelope := wire.Envelope{TimeoutMS: session.UsualTimeout.Milliseconds() - int64(wording%5000)}
	where := keepsAll(run, v, wording)
	switch path {
	case wire.PathQuery:
		where.And = append(where.And, v.only...)
		req := &wire.QueryRequest{Table: t.Name, Where: where, Fields: turned(fields, wording), Envelope: envelope}
		if limits := run.Document.Capabilities.Limits; limits.PageSizeMax == 0 && limits.RowsPerTableMax == 0 {
			req.Limit = int64(run.Rows) + 1 + int64(wording)
		}
		return req
	case wire.PathCount:
		return &wire.CountRequest{Table: t.Name, Where: where, Envelope: envelope}
	case wire.PathAggregate:
		return &wire.AggregateRequest{
			Table: t.Name, Where: where, Limit: wire.AggregateLimit, Envelope: envelope,
			Measures: []wire.Measure{{Fn: wire.AggCount, As: fmt.Sprintf("rows%d", wording)}},
		}
	case wire.PathSize:
		return &wire.SizeRequest{Table: t.Name, Envelope: envelope}
	case wire.PathCardinality:
		some := fields[:min(len(fields), maxColumns)]
		return &wire.CardinalityRequest{Table: t.Name, Columns: turned(some, wording), Envelope: envelope}
	case wire.PathLinkHitRate:
		return &wire.LinkHitRateRequest{
			FromTable: t.Name, FromColumn: fields[0], ToTable: t.Name, ToColumn: fields[0], Envelope: envelope,
		}
	}
	return nil
}

// maxColumns is how many columns are counted at once.
const maxColumns = 3

// turned returns a list that begins at another place.
func turned(list []string, by int) []string {
	by %= len(list)
	return slices.Concat(list[by:], list[:by])
}

// keepsAll returns filters that keep every row and differ from wording to wording:
// nin keeps null cells too. They are empty when the document does not declare nin.
func keepsAll(run *session.Run, v view, wording int) (where wire.Where) {
	if !run.Document.Declares(wire.OpNin) {
		return where
	}
	for _, name := range v.fields {
		if v.comparesText(name) {
			values := []wire.Value{wire.Text(unused(run, wording))}
			where.And = []wire.Filter{{Field: name, Op: wire.OpNin, Values: values}}
			break
		}
	}
	return where
}

// comparesText reports whether filters may compare a field as text.
func (v view) comparesText(field string) bool {
	f := v.table.Field(field)
	return f.Type == wire.TypeString && (f.Filterable == nil || *f.Filterable)
}

// reply is an answer, in a form that can be compared with other answers to the same
// question.
type reply struct {
	text  string        // equal for equal answers; empty when the answer tells nothing
	shown string        // a short form of it
	rows  *oracle.Table // of /query; the first ones if there are too many to compare
	fault *check.Finding
	over  bool // there were too many rows to compare
	// request is what was asked.
	request *check.Request
}

// unknown is the text of a refusal that says that the table, or a field, does not
// exist.
const unknown = "refused"

// most is how many rows of a table are compared.
const most = 5_000

// ask asks a question for a tenant. It is safe for concurrent use.
func ask(ctx context.Context, run *session.Run, tenant int, path string, v view, wording int) reply {
	m := question(run, path, v, wording)
	return read(ctx, run, run.Ask(path, m, tenant), m, v)
}

// read sends a call that asks the question m, and reads the answer.
func read(ctx context.Context, run *session.Run, c session.Call, m wire.Request, v view) reply {
	if req, ok := m.(*wire.QueryRequest); ok {
		return readRows(run.StreamWith(ctx, c, req.Fields, min(run.Rows, most)), v, req.Fields)
	}
	a := run.ExchangeWith(ctx, c)
	r := reply{request: a.Request}
	if refusedAsUnknown(a) {
		r.text, r.shown = unknown, a.Describe()
		return r
	}
	if a.Err != nil || a.Status != http.StatusOK {
		return r
	}
	r.text = figure(a, m, v.fields)
	r.shown = r.text
	return r
}

func refusedAsUnknown(a *session.Answer) bool {
	e := a.Refusal()
	return e != nil && (e.Code == wire.CodeUnknownEntity || e.Code == wire.CodeUnsupported)
}

// readRows reads the rows of a stream, with their cells in the order of the view's
// fields. It drops those that a filter was to drop and that were left to the reader.
func readRows(st *session.Stream, v view, asked []string) reply {
	r := reply{request: st.Request, over: st.Over}
	switch {
	case refusedAsUnknown(st.Answer):
		r.text, r.shown = unknown, st.Describe()
		return r
	case st.Status == http.StatusTooManyRequests:
		return r
	case !st.Over:
		if r.fault = st.Problem(); r.fault != nil {
			return r
		}
	}
	r.rows = &oracle.Table{Name: v.table.Name}
	order := make([]int, len(v.fields))
	for i, name := range v.fields {
		r.rows.Columns = append(r.rows.Columns, wire.Column{Name: name, Type: v.table.Field(name).Type})
		order[i] = slices.Index(asked, name)
	}
	for _, cells := range st.Table.Rows {
		row := make([]wire.Value, len(order))
		for i, from := range order {
			row[i] = cells[from]
		}
		r.rows.Rows = append(r.rows.Rows, row)
	}
	if kept, err := oracle.Filter(r.rows, v.only, nil, nil); err == nil {
		r.rows = kept
	}
	if r.over {
		return r
	}
	var keys []string
	for _, row := range r.rows.Rows {
		keys = append(keys, session.RowKey(row))
	}
	slices.Sort(keys)
	r.text = fmt.Sprintf("%d rows %x", len(keys), sha256.Sum256([]byte(strings.Join(keys, "\n"))))
	r.shown = fmt.Sprintf("%d rows", len(keys))
	if len(keys) > 0 {
		r.shown += ", such as " + session.ShowRow(r.rows.Columns, r.rows.Rows[0])
	}
	return r
}

// estimate begins the text of a size that is not exact.
const estimate = "about "

// figure returns what an answer to a measuring question says, or "" if nothing.
func figure(a *session.Answer, m wire.Request, fields []string) string {
	switch m := m.(type) {
	case *wire.CountRequest:
		var count wire.CountAnswer
		if a.Decode("count-answer", &count) == nil {
			return fmt.Sprint(count.Count)
		}
	case *wire.SizeRequest:
		var size wire.SizeAnswer
		if a.Decode("size-answer", &size) == nil && size.Size != nil {
			if !size.Size.Exact {
				return fmt.Sprintf("%s%d", estimate, size.Size.Rows)
			}
			return fmt.Sprint(size.Size.Rows)
		}
	case *wire.AggregateRequest:
		var groups wire.AggregateAnswer
		if a.Decode("aggregate-answer", &groups) == nil && len(groups.Rows) == 1 {
			return groups.Rows[0][m.Measures[0].As].String()
		}
	case *wire.CardinalityRequest:
		var counts wire.CardinalityAnswer
		if a.Decode("cardinality-answer", &counts) == nil {
			return showCounts(fields, func(name string) *wire.Cardinality { return counts.Columns[name] })
		}
	case *wire.LinkHitRateRequest:
		var link wire.LinkHitRate
		if a.Decode("link-hit-rate-answer", &link) == nil {
			return fmt.Sprint(link.FromNonNull)
		}
	}
	return ""
}

func showCounts(fields []string, of func(name string) *wire.Cardinality) string {
	var list []string
	for _, name := range fields {
		if c := of(name); c != nil {
			list = append(list, fmt.Sprintf("%s %d of %d", wire.QuoteName(name), c.Distinct, c.NonNull))
		}
	}
	return strings.Join(list, ", ")
}

// figureOf returns what the answer to a measuring question must say of rows, or "" if
// they do not tell. got is the answer that it is to be compared with.
func figureOf(path string, rows *oracle.Table, got string) string {
	if rows == nil {
		return ""
	}
	switch path {
	case wire.PathCount, wire.PathSize, wire.PathAggregate:
		return fmt.Sprint(len(rows.Rows))
	case wire.PathCardinality:
		return showCounts(columnNames(rows), func(name string) *wire.Cardinality {
			c, err := oracle.Cardinality(rows, name)
			if err != nil || !strings.Contains(got, wire.QuoteName(name)+" ") {
				return nil // the connector does not count this column
			}
			return &c
		})
	case wire.PathLinkHitRate:
		if c, err := oracle.Cardinality(rows, rows.Columns[0].Name); err == nil {
			return fmt.Sprint(c.NonNull)
		}
	}
	return ""
}

func columnNames(t *oracle.Table) (names []string) {
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	return names
}

// describe returns a discovered table as a text that can be compared.
func describe(t *wire.Table) string {
	text, err := wire.EncodeAnswer(&wire.Discovery{Tables: []wire.Table{*t}})
	if err != nil {
		return ""
	}
	return string(text)
}

// describeTables returns the tables of a discovery as a text that can be compared,
// whatever their order.
func describeTables(d *session.Discovery) string {
	list := make([]string, len(d.Tables))
	for i := range d.Tables {
		list[i] = describe(&d.Tables[i])
	}
	slices.Sort(list)
	return strings.Join(list, "\n")
}
