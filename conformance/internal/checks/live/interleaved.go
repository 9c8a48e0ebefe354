package live

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/compare"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/payload"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/routes"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// everyPartCounts asks two requests in turns that differ in one part. What a connector has kept without
// that part, and a cursor that it reads on from where it stands, then answers the other request. It also asks for all
// rows after what may leave something behind.
func everyPartCounts(p *liveRun) *check.Finding {
	paged, held := p.pagedTables(), len(p.held(fewRowsInTurns))
	tables, asked := 0, map[string]bool{}
	countDue, foldDue := true, true // one table is still to be counted, and one measured, with every filter
	return inTurn(fewRowsInTurns, func(p *liveRun, t *wire.Table, data *oracle.Table) (list []question) {
		var lists []question
		wheres := p.twoWheres(t, data)
		if i := slices.IndexFunc(paged, func(o pagedTable) bool { return o.Table == t }); i >= 0 && p.Document.Capabilities.Offset {
			lists = p.listsInTurns(paged[i], data, wheres)
		}
		counts, groups := p.numbersInTurns(t, wheres)
		after := p.leftBehind(t, data, lists != nil, wheres)
		var firsts []question
		first := func(share int, questions ...question) bool { // unless they take more than this share of what may be asked
			if len(questions) == 0 {
				return false
			}
			q := series(questions...)
			may := p.Allowance() >= share*q.requests
			if may {
				firsts = slices.Insert(firsts, 0, q)
			}
			return may
		}
		// Of the last tables one is counted with every filter in turn, and one measured: a key of what is kept mostly lacks one
		// part, and few requests reach few questions of each table. The first tables have more that comes before.
		allCounts, allGroups := p.filteredInTurns(t, "filter", distinct(wheres)...)
		left := held - tables // with this one
		if countDue && left <= 2 && first(2, allCounts...) {
			countDue, counts = false, nil
		}
		if foldDue && (left == 1 || left == 2 && countDue) && first(2, allGroups...) {
			foldDue, groups = false, nil
		}
		for n := range max(len(after), len(lists), len(counts), len(groups)) {
			for _, kind := range [][]question{after, lists, counts, groups} {
				if n < len(kind) {
					list = append(list, kind[(n+tables)%len(kind)])
				}
			}
		}
		if len(list) > 0 { // other tables begin elsewhere, so that together they come to all kinds and parts
			begin := tables * max(1, len(list)/held) % len(list)
			list = slices.Concat(list[begin:], list[:begin])
		}
		for _, w := range p.farWheres(t, data) {
			counts, groups := p.filteredInTurns(t, w.part, w.of[:]...)
			if numbers := slices.Concat(counts, groups); !asked[w.part] && len(numbers) > 0 {
				first(4, numbers...)
				asked[w.part] = true
			}
		}
		if tables < 2 {
			first(4, p.underOwnNames(t)...)
		}
		if tables == 0 {
			first(4, p.timingOut(t)...)
		}
		tables++
		return slices.Concat(firsts, list)
	})(p)
}

// fewRowsInTurns is how many rows a table needs.
const fewRowsInTurns = 8

// inTurns returns the question about requests to a route, one after the other, of which each differs from
// the next in one part or, if it is a page, in that part and its offset.
func (p *liveRun) inTurns(t *wire.Table, path, part string, requests ...wire.Request) question {
	var list []question
	for _, m := range requests {
		what := ofTable(t)
		switch m := m.(type) {
		case *wire.QueryRequest:
			page := m.Offset/m.Limit + 1
			what += fmt.Sprintf(": page %d of %d rows sorted by %s%s", page, m.Limit, describeSort(m.Sort), describeFilters(m.Where))
		case *wire.CountRequest:
			what += ": the count" + describeFilters(m.Where)
		case *wire.AggregateRequest:
			what = describeAggregate(t, m)
		}
		list = append(list, p.asking(path, m, what+", asked in turns with another "+part, []*wire.Table{t}))
	}
	return series(list...)
}

