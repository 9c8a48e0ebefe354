package exam

import (
	"cmp"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/shrink"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Question is a generated request to one of three routes, about a table whose rows
// are known.
type Question struct {
	*Subject
	Path string
	wire.Where
	Number int // of the request in which it was asked first

	// Of /query.
	Sort          []wire.SortKey
	Fields        []string
	Limit, Offset int64
	Joins         []wire.JoinHop

	// Of /aggregate.
	Groups       []wire.GroupKey
	Measures     []wire.Measure
	StringFields []string
}

// Known returns the tables that the answer follows from.
func (q *Question) Known() oracle.Tables { return oracle.Tables{q.Table.Name: q.Table} }

// Query returns the request of a question to /query.
func (q *Question) Query() *wire.QueryRequest {
	return &wire.QueryRequest{
		Table: q.Table.Name, Where: q.Where, Sort: q.Sort, Fields: q.Fields, Limit: cmp.Or(q.Limit, q.Window), Offset: q.Offset, Joins: q.Joins,
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

// Message returns the request of the question's route.
func (q *Question) Message() wire.Request {
	switch q.Path {
	case wire.PathCount:
		return q.count()
	case wire.PathAggregate:
		return q.aggregate()
	}
	return q.Query()
}

// Needed returns the fields, followed by those that filters and sort keys name.
func (q *Question) Needed(fields []string) []string {
	fields = shrink.Needed(fields, &wire.QueryRequest{Where: q.Where, Sort: q.Sort})
	if len(fields) == 0 {
		fields = append(fields, q.columns[0].Name)
	}
	return fields
}

// asking returns the question that asks another request of the same route.
func (q *Question) asking(m wire.Request) *Question {
	other := &Question{Subject: q.Subject, Path: q.Path, Number: q.Number}
	switch m := m.(type) {
	case *wire.QueryRequest:
		other.Where, other.Sort, other.Fields = m.Where, m.Sort, m.Fields
		other.Limit, other.Offset, other.Joins = m.Limit, m.Offset, m.Joins
	case *wire.CountRequest:
		other.Where = m.Where
	case *wire.AggregateRequest:
		other.Where, other.Groups, other.Measures, other.StringFields = m.Where, m.GroupBy, m.Measures, m.StringFields
	}
	return other
}
