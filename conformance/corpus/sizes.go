package corpus

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// sizedCases returns the cases that are large themselves, or about a large table:
// lists, conjunctions and operands of many sizes, and numbers beyond 10,000. Their
// requests and answers follow from formulas. In each, what stands last decides, so
// that a connector which cuts what it is asked or what it answers is wrong.
func sizedCases() []Case {
	var all []Case
	for _, more := range [][]Case{
		longLists(), longConditions(), longOperands(), manyKeys(), largeReads(), largeNumbers(), manyHops(),
	} {
		all = append(all, more...)
	}
	return all
}

// rowsOf returns the rows of one column with these ids.
func rowsOf(ids ...int64) (rows [][]wire.Value) {
	for _, id := range ids {
		rows = append(rows, []wire.Value{wire.Int(id)})
	}
	return rows
}

// span returns the whole numbers from first to last.
func span(first, last int64) (ids []int64) {
	for id := first; id <= last; id++ {
		ids = append(ids, id)
	}
	return ids
}

// idCase returns a case that asks for the ids of the rows that pass the filters.
func idCase(name, check, rule, why, table string, where wire.Where, ids ...int64) Case {
	return Case{
		Name: name, Check: check, Rule: rule, Why: why, Path: wire.PathQuery,
		Request: &wire.QueryRequest{Table: table, Where: where, Fields: []string{"id"}},
		Answer:  Answer{Columns: []string{"id"}, Rows: rowsOf(ids...)},
	}
}

func countCase(name, check, why, table string, where wire.Where, count int64) Case {
	return Case{
		Name: name, Check: check, Rule: "count-3", Why: why, Path: wire.PathCount,
		Request: &wire.CountRequest{Table: table, Where: where}, Answer: Answer{Count: count},
	}
}

// foldCase returns a case of an aggregate, with its groups.
func foldCase(name, check, rule, why string, request wire.AggregateRequest, groups ...[]wire.Value) Case {
	request.Limit = wire.AggregateLimit
	c := Case{Name: name, Check: check, Rule: rule, Why: why, Path: wire.PathAggregate, Request: &request}
	for _, g := range request.GroupBy {
		c.Answer.Columns = append(c.Answer.Columns, g.As)
	}
	for _, m := range request.Measures {
		c.Answer.Columns = append(c.Answer.Columns, m.As)
	}
	c.Answer.Rows = groups
	return c
}

var countOfRows = []wire.Measure{{Fn: wire.AggCount, As: "n"}}

func and(filters ...wire.Filter) wire.Where { return wire.Where{And: filters} }

func where(field string, op wire.Op, v wire.Value) wire.Filter {
	return wire.Filter{Field: field, Op: op, Value: v}
}

// longLists asks in and nin with lists of many sizes. Every fiftieth member is a
// customer's id, and so is the last. The others are nobody's.
func longLists() (cases []Case) {
	const customers, last = 22, 21
	for _, size := range []int64{10, 21, 101, 1001} {
		var values []wire.Value
		var listed, others []int64
		for i := int64(1); i < size; i++ {
			v := 1_000_000 + i
			if i%50 == 0 {
				v = i / 50
				listed = append(listed, v)
			}
			values = append(values, wire.Int(v))
		}
		values, listed = append(values, wire.Int(last)), append(listed, last)
		for _, id := range span(int64(len(listed)), customers) {
			if id != last {
				others = append(others, id)
			}
		}
		in := and(wire.Filter{Field: "id", Op: wire.OpIn, Values: values})
		nin := and(wire.Filter{Field: "id", Op: wire.OpNin, Values: values})
		const why = "The last member of a long list counts."
		cases = append(cases,
			idCase(fmt.Sprintf("in-of-%d", size), "P2.3g", "filter-3", why, "customers", in, listed...),
			idCase(fmt.Sprintf("nin-of-%d", size), "P2.3h", "filter-3a", why, "customers", nin, others...),
			countCase(fmt.Sprintf("count-in-of-%d", size), "P2.10b", why, "customers", in, int64(len(listed))),
		)
	}
	return cases
}