// listsInTurns returns questions about the first two pages of two lists of a table, for each part of a query
// in which they can differ.
func (p *liveRun) listsInTurns(t pagedTable, data *oracle.Table, wheres []twoWheres) (list []question) {
	first := declared.AllRows(t.Table)
	first.Sort, first.Limit = t.sort, int64(min(len(data.Rows)/4, 7))
	half := func(where wire.Where) int64 {
		n, err := oracle.Count(oracle.Tables{t.Name: data}, &wire.CountRequest{Table: t.Name, Where: where})
		if err != nil {
			return first.Limit
		}
		return max(n/2, 1)
	}
	differing := func(part string, change func(a, b *wire.QueryRequest)) {
		a, b := *first, *first
		change(&a, &b)
		if a.HasFilters() || b.HasFilters() { // so that the second pages are not both empty
			a.Limit = min(first.Limit, half(a.Where), half(b.Where))
			b.Limit = a.Limit
		}
		var pages []wire.Request
		for page := range int64(2) {
			for _, req := range []wire.QueryRequest{a, b} {
				if req.Offset = page * req.Limit; !p.Document.Allows(&req) {
					break
				}
				pages = append(pages, &req)
			}
		}
		list = append(list, p.inTurns(t.Table, wire.PathQuery, part, pages...))
	}
	differing("direction", func(_, b *wire.QueryRequest) {
		b.Sort = slices.Clone(t.sort)
		b.Sort[0].Dir = wire.Desc
	})
	for i, w := range wheres {
		differing(w.part, func(a, b *wire.QueryRequest) { a.Where, b.Where = w.of[0], w.of[1] })
		if i == 0 {
			differing("filter", func(a, _ *wire.QueryRequest) { a.Where = w.of[0] })
		}
	}
	if t.ties != nil {
		differing("sort", func(_, b *wire.QueryRequest) { b.Sort = slices.Concat(t.ties, t.sort) })
	}
	if n := len(first.Fields); n > 1 {
		differing("choice of columns", func(a, b *wire.QueryRequest) { a.Fields, b.Fields = first.Fields[:n/2], first.Fields[n/2:] })
	}
	differing("size", func(_, b *wire.QueryRequest) { b.Limit++ })
	return list
}

// leftBehind returns questions about a table right after another request, which may have left something to the
// next: a page its window, groups of or these, and one that is refused for a later filter the filters before that, be it
// for the column, which is looked up late, or for the operator, which is read early.
func (p *liveRun) leftBehind(t *wire.Table, data *oracle.Table, pages bool, wheres []twoWheres) (list []question) {
	of := []*wire.Table{t}
	whole := func(after string) question {
		return p.asking(wire.PathQuery, declared.AllRows(t), ofTable(t)+", read whole right after "+after, of)
	}
	behind := func(path string, m wire.Request, next question) {
		list = append(list, series(question{tables: of, requests: 1, judge: func(known) *check.Finding {
			p.post(path, m)
			return nil
		}}, next))
	}
	if pages {
		page := declared.AllRows(t)
		page.Limit = int64(len(data.Rows) / 3)
		page.Offset = page.Limit
		behind(wire.PathQuery, page, whole("a page of it"))
	}
	at := slices.IndexFunc(t.Fields, func(f wire.Field) bool { return terms.IsTime(f.Type) && terms.Allowed(f.Groupable) })
	if at >= 0 && declared.Needs(wire.PathAggregate, "dateBucket")(p.Document) == "" {
		days := []wire.GroupKey{{Field: t.Fields[at].Name, As: "Key", Grain: wire.GrainDay}}
		behind(wire.PathAggregate, aggregate(t, days, countOfRows), whole("groups by day"))
	}
	if len(wheres) > 0 {
		is := wheres[0].of[0].And[0]
		for _, second := range []struct {
			part   string
			filter wire.Filter
		}{
			{"field", filterOf(payload.UnusedField, wire.OpEq, wire.Text(""))},
			{"operator", filterOf(is.Field, "like", wire.Text(""))},
		} {
			refused, why := and(is, second.filter), "that is refused for the "+second.part+" of its second filter"
			behind(wire.PathQuery, rowsWith(t, refused), whole("a query "+why))
			if p.Document.Offers(wire.PathCount) {
				count := p.asking(wire.PathCount, &wire.CountRequest{Table: t.Name}, ofTable(t)+": the count right after one "+why, of)
				behind(wire.PathCount, &wire.CountRequest{Table: t.Name, Where: refused}, count)
			}
		}
	}
	if i := slices.IndexFunc(wheres, func(w twoWheres) bool { return len(w.of[0].Or) > 0 }); i >= 0 {
		behind(wire.PathQuery, rowsWith(t, wheres[i].of[0]), whole("a query with a group of or"))
	}
	return list
}

