package generate

import (
	"cmp"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Question is a generated request to one of three routes, about a table whose rows
// are known.
type Question struct {
	*Subject
	Path string
	wire.Where
	number int // in which it was asked first

	// Of /query.
	Sort          []wire.SortKey
	Fields        []string
	Limit, Offset int64

	// Of /aggregate.
	Groups       []wire.GroupKey
	Measures     []wire.Measure
	StringFields []string
}

// known returns the tables that the answer follows from.
func (q *Question) known() oracle.Tables { return oracle.Tables{q.Table.Name: q.Table} }

// Query returns the request of a question to /query.
func (q *Question) Query() *wire.QueryRequest {
	return &wire.QueryRequest{
		Table: q.Table.Name, Where: q.Where, Sort: q.Sort, Fields: q.Fields, Limit: cmp.Or(q.Limit, q.Window), Offset: q.Offset,
	}
}

// count returns the request of a question to /count.
func (q *Question) count() *wire.CountRequest {
	return &wire.CountRequest{Table: q.Table.Name, Where: q.Where}
}

// aggregate returns the request of a question to /aggregate.
func (q *Question) aggregate() *wire.AggregateRequest {
	return &wire.AggregateRequest{Table: q.Table.Name, Where: q.Where, GroupBy: q.Groups, Measures: q.Measures,
		StringFields: q.StringFields, Limit: wire.AggregateLimit}
}

// message returns the request of the question's route.
func (q *Question) message() wire.Request {
	switch q.Path {
	case wire.PathCount:
		return q.count()
	case wire.PathAggregate:
		return q.aggregate()
	}
	return q.Query()
}

// needed returns the fields, followed by those that filters and sort keys name.
func (q *Question) needed(fields []string) []string {
	fields = session.Needed(fields, q.Where, q.Sort)
	if len(fields) == 0 {
		fields = append(fields, q.columns[0].Name)
	}
	return fields
}

// size counts the parts of a question that shrinking can take away.
func (q *Question) size() int {
	n := len(q.Sort) + len(q.Groups) + len(q.Measures) + len(q.StringFields) + len(q.FieldTypes) + len(q.Fields)
	for f := range q.Filters() {
		n += 1 + len(f.Values)
	}
	if q.Limit > 0 {
		n++
	}
	if q.Offset > 0 {
		n++
	}
	return n
}
