package conformance

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// question is a generated request, of any of three routes, about a table whose
// rows are known.
type question struct {
	*subject
	path  string
	and   []wire.Filter
	or    [][]wire.Filter
	types map[string]wire.Type

	// Of /query.
	sort          []wire.SortKey
	fields        []string
	limit, offset int64

	// Of /aggregate.
	groups   []wire.GroupKey
	measures []wire.Measure
	strings  []string
}

// known are the tables that the answer follows from.
func (q *question) known() oracle.Tables { return oracle.Tables{q.table.Name: q.table} }

func (q *question) query() *wire.QueryRequest {
	return &wire.QueryRequest{Table: q.table.Name, Where: wire.Where{And: q.and, Or: q.or, FieldTypes: q.types}, Sort: q.sort, Fields: q.fields, Limit: q.limit, Offset: q.offset}
}

func (q *question) count() *wire.CountRequest {
	return &wire.CountRequest{Table: q.table.Name, Where: wire.Where{And: q.and, Or: q.or, FieldTypes: q.types}}
}

func (q *question) aggregate() *wire.AggregateRequest {
	return &wire.AggregateRequest{Table: q.table.Name, Where: wire.Where{And: q.and, Or: q.or, FieldTypes: q.types}, GroupBy: q.groups, Measures: q.measures,
		StringFields: q.strings, Limit: wire.AggregateLimit}
}

// message is the request of the question's route.
func (q *question) message() wire.Message {
	switch q.path {
	case wire.PathCount:
		return q.count()
	case wire.PathAggregate:
		return q.aggregate()
	}
	return q.query()
}

// needed are some fields, followed by those that filters and sort keys name.
func (q *question) needed(fields []string) []string {
	fields = slices.Clone(fields)
	add := func(name string) {
		if !slices.Contains(fields, name) {
			fields = append(fields, name)
		}
	}
	for _, group := range append([][]wire.Filter{q.and}, q.or...) {
		for _, f := range group {
			add(f.Field)
		}
	}
	for _, k := range q.sort {
		add(k.Field)
	}
	if len(fields) == 0 {
		add(q.columns[0].Name)
	}
	return fields
}

// members counts what a question is made of, and what shrinking takes away.
func (q *question) members() int {
	n := len(q.sort) + len(q.groups) + len(q.measures) + len(q.strings) + len(q.types) + len(q.fields)
	for _, group := range append([][]wire.Filter{q.and}, q.or...) {
		for _, f := range group {
			n += 1 + len(f.Values)
		}
	}
	if q.limit > 0 {
		n++
	}
	if q.offset > 0 {
		n++
	}
	return n
}