// underOwnNames returns the question about a table after two joins in turns, which answer two columns of another table under a name of
// the table's own that is not asked for. A connector that writes them into the rows that it keeps answers, from then on, those of the
// last join. A single read after a join would not tell that from data that have changed.
func (p *liveRun) underOwnNames(t *wire.Table) []question {
	for _, l := range p.joinable(t) {
		for _, own := range t.Fields {
			joined := hop(l, 1)
			alike := slices.DeleteFunc(slices.Clone(joined.Fields), func(f wire.JoinField) bool { return f.Type != own.Type })
			if !l.declared || len(alike) < 2 || own.Name == l.fromField || slices.Contains(t.PrimaryKey, own.Name) {
				continue
			}
			tables := []*wire.Table{t, l.to}
			what := fmt.Sprintf("%s, of which the last column is named %s", describeHops([]wire.JoinHop{joined}), terms.QuoteName(own.Name))
			var asked []question
			for _, f := range []wire.JoinField{alike[0], alike[len(alike)-1]} {
				req := declared.AllRows(t)
				req.Fields = slices.DeleteFunc(req.Fields, func(name string) bool { return name == own.Name })
				f.As = own.Name
				joined.Fields = []wire.JoinField{f}
				req.Joins = []wire.JoinHop{joined}
				// A connector may take the two columns for two of one name.
				asked = append(asked, p.asking(wire.PathQuery, req, what, tables, http.StatusBadRequest, http.StatusUnprocessableEntity))
			}
			var after [4]*oracle.Table
			return []question{{tables: tables, requests: 2 * len(after), judge: func(rows known) *check.Finding {
				for i := range after {
					if f := asked[i%2].judge(rows); f != nil {
						return f
					}
					_, all, f := p.ask(t, declared.AllRows(t))
					if f != nil || all == nil {
						return f
					}
					after[i] = all
				}
				if compare.SameRows(after[0], after[2]) && compare.SameRows(after[1], after[3]) && !compare.SameRows(after[0], after[1]) {
					return check.Fail("%s, read whole after two joins in turns, is answered with what the last one joined: %s", ofTable(t), what)
				}
				return nil
			}}}
		}
	}
	return nil
}

// timingOut returns the questions about the numbers of a table on each route, right after a request about a larger or smaller one
// that may take a millisecond.
func (p *liveRun) timingOut(t *wire.Table) (parts []question) {
	field := func(t *wire.Table) int {
		return slices.IndexFunc(t.Fields, func(f wire.Field) bool { return terms.Allowed(f.Aggregatable) && !terms.IsDocument(f.Type) })
	}
	rows := len(p.Snapshot(t).Rows)
	held := p.held(1)
	i := slices.IndexFunc(held, func(o *wire.Table) bool { return len(p.Snapshot(o).Rows) != rows && field(o) >= 0 })
	if i < 0 || field(t) < 0 {
		return nil
	}
	other := held[i]
	of := []*wire.Table{t}
	for i := range routes.All {
		r := &routes.All[i]
		if r.Answer == nil || r.Legal == nil || !p.Document.Offers(r.Path) {
			continue
		}
		late, envelope := r.About(other.Name, other.Fields[field(other)].Name)
		envelope.TimeoutMS = 1
		m, _ := r.About(t.Name, t.Fields[field(t)].Name)
		parts = append(parts, question{tables: of, requests: 1, judge: func(known) *check.Finding {
			p.post(r.Path, late)
			return nil
		}}, p.asking(r.Path, m, fmt.Sprintf("%s of %s right after one that may take a millisecond", r.Path, ofTable(t)), of,
			http.StatusNoContent))
	}
	return parts
}

// numbersInTurns returns questions about two numbers of a table each, which differ in their filters or measures.
func (p *liveRun) numbersInTurns(t *wire.Table, wheres []twoWheres) (counts, groups []question) {
	for _, w := range wheres {
		ofOne, groupsOfOne := p.filteredInTurns(t, w.part, w.of[:]...)
		counts, groups = append(counts, ofOne...), append(groups, groupsOfOne...)
	}
	for _, f := range t.Fields {
		if f.Type.Numeric() && terms.Allowed(f.Aggregatable) {
			measure := func(fn wire.AggFunc) []wire.Measure { return []wire.Measure{{Fn: fn, Field: f.Name, As: "Value"}} }
			least, named := aggregate(t, nil, measure(wire.AggMin)), aggregate(t, nil, measure(wire.AggMin))
			named.Measures[0].As = "Least"
			groups = append(groups, p.askedInTurns(t, wire.PathAggregate, "measure", aggregate(t, nil, measure(wire.AggMax)), least)...)
			groups = append(groups, p.askedInTurns(t, wire.PathAggregate, "name of a measure", least, named)...)
			break
		}
	}
	return counts, groups
}