// longConditions asks for conjunctions and or blocks of many sizes, of which each
// filter and each group decides about one row.
func longConditions() (cases []Case) {
	for _, size := range []int64{5, 10, 33, 90} {
		var unequal []wire.Filter
		var groups [][]wire.Filter
		for i := int64(1); i < size; i++ {
			unequal = append(unequal, where("id", wire.OpNeq, wire.Int(i)))
		}
		for i := int64(1); i <= size; i++ {
			groups = append(groups, []wire.Filter{where("id", wire.OpEq, wire.Int(i))})
		}
		unequal = append(unequal, where("id", wire.OpLte, wire.Int(size+4)))
		left := span(size, size+4)
		inGroup := wire.Where{Or: [][]wire.Filter{unequal, {where("id", wire.OpIsNull, wire.Null())}}}
		either := wire.Where{Or: groups}
		name := func(what string) string { return fmt.Sprintf("%s-of-%d", what, size) }
		const drops, finds = "Every filter drops a row.", "Every group finds a row."
		cases = append(cases,
			idCase(name("and"), "P2.4a", "filter-1", drops, "texts", and(unequal...), left...),
			idCase(name("or"), "P2.4b", "filter-1", finds, "texts", either, span(1, size)...),
			idCase(name("or-group"), "P2.4b", "filter-1", drops, "texts", inGroup, left...),
			countCase(name("count-and"), "P2.10b", drops, "texts", and(unequal...), 5),
			countCase(name("count-or"), "P2.10c", finds, "texts", either, size),
			foldCase(name("agg-and"), "P2.11o", "aggregate-13", drops,
				wire.AggregateRequest{Table: "texts", Where: and(unequal...), Measures: countOfRows}, rowsOf(5)...),
		)
	}
	return cases
}

// longOperands asks for the long texts, of which two differ in the last character
// only and a third one is a character shorter.
func longOperands() (cases []Case) {
	for i, size := range lengths {
		a := int64(3*i + 2)
		text := wire.Text(longText(size-1) + "a")
		var greater []int64
		for _, row := range lengthsTable().Rows {
			if row[2].Text() > text.Text() {
				greater = append(greater, row[0].Int64())
			}
		}
		one := wire.Filter{Field: "text", Op: wire.OpIn, Values: []wire.Value{wire.Text("x"), text}}
		name := func(op wire.Op) string { return fmt.Sprintf("%s-text-of-%d", op, size) }
		same := func(op wire.Op) wire.Where { return and(where("text", op, text)) }
		const why = "The last character of a long text counts."
		cases = append(cases,
			idCase(name(wire.OpEq), "P2.3a", "filter-7", why, "lengths", same(wire.OpEq), a),
			idCase(name(wire.OpIn), "P2.3g", "filter-3", why, "lengths", and(one), a),
			idCase(name(wire.OpStartsWith), "P2.3k", "filter-5a", why, "lengths", same(wire.OpStartsWith), a),
			idCase(name(wire.OpIncludes), "P2.3j", "filter-5", why, "lengths", same(wire.OpIncludes), a),
			idCase(name(wire.OpGt), "P2.3c", "filter-7", why, "lengths", same(wire.OpGt), greater...),
			countCase("count-"+name(wire.OpEq), "P2.10b", why, "lengths", same(wire.OpEq), 1),
		)
	}
	return cases
}

// manyKeys asks for an order and for groups by many fields, of which the last alone
// decides, and for the counts of many columns.
func manyKeys() []Case {
	var sort []wire.SortKey
	var groups []wire.GroupKey
	var same []string
	for i := range sameColumns {
		same = append(same, sameColumn(i))
		sort = append(sort, wire.SortKey{Field: sameColumn(i), Dir: wire.Asc})
		groups = append(groups, wire.GroupKey{Field: sameColumn(i), As: sameColumn(i)})
	}
	sort = append(sort, wire.SortKey{Field: "text", Dir: wire.Asc})
	groups = append(groups, wire.GroupKey{Field: "size", As: "size"})
	var grouped [][]wire.Value
	group := func(size, rows int64) {
		var row []wire.Value
		for range same {
			row = append(row, wire.Text("x"))
		}
		grouped = append(grouped, append(row, wire.Int(size), wire.Int(rows)))
	}
	for _, size := range lengths {
		group(int64(size)-1, 1)
		group(int64(size), 2)
	}
	counts := map[string]*wire.Cardinality{}
	var columns []string
	row := wideTable()
	for i, f := range row.Fields {
		n := int64(1)
		if row.Rows[0][i].IsNull() {
			n = 0
		}
		columns, counts[f.Name] = append(columns, f.Name), &wire.Cardinality{NonNull: n, Distinct: n}
	}
	order := idCase("sort-nine-keys", "P2.6f", "query-11", "The last of nine keys decides: 1099 comes before 299.", "lengths",
		wire.Where{}, 4, 5, 6, 1, 2, 3, 7, 8, 9, 10, 11, 12)
	order.Request.(*wire.QueryRequest).Sort = sort
	return []Case{
		order,
		foldCase("agg-nine-keys", "P2.11q", "aggregate-17", "The last of nine keys makes the groups.",
			wire.AggregateRequest{Table: "lengths", GroupBy: groups, Measures: countOfRows}, grouped...),
		{
			Name: "card-wide", Check: "P2.13a", Rule: "measure-14", Why: "Many columns at once.",
			Path:    wire.PathCardinality,
			Request: &wire.CardinalityRequest{Table: "wide", Columns: columns},
			Answer:  Answer{Cardinality: counts},
		},
	}
}
