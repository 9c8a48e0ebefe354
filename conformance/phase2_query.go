package conformance

import (
	"errors"
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// asked is a query and what came back, its cells under the declared types.
type asked struct {
	req  *wire.QueryRequest
	st   *stream
	rows *oracle.Table
}

// askQuery sends a query of the fixture; the result says why its stream cannot
// be judged.
func (x *exam) askQuery(f *fixture, req wire.QueryRequest) (*asked, result) {
	st := x.query(&req)
	if found := st.unusable(); found != nil {
		unsupported := st.status == wire.CodeUnsupported.Status() || st.fault != nil && st.fault.Code == wire.CodeUnsupported
		if why := x.refusable(f, &req); unsupported && why != "" {
			return nil, declined("refused with 422: %s", why)
		}
		return nil, failed(found)
	}
	switch {
	case st.broken != "":
		return nil, blocked(st.broken, st.why)
	case st.over:
		return nil, failed(&finding{detail: fmt.Sprintf("more than %d rows are answered", len(st.table.Rows)), request: st.request})
	}
	a := &asked{req: &req, st: st, rows: typed(f, &req, st.table)}
	x.hear(a)
	return a, result{}
}

// typed gives the cells of a stream the types that discovery declares.
func typed(f *fixture, req *wire.QueryRequest, answer *oracle.Table) *oracle.Table {
	t := &oracle.Table{Name: req.Table, Rows: answer.Rows, Columns: slices.Clone(answer.Columns)}
	typeIn := func(table, column string) wire.Type {
		from := f.truth[table]
		if i := from.Index(column); i >= 0 {
			return from.Columns[i].Type
		}
		return ""
	}
	for i, name := range req.Fields {
		t.Columns[i].Type = typeIn(req.Table, name)
	}
	at := len(req.Fields)
	for n, j := range req.Joins {
		for _, field := range j.Fields {
			t.Columns[at].Type, t.Columns[at].Hop = typeIn(j.ToTable, field.Field), n+1
			at++
		}
	}
	return t
}

// judgeQuery asks a query, does what its stream leaves open as the platform
// would, and holds the final rows against the corpus.
func (x *exam) judgeQuery(f *fixture, req wire.QueryRequest) result {
	a, r := x.askQuery(f, req)
	if a == nil {
		return r
	}
	final, err := oracle.Finish(a.rows, &req, a.st.served)
	var unknown *oracle.UnknownField
	if errors.As(err, &unknown) {
		// Whoever has to filter or sort asks for what he filters and sorts by.
		if a, r = x.askQuery(f, widened(req)); a == nil {
			return r
		}
		final, err = oracle.Finish(a.rows, &req, a.st.served)
	}
	if err != nil {
		return declined("the rows cannot be finished: %v", err)
	}
	d := x.verify(f.truth, &req, final.Rows)
	if d == nil {
		x.claimsHeld(a)
		return result{}
	}
	return x.explain(f, a, &req, d)
}

// widened is a request that also asks for the fields that it filters and sorts
// by.
func widened(req wire.QueryRequest) wire.QueryRequest {
	fields := slices.Clone(req.Fields)
	add := func(name string) {
		if !slices.Contains(fields, name) {
			fields = append(fields, name)
		}
	}
	for _, group := range append([][]wire.Filter{req.And}, req.Or...) {
		for _, filter := range group {
			add(filter.Field)
		}
	}
	for _, s := range req.Sort {
		add(s.Field)
	}
	req.Fields = fields
	return req
}

// verify holds rows against the right ones, under every reading of the protocol
// where it may fail the connector, and under the rulings' where it advises.
func (x *exam) verify(truth oracle.Tables, req *wire.QueryRequest, rows [][]wire.Value) *oracle.Difference {
	d := oracle.Verify(truth, req, rows)
	if d == nil || x.check.Advice {
		return d
	}
	if (oracle.Reading{DatesAsText: true}).Verify(truth, req, rows) == nil {
		return nil
	}
	return d
}

// explain finds the check that a wrong answer belongs to. A case that fails for
// the fault of another check is blocked by it, so that one fault of a connector
// is one failure; where nothing else explains it, it is this check's.
func (x *exam) explain(f *fixture, a *asked, req *wire.QueryRequest, d *oracle.Difference) result {
	if reduced, ok := x.undamaged(f, req); ok {
		if final, err := oracle.Finish(a.rows, &reduced, a.st.served); err == nil {
			if less := x.verify(f.truth, &reduced, final.Rows); less == nil {
				return result{}
			} else {
				d, req = less, &reduced
			}
		}
	}
	if r := x.liesExplain(f, a, req); r.skip != "" {
		return r
	}
	if by := x.orderExplains(f, a, req); by != "" && by != x.check.ID {
		return blocked(by, "rows stand in the wrong order: "+d.Detail)
	}
	if by := x.operatorExplains(f, req.Table, req.And, req.Or); by != "" {
		return blocked(by, "an operator finds other rows: "+d.Detail)
	}
	if by := x.simplerExplains(f, req); by != "" {
		return blocked(by, d.Detail)
	}
	return failed(difference(d, a.st.request))
}

// simplerExplains asks again with less: where a request is answered rightly
// without its window, its sort, its filters or its order of fields, these are at
// fault, and they have checks of their own.
func (x *exam) simplerExplains(f *fixture, req *wire.QueryRequest) string {
	right := func(simpler wire.QueryRequest) bool {
		a, _ := x.askQuery(f, widened(simpler))
		if a == nil {
			return false
		}
		final, err := oracle.Finish(a.rows, &simpler, a.st.served)
		return err == nil && x.verify(f.truth, &simpler, final.Rows) == nil
	}
	s := section(x.check.ID)
	switch {
	case s == 8 || x.check.Advice:
		return ""
	case s == 3 || s == 5:
		// Where only one of several conditions is not applied, conditions do not
		// combine; what each finds by itself is judged too.
		for i := range req.And {
			less := *req
			less.And = slices.Delete(slices.Clone(req.And), i, i+1)
			if len(req.And) > 1 && x.sameAnswer(f, req, &less) {
				return "P2.4a"
			}
		}
		return ""
	}
	ordered := *req
	ordered.Fields = nil
	for _, c := range f.truth[req.Table].Columns {
		if slices.Contains(req.Fields, c.Name) {
			ordered.Fields = append(ordered.Fields, c.Name)
		}
	}
	if !slices.Equal(ordered.Fields, req.Fields) && right(ordered) {
		return "P2.8a"
	}
	if uncut := *req; s != 7 && req.Limit+req.Offset > 0 {
		if uncut.Limit, uncut.Offset = 0, 0; right(uncut) {
			return "P2.7d"
		}
	}
	if unsorted := *req; s != 6 && s != 7 && len(req.Sort) > 0 {
		if unsorted.Sort = nil; right(unsorted) {
			return x.sortCheck(f, req)
		}
	}
	if unfiltered := *req; s != 4 && s != 7 && len(req.And)+len(req.Or) > 0 {
		if unfiltered.And, unfiltered.Or = nil, nil; right(unfiltered) {
			for _, group := range append([][]wire.Filter{req.And}, req.Or...) {
				for _, filter := range group {
					return operatorCheck(filter.Op)
				}
			}
		}
	}
	return ""
}

// sameAnswer reports whether a request is answered as another one should be.
func (x *exam) sameAnswer(f *fixture, req, other *wire.QueryRequest) bool {
	a, _ := x.askQuery(f, widened(*req))
	if a == nil {
		return false
	}
	final, err := oracle.Finish(a.rows, other, a.st.served)
	return err == nil && x.verify(f.truth, other, final.Rows) == nil
}

// sortCheck is the check about the first key of a sort.
func (x *exam) sortCheck(f *fixture, req *wire.QueryRequest) string {
	t := f.truth[req.Table]
	switch at := t.Index(req.Sort[0].Field); {
	case at < 0:
		return "P2.6a"
	case t.Columns[at].Type.Numeric():
		return "P2.6d"
	case t.Columns[at].Type == wire.TypeDate, t.Columns[at].Type == wire.TypeDatetime:
		return "P2.6h"
	}
	return "P2.6e"
}

// operatorsInOrder are the operators in the order of their checks, P2.3a and on.
var operatorsInOrder = [...]wire.Op{
	wire.OpEq, wire.OpNeq, wire.OpGt, wire.OpGte, wire.OpLt, wire.OpLte, wire.OpIn, wire.OpNin,
	wire.OpContains, wire.OpIncludes, wire.OpStartsWith, wire.OpIsNull, wire.OpNotNull,
}

// operatorCheck is the check about an operator.
func operatorCheck(op wire.Op) string {
	return fmt.Sprintf("P2.3%c", 'a'+slices.Index(operatorsInOrder[:], op))
}

// difference is one as a finding.
func difference(d *oracle.Difference, request *Request) *finding {
	return &finding{detail: d.Detail, expected: excerpt([]byte(d.Expected), 300), received: excerpt([]byte(d.Received), 300), request: request}
}

// undamaged is the request without the columns whose cells are wrong already in
// a plain read; ok tells that there are any.
func (x *exam) undamaged(f *fixture, req *wire.QueryRequest) (reduced wire.QueryRequest, ok bool) {
	reduced = *req
	reduced.Fields, reduced.Joins = nil, slices.Clone(req.Joins)
	sound := func(table, column string) bool {
		if x.examine(f, table).damaged(column) == nil {
			return true
		}
		ok = true
		return false
	}
	for _, name := range req.Fields {
		if sound(req.Table, name) {
			reduced.Fields = append(reduced.Fields, name)
		}
	}
	for i, j := range req.Joins {
		reduced.Joins[i].Fields = slices.DeleteFunc(slices.Clone(j.Fields), func(field wire.JoinField) bool { return !sound(j.ToTable, field.Field) })
	}
	return reduced, ok
}

// operatorExplains finds the check of an operator that has already failed for
// a column of the type that is filtered here. Whether an operator is right is for
// P2.3 and P2.5 alone.
func (x *exam) operatorExplains(f *fixture, table string, and []wire.Filter, or [][]wire.Filter) string {
	if n := section(x.check.ID); n == 3 || n == 5 {
		x.eachOperator(f, table, and, or, func(key string) {
			if f.operators[key] == "" {
				f.operators[key] = x.check.ID
			}
		})
		return ""
	}
	by := ""
	x.eachOperator(f, table, and, or, func(key string) {
		if by == "" {
			by = f.operators[key]
		}
	})
	return by
}

func (x *exam) eachOperator(f *fixture, table string, and []wire.Filter, or [][]wire.Filter, each func(key string)) {
	for _, group := range append([][]wire.Filter{and}, or...) {
		for _, filter := range group {
			t := f.truth[table]
			if i := t.Index(filter.Field); i >= 0 {
				each(fmt.Sprintf("%s %s", filter.Op, t.Columns[i].Type))
			}
		}
	}
}

// orderExplains finds the check of P2.6 that explains an answer whose rows only
// stand in the wrong order.
func (x *exam) orderExplains(f *fixture, a *asked, req *wire.QueryRequest) string {
	if len(req.Sort) == 0 || len(req.Joins) > 0 {
		return ""
	}
	final, err := oracle.Finish(a.rows, req, a.st.served)
	if err != nil {
		return ""
	}
	// What the filters leave, so that only the order can be read otherwise.
	left, err := oracle.Filter(f.truth[req.Table], req.And, req.Or, req.FieldTypes)
	if err != nil {
		return ""
	}
	fits := func(t *oracle.Table, sort []wire.SortKey) bool {
		other := *req
		other.And, other.Or, other.Sort = nil, nil, sort
		return oracle.Verify(oracle.Tables{req.Table: t}, &other, final.Rows) == nil
	}
	// Read as text, numbers sort by bytes.
	texts := *left
	texts.Columns = slices.Clone(left.Columns)
	numbers := false
	for i := range texts.Columns {
		if texts.Columns[i].Type.Numeric() {
			texts.Columns[i].Type = wire.TypeString
		}
	}
	turned := slices.Clone(req.Sort)
	for i, key := range req.Sort {
		turned[i].Dir = wire.Asc
		if at := left.Index(key.Field); at >= 0 && left.Columns[at].Type.Numeric() {
			numbers = true
		}
	}
	switch {
	case numbers && fits(&texts, req.Sort):
		return "P2.6d"
	case !slices.Equal(turned, req.Sort) && fits(left, turned):
		return "P2.6b"
	case len(req.Sort) > 1 && fits(left, req.Sort[:1]):
		return "P2.6f"
	case x.nullsMisplaced(f, req, a):
		return "P2.6c"
	}
	return ""
}

// nullsMisplaced reports whether rows are right but for those whose sort keys
// are null.
func (x *exam) nullsMisplaced(f *fixture, req *wire.QueryRequest, a *asked) bool {
	if req.Limit > 0 || req.Offset > 0 {
		return false
	}
	for _, key := range req.Sort {
		if a.rows.Index(key.Field) < 0 {
			var r result
			if a, r = x.askQuery(f, widened(*req)); a == nil || r.skip != "" {
				return false
			}
			break
		}
	}
	final, err := oracle.Finish(a.rows, a.req, a.st.served)
	if err != nil {
		return false
	}
	other := *a.req
	other.And = slices.Clone(a.req.And)
	for _, key := range req.Sort {
		other.And = append(other.And, wire.Filter{Field: key.Field, Op: wire.OpNotNull})
	}
	kept, err := oracle.Filter(final, other.And[len(a.req.And):], nil, nil)
	return err == nil && len(kept.Rows) < len(final.Rows) && oracle.Verify(f.truth, &other, kept.Rows) == nil
}