// filteredInTurns returns the question about the counts of rows with one filter after the other, and that about aggregates of them.
func (p *liveRun) filteredInTurns(t *wire.Table, part string, wheres ...wire.Where) (counts, groups []question) {
	var counting, folding []wire.Request
	for _, where := range wheres {
		counting = append(counting, &wire.CountRequest{Table: t.Name, Where: where})
		req := aggregate(t, nil, countOfRows)
		req.Where = where
		folding = append(folding, req)
	}
	return p.askedInTurns(t, wire.PathCount, part, counting...), p.askedInTurns(t, wire.PathAggregate, part, folding...)
}

// askedInTurns returns the question about requests to a route, if there are any and the document has it.
func (p *liveRun) askedInTurns(t *wire.Table, path, part string, requests ...wire.Request) (list []question) {
	if len(requests) > 0 && p.Document.Offers(path) {
		list = append(list, p.inTurns(t, path, part, requests...))
	}
	return list
}

// twoWheres are filters that differ in one part.
type twoWheres struct {
	part string
	of   [2]wire.Where
}

// distinct returns each filter once.
func distinct(pairs []twoWheres) (list []wire.Where) {
	for _, w := range pairs {
		for _, where := range w.of {
			if !slices.ContainsFunc(list, func(known wire.Where) bool { return reflect.DeepEqual(known, where) }) {
				list = append(list, where)
			}
		}
	}
	return list
}

// twoWheres returns filters on a column of a table that keep different rows, and another number of them
// if a column has such values: by other operands, other members of a list, other operators, and by a
// further group of or.
func (p *liveRun) twoWheres(t *wire.Table, data *oracle.Table) (list []twoWheres) {
	columns := p.severalValued(t, data)
	for i, c := range columns {
		values, uneven := p.uneven(data, c.index)
		if !uneven && i < len(columns)-1 {
			continue
		}
		filter := func(op wire.Op, v wire.Value) wire.Filter { return filterOf(c.field().Name, op, v) }
		differing := func(part string, a, b wire.Filter, or ...wire.Filter) {
			if p.Document.Declares(a.Op) && p.Document.Declares(b.Op) {
				w := twoWheres{part, [2]wire.Where{{And: []wire.Filter{a}}, {And: []wire.Filter{b}}}}
				if len(or) > 0 {
					w.of = [2]wire.Where{{Or: [][]wire.Filter{{a}}}, {Or: [][]wire.Filter{{b}, or}}}
				}
				list = append(list, w)
			}
		}
		is, other := filter(wire.OpEq, values[0]), filter(wire.OpEq, values[1])
		differing("operand", is, other)
		differing("list", filter(wire.OpIn, values[0]), filter(wire.OpIn, values[1]))
		differing("group of or", is, is, other)
		if p.Document.Declares(wire.OpEq) {
			list = append(list, twoWheres{"grouping of or", [2]wire.Where{{Or: [][]wire.Filter{{is}, {other}}}, {Or: [][]wire.Filter{{is, other}}}}})
		}
		if all := p.sample(data, c.index, 4); len(all) == 4 {
			differing("member of a list", filterOf(c.field().Name, wire.OpIn, all[0], all[1], all[3]),
				filterOf(c.field().Name, wire.OpIn, all[0], all[2], all[3]))
		}
		differing("operator", is, filter(wire.OpNeq, values[0]))
		return slices.Concat(list, p.otherCase(columns, data), p.joinedMembers(columns, data))
	}
	return nil
}

// severalValued returns columns of a table that have several values, the most telling of each type.
func (p *liveRun) severalValued(t *wire.Table, data *oracle.Table) []column {
	return slices.DeleteFunc(p.columns(t), func(c column) bool {
		return len(p.sample(data, c.index, 2)) < 2 || terms.IsDocument(c.field().Type)
	})
}

// manyFilters is how many filters stand before one that differs.
const manyFilters = 4

