// Package shrink makes a request that is answered wrongly as small as it can be while it still is.
// The judge and the kit for engines use it to show the cause of a wrong answer.
package shrink

import (
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A Table is what has to be known of the table that requests name.
type Table struct {
	Columns []wire.Column
	Key     []string // stays among the fields while it can: it says which row is wrong
	// Grained names columns whose values make settled groups only by a grain.
	Grained []string
}

// MaxRequests limits the requests that are tried.
const MaxRequests = 200

// Request returns the smallest request found for which wrong returns true, or m if nothing smaller is. It stops
// early when ctx ends. wrong has to send each request, so those that leave out most are tried first.
func Request(ctx context.Context, m wire.Request, t Table, wrong func(wire.Request) bool) wire.Request {
	asked := 0
	tried := map[string]bool{Body(m): true}
	for again := true; again; {
		again = false
		for smaller := range Simpler(m, t) {
			key := Body(smaller)
			if tried[key] {
				continue
			}
			tried[key] = true
			if asked == MaxRequests || ctx.Err() != nil {
				return m
			}
			asked++
			if wrong(smaller) && ctx.Err() == nil {
				m, again = smaller, true
				break
			}
		}
	}
	return m
}

// Body returns the body of a request, which tells requests apart.
func Body(m wire.Request) string {
	text, err := wire.EncodeRequest(m)
	if err != nil {
		panic(err) // made of values that have crossed the wire
	}
	return string(text)
}

// Size counts the parts of a request that can be taken away.
func Size(m wire.Request) int {
	q := partsOf(m, Table{})
	n := len(q.Sort) + len(q.groups) + len(q.measures) + len(q.stringFields) + len(q.FieldTypes) + len(q.Fields) + len(q.Joins)
	for f := range q.Filters() {
		n += 1 + len(f.Values)
	}
	for _, j := range q.Joins {
		n += len(j.Fields)
	}
	return n + min(1, int(q.Limit)) + min(1, int(q.Offset))
}

// parts are the parts of a request that can be taken away. An embedded query holds those of all requests.
type parts struct {
	of wire.Request
	wire.QueryRequest
	groups       []wire.GroupKey
	measures     []wire.Measure
	stringFields []string
	table        Table
}

func partsOf(m wire.Request, t Table) *parts {
	q := &parts{of: m, table: t}
	switch m := m.(type) {
	case *wire.QueryRequest:
		q.QueryRequest = *m
	case *wire.CountRequest:
		q.Where = m.Where
	case *wire.AggregateRequest:
		q.Where, q.Joins, q.groups, q.measures, q.stringFields = m.Where, m.Joins, m.GroupBy, m.Measures, m.StringFields
	}
	return q
}

// message returns the request of the parts, or nil if nothing is asked for any more.
func (q *parts) message() wire.Request {
	switch m := q.of.(type) {
	case *wire.QueryRequest:
		own := q.QueryRequest
		if len(own.Fields) == 0 {
			return nil
		}
		return &own
	case *wire.CountRequest:
		own := *m
		own.Where = q.Where
		return &own
	case *wire.AggregateRequest:
		own := *m
		own.Where, own.Joins, own.GroupBy, own.Measures, own.StringFields = q.Where, q.Joins, q.groups, q.measures, q.stringFields
		if len(own.GroupBy)+len(own.Measures) == 0 {
			return nil
		}
		return &own
	}
	return q.of
}

// Simpler yields requests with a little less in them. Those that leave out most come first.
func Simpler(m wire.Request, t Table) iter.Seq[wire.Request] {
	return func(yield func(wire.Request) bool) {
		q, more := partsOf(m, t), true
		try := func(change func(*parts)) {
			other := *q
			change(&other)
			if smaller := other.message(); more && smaller != nil {
				more = yield(smaller)
			}
		}
		q.fewerJoins(try)
		q.simplerOr(try)
		for list := range fewer(q.And) {
			try(func(o *parts) { o.And = list })
		}
		q.simplerRows(try)
		q.simplerGroups(try)
		for i, f := range q.And {
			for smaller := range q.simplerFilter(f) {
				try(func(o *parts) { o.And = replaced(q.And, i, smaller) })
			}
		}
		for n, group := range q.Or {
			for i, f := range group {
				for smaller := range q.simplerFilter(f) {
					try(func(o *parts) { o.Or = replaced(q.Or, n, replaced(group, i, smaller)) })
				}
			}
		}
	}
}

// fewerJoins tries fewer hops, the last left out first because others may begin at those before it, and fewer of
// their fields.
func (q *parts) fewerJoins(try func(func(*parts))) {
	used := map[string]bool{}
	for _, g := range q.groups {
		used[g.Field] = true
	}
	for _, m := range q.measures {
		used[m.Field] = true
	}
	needed := func(f wire.JoinField) bool { return used[f.As] }
	for i, j := range slices.Backward(q.Joins) {
		begins := func(later wire.JoinHop) bool { return later.FromTable == j.ToTable }
		if !slices.ContainsFunc(q.Joins[i+1:], begins) && !slices.ContainsFunc(j.Fields, needed) {
			try(func(o *parts) { o.Joins = without(q.Joins, i) })
		}
	}
	for i, j := range q.Joins {
		for list := range fewer(j.Fields) {
			j.Fields = list
			try(func(o *parts) { o.Joins = replaced(q.Joins, i, j) })
		}
	}
}

// simplerOr tries fewer and smaller groups of or.
func (q *parts) simplerOr(try func(func(*parts))) {
	if q.Or != nil {
		try(func(o *parts) { o.Or = nil })
	}
	for _, group := range q.Or {
		if len(q.Or) > 1 {
			try(func(o *parts) { o.Or = [][]wire.Filter{group} })
		} else { // the filters of a single group are conjuncts
			try(func(o *parts) { o.And, o.Or = slices.Concat(q.And, group), nil })
		}
	}
	if len(q.Or) > 1 {
		for list := range fewer(q.Or) {
			if len(list) > 0 {
				try(func(o *parts) { o.Or = list })
			}
		}
	}
	for n, group := range q.Or {
		for list := range fewer(group) {
			if len(list) > 0 {
				try(func(o *parts) { o.Or = replaced(q.Or, n, list) })
			}
		}
	}
}

// simplerRows tries smaller sorts, windows and lists of fields.
func (q *parts) simplerRows(try func(func(*parts))) {
	if len(q.FieldTypes) > 0 {
		try(func(o *parts) { o.FieldTypes = nil })
		for _, name := range slices.Sorted(maps.Keys(q.FieldTypes)) {
			try(func(o *parts) {
				o.FieldTypes = maps.Clone(q.FieldTypes)
				delete(o.FieldTypes, name)
			})
		}
	}
	for list := range fewer(q.Sort) {
		try(func(o *parts) { o.Sort = list })
	}
	for i, k := range q.Sort {
		if k.Collate {
			k.Collate = false
			try(func(o *parts) { o.Sort = replaced(q.Sort, i, k) })
		}
		if k.Dir == wire.Desc {
			k.Dir = wire.Asc
			try(func(o *parts) { o.Sort = replaced(q.Sort, i, k) })
		}
	}
	for _, n := range []int64{0, 1, q.Offset / 2, q.Offset - 1} {
		if n >= 0 && n < q.Offset {
			try(func(o *parts) { o.Offset = n })
		}
	}
	for _, n := range []int64{0, 1, q.Limit / 2, q.Limit - 1} {
		if n >= 0 && n < q.Limit {
			try(func(o *parts) { o.Limit = n })
		}
	}
	if len(q.Fields) == 0 {
		return
	}
	// The fields that show what is wrong stay, and the key, which says of which row.
	told := q.needed(q.table.Key)
	others := slices.DeleteFunc(slices.Clone(q.Fields), func(name string) bool { return slices.Contains(told, name) })
	for list := range fewer(others) {
		if fields := slices.Concat(told, list); len(fields) < len(q.Fields) {
			try(func(o *parts) { o.Fields = fields })
		}
	}
	if told := q.needed(nil); len(q.Joins)+len(others) == 0 && len(told) < len(q.Fields) {
		try(func(o *parts) { o.Fields = told })
	}
}

// needed returns the fields, followed by those that filters and sort keys name, or else any.
func (q *parts) needed(fields []string) []string {
	fields = Needed(fields, &q.QueryRequest)
	if len(fields) == 0 {
		fields = q.Fields[:1]
	}
	return fields
}

// Needed returns the fields, followed by those that filters and sort keys of the request name and that
// are not among them. The platform asks for these, because it may have to filter or to sort.
func Needed(fields []string, req *wire.QueryRequest) []string {
	fields = slices.Clone(fields)
	add := func(name string) {
		if !slices.Contains(fields, name) {
			fields = append(fields, name)
		}
	}
	for f := range req.Filters() {
		add(f.Field)
	}
	for _, k := range req.Sort {
		add(k.Field)
	}
	return fields
}

// simplerGroups tries fewer groups and measures.
func (q *parts) simplerGroups(try func(func(*parts))) {
	for list := range fewer(q.measures) {
		try(func(o *parts) { o.measures = list })
	}
	for list := range fewer(q.groups) {
		try(func(o *parts) { o.groups = list })
	}
	for list := range fewer(q.stringFields) {
		try(func(o *parts) { o.stringFields = list })
	}
	for i, g := range q.groups {
		if g.Grain != "" && !slices.Contains(q.table.Grained, g.Field) {
			g.Grain = ""
			try(func(o *parts) { o.groups = replaced(q.groups, i, g) })
		}
	}
}

// simplerFilter yields filters with shorter lists, and with shorter operands on
// columns of text. Operands of other types stay, because a shorter one may mean
// something that the protocol does not settle.
func (q *parts) simplerFilter(f wire.Filter) iter.Seq[wire.Filter] {
	return func(yield func(wire.Filter) bool) {
		for list := range fewer(f.Values) {
			other := f
			other.Values = list
			if !yield(other) {
				return
			}
		}
		if !slices.ContainsFunc(q.table.Columns, func(c wire.Column) bool { return c.Name == f.Field && terms.IsText(c.Type) }) {
			return
		}
		for _, text := range shorter(f.Value) {
			other := f
			other.Value = text
			if !yield(other) {
				return
			}
		}
		for i, v := range f.Values {
			for _, text := range shorter(v) {
				other := f
				other.Values = replaced(f.Values, i, text)
				if !yield(other) {
					return
				}
			}
		}
	}
}

// shorter returns the halves of a text, and the text without its first and
// without its last character, but not the empty text, which is a case of its own.
func shorter(v wire.Value) (list []wire.Value) {
	runes := []rune(v.Text())
	n := len(runes)
	if v.Kind() != wire.KindText || n < 2 {
		return nil
	}
	for _, part := range [][]rune{runes[:n/2], runes[n/2:], runes[1:], runes[:n-1]} {
		list = append(list, wire.Text(string(part)))
	}
	return list
}

// fewer yields lists with less in them: none of its members, either half, all but
// one.
func fewer[T any](list []T) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		n := len(list)
		if n == 0 || !yield([]T{}) {
			return
		}
		if n > 2 && (!yield(list[:n/2:n/2]) || !yield(list[n/2:])) {
			return
		}
		for i := range list {
			if n > 1 && !yield(without(list, i)) {
				return
			}
		}
	}
}

// without returns a list without the member at an index.
func without[T any](list []T, at int) []T { return slices.Concat(list[:at], list[at+1:]) }

// replaced returns the list with another member at an index.
func replaced[T any](list []T, at int, with T) []T {
	list = slices.Clone(list)
	list[at] = with
	return list
}