// farWheres returns filters that differ far behind where they begin: in the last of several, in the fraction of an instant, and at the
// end of another long operand. Some libraries look at the beginning of a long value only when they hash it, and some connectors at the
// beginning of an operand when they keep what they read of it.
func (p *liveRun) farWheres(t *wire.Table, data *oracle.Table) (list []twoWheres) {
	if !p.Document.Declares(wire.OpEq) {
		return nil
	}
	columns := p.severalValued(t, data)
	equal := func(c column, v wire.Value) wire.Filter { return filterOf(c.field().Name, wire.OpEq, v) }
	differing := func(part string, before []wire.Filter, a, b wire.Filter) {
		with := func(f wire.Filter) wire.Where { return and(slices.Concat(before, []wire.Filter{f})...) }
		w := twoWheres{part, [2]wire.Where{with(a), with(b)}}
		rows := oracle.Tables{t.Name: data}
		one, err := oracle.Count(rows, &wire.CountRequest{Table: t.Name, Where: w.of[0]})
		other, err2 := oracle.Count(rows, &wire.CountRequest{Table: t.Name, Where: w.of[1]})
		if err == nil && err2 == nil && one != other {
			list = append(list, w)
		}
	}
	for _, part := range []string{"end", "fraction"} {
		var longest wire.Filter
		for _, c := range columns {
			if terms.IsTime(c.field().Type) != (part == "fraction") {
				continue
			}
			for _, v := range p.sample(data, c.index, 4) {
				text := v.Text()
				if len(text) > max(longOperand, len(longest.Value.Text())) && (part == "end" || strings.HasSuffix(text, "Z")) {
					longest = equal(c, v)
				}
			}
		}
		if longest.Field != "" {
			other := longest
			other.Value = wire.Text(otherEnd(longest.Value.Text()))
			differing(part+" of its operand", nil, longest, other)
		}
	}
	if last := len(columns) - 1; last > 1 && p.Document.Declares(wire.OpNin) {
		var before []wire.Filter
		for _, c := range columns[:min(last, manyFilters)] {
			before = append(before, filterOf(c.field().Name, wire.OpNin, p.sample(data, c.index, 1)...))
		}
		values, _ := p.uneven(data, columns[last].index)
		differing("last of several filters", before, equal(columns[last], values[0]), equal(columns[last], values[1]))
	}
	return list
}

// longOperand is how long an operand is whose beginning a connector may take for all of it.
const longOperand = 8

// otherEnd returns an operand with another last digit or, if it does not end with one, one digit more; and an instant in UTC with
// another fraction.
func otherEnd(text string) string {
	text, utc := strings.CutSuffix(text, "Z")
	end, last := "", text[len(text)-1]
	switch {
	case utc && !strings.Contains(text, "."):
		end = ".7"
	case '0' <= last && last <= '9':
		text, end = text[:len(text)-1], string('0'+(last-'0'+1)%10)
	default:
		end = "7"
	}
	if utc {
		end += "Z"
	}
	return text + end
}

// otherCase returns filters by a text and by the same in another case, which no row has, if there is such a text.
func (p *liveRun) otherCase(columns []column, data *oracle.Table) []twoWheres {
	for _, c := range columns {
		if c.field().Type != wire.TypeString || !p.Document.Declares(wire.OpEq) {
			continue
		}
		for _, v := range p.sample(data, c.index, 4) {
			changed := strings.ToUpper(v.Text())
			if changed == v.Text() {
				changed = strings.ToLower(changed)
			}
			if changed != v.Text() && !valuesOf(data, c.index)[changed] {
				is, other := filterOf(c.field().Name, wire.OpEq, v), filterOf(c.field().Name, wire.OpEq, wire.Text(changed))
				return []twoWheres{{"case of its operand", [2]wire.Where{and(is), and(other)}}}
			}
		}
	}
	return nil
}

// joinedMembers returns filters by a list and by one text that is its members with commas, which no row has, if there is such a list.
func (p *liveRun) joinedMembers(columns []column, data *oracle.Table) []twoWheres {
	for _, c := range columns {
		members := p.sample(data, c.index, 2)
		one := wire.Text(members[0].String() + "," + members[1].String())
		if terms.IsText(c.field().Type) && p.Document.Declares(wire.OpIn) && !valuesOf(data, c.index)[one.Text()] {
			list, text := filterOf(c.field().Name, wire.OpIn, members...), filterOf(c.field().Name, wire.OpIn, one)
			return []twoWheres{{"comma in a list", [2]wire.Where{and(list), and(text)}}}
		}
	}
	return nil
}

// uneven returns two values of a column, and reports whether one of them has more rows than the other.
func (p *liveRun) uneven(data *oracle.Table, column int) (values []wire.Value, ok bool) {
	const sampled = 12
	values = p.sample(data, column, sampled)
	rows := make([]int, len(values))
	for _, row := range data.Rows {
		for i, v := range values {
			if !row[column].IsNull() && oracle.Same(row[column], v, data.Columns[column].Type) {
				rows[i]++
			}
		}
	}
	for i := range values {
		if rows[i] != rows[0] {
			return []wire.Value{values[0], values[i]}, true
		}
	}
	return values[:2], false
}
