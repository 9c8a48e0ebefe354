package live

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/phrase"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/shrink"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// joinsHold compares joins along links, in both directions and over two hops, with joining the rows of whole reads.
// Each join is asked for once before any is asked for in another way.
func joinsHold(p *liveRun, t *wire.Table, data *oracle.Table) (list []question) {
	joins := p.joined(t)
	ways := make([][]func() *wire.QueryRequest, len(joins))
	for i, j := range joins {
		ways[i] = p.joinWays(t, data, j)
	}
	for round := range maxJoinWays {
		for i, j := range joins {
			if round < len(ways[i]) {
				way := sync.OnceValue(ways[i][round]) // asked again, it is the same
				list = append(list, question{tables: j.tables, requests: 1, judge: func(rows known) *check.Finding {
					req := way()
					refusals := j.refusals()
					if len(req.Joins[0].Fields) == 0 { // the protocol does not say that every connector must take it
						refusals = []int{http.StatusBadRequest, http.StatusUnprocessableEntity}
					}
					return p.asking(wire.PathQuery, req, j.String()+describeFilters(req.Where), j.tables, refusals...).judge(rows)
				}})
			}
		}
	}
	return list
}

// maxJoinWays limits the ways in which one join is asked for.
const maxJoinWays = 4

// joinWays returns the ways in which a join is asked for: over two hops without the columns that join them and with few of
// the table's own, so that rows repeat, and with a filter, often as a group of or, which code of its own for joins forgets;
// whole; as a window of sorted rows, which comes first where a row has several matches; and filtered, in an order by a column
// that is not asked for and, where a row has several matches, without a field of the hop. A request is made when it is asked,
// so that what is asked has the operators in turn.
func (p *liveRun) joinWays(t *wire.Table, data *oracle.Table, j join) []func() *wire.QueryRequest {
	by := p.dividing(t, data)
	var sort []wire.SortKey
	if by >= 0 && p.Document.SortKeys() > 0 {
		sort = []wire.SortKey{{Field: t.Fields[by].Name, Dir: wire.Desc}}
	}
	few := func(filters []wire.Filter) []string {
		fields := []string{t.Fields[by].Name}
		if len(filters) > 0 && filters[0].Field != fields[0] {
			fields = append(fields, filters[0].Field) // the platform may have to filter by it
		}
		return fields
	}
	plain := func() *wire.QueryRequest { return j.request(t) }
	narrow := func() *wire.QueryRequest {
		req := j.request(t)
		req.Joins = withoutKeys(j.hops)
		filters, onNulls := p.filterInTurn(t, data)
		if p.filtered++; onNulls && p.filtered%3 != 1 {
			req.And = filters
		} else if filters != nil {
			req.Or = [][]wire.Filter{filters}
		}
		if by >= 0 {
			req.Fields = few(filters)
		}
		return req
	}
	windowed := func() *wire.QueryRequest {
		req := j.request(t)
		req.Sort, req.Limit, req.Offset = sort, int64(p.page(len(data.Rows)/2+1)), int64(len(data.Rows)/4)
		if !p.Document.Allows(req) {
			req.Offset = 0
		}
		return req
	}
	filtered := func() *wire.QueryRequest {
		req := j.request(t)
		req.Sort = sort
		req.And, _ = p.filterInTurn(t, data)
		req.Fields = few(req.And)
		other := func(f wire.Field) bool { return !slices.Contains(req.Fields, f.Name) }
		if i := slices.IndexFunc(t.Fields, other); i >= 0 && sort != nil && len(req.Fields) > 1 {
			req.Fields[0] = t.Fields[i].Name
		}
		if j.back {
			req.Joins = []wire.JoinHop{j.hops[0]}
			req.Joins[0].Fields = []wire.JoinField{}
		}
		return req
	}
	ways := []func() *wire.QueryRequest{plain}
	if len(j.hops) > 1 {
		ways = slices.Insert(ways, 0, narrow)
	}
	if by < 0 {
		return ways
	}
	if sort != nil && j.back {
		ways = slices.Insert(ways, 0, windowed)
	} else if sort != nil {
		ways = append(ways, windowed)
	}
	return append(ways, filtered)
}

// filterInTurn returns a filter that keeps some rows of a table and drops some: of the operators in turn, on a column
// with nulls, if the table has one.
func (p *liveRun) filterInTurn(t *wire.Table, data *oracle.Table) (filters []wire.Filter, onNulls bool) {
	plan := p.filterPlan()
	if p.onNulls == nil {
		p.onNulls = plan.OnNulls()
	}
	for _, s := range plan.subjects {
		if s.Table.Name == t.Name {
			if _, f, ok := p.onNulls.Next(s); ok {
				return []wire.Filter{f}, true
			}
		}
	}
	return p.selectiveFilter(t, data), false
}

// withoutKeys returns hops that do not answer the columns by which they are joined.
func withoutKeys(hops []wire.JoinHop) []wire.JoinHop {
	list := slices.Clone(hops)
	for i := range list {
		list[i].Fields = slices.DeleteFunc(slices.Clone(list[i].Fields), func(f wire.JoinField) bool {
			return f.Field == list[i].ToField || i+1 < len(list) && f.Field == list[i+1].FromField
		})
	}
	return list
}

// join is a chain of hops from a table along links.
type join struct {
	hops   []wire.JoinHop
	tables []*wire.Table // the base and those of the hops
	back   bool          // a single hop, against a link: rows have several matches

	declared, texts int // how many hops go along a declared foreign key, and compare texts
}

// plain reports whether the join is a single hop along a declared foreign key, which a connector that joins at all does. Other
// joins it may refuse as unsupported.
func (j join) plain() bool { return len(j.hops) == 1 && j.declared == 1 && !j.back }

// joined returns the joins that begin at a table: along each of its foreign keys, back along those that
// lead to it, over columns that both have nulls, over two hops and three, over two of which the second leads back, and along
// two of its foreign keys, to two tables and to one.
func (p *liveRun) joined(base *wire.Table) []join {
	var single, back, nulls, chains, forks, returns, long, twins []join
	add := func(kind *[]join, links ...link) {
		j := join{tables: []*wire.Table{base}, back: kind == &back}
		for i, l := range links {
			j.hops, j.tables = append(j.hops, hop(l, i+1)), append(j.tables, l.to)
			if l.declared {
				j.declared++
			}
			if terms.IsText(l.from.Field(l.fromField).Type) {
				j.texts++
			}
		}
		*kind = append(*kind, j)
	}
	for _, first := range p.joinable(base) {
		add(&single, first)
		if first.to == base { // a hop from a table that is reached twice is ambiguous
			continue
		}
		for _, second := range p.joinable(first.to) {
			add(&chains, first, second)
			if second.to == base || second.to == first.to {
				continue
			}
			for _, third := range p.joinable(second.to) {
				if third.to != base && third.to != first.to && third.to != second.to {
					add(&long, first, second, third)
				}
			}
		}
		for _, second := range p.joinable(base) {
			switch {
			case !first.declared || !second.declared || second.to == base:
			case first.to != second.to:
				add(&forks, first, second)
			case first.fromField != second.fromField && twins == nil:
				add(&twins, first, second)
			}
		}
		for _, second := range p.leadingTo(first.to) {
			if second.declared && second.from != base && second.from != first.to {
				add(&returns, first, second.reverse())
			}
		}
	}
	for _, l := range p.leadingTo(base) {
		add(&back, l.reverse())
	}
	if p.overNulls < maxOverNulls {
		if l, ok := p.nullsOnBothSides(base); ok {
			add(&nulls, l)
			p.overNulls++
		}
	}
	// One of each kind comes early, because the requests may not suffice for all, and between them the other declared keys: of
	// chains one that begins a later hop at a column whose name the base table has too, if need be over three hops, of all kinds
	// one along declared keys and over texts, which are compared in more ways than numbers.
	rank := func(a, b join) int {
		return cmp.Or(b.namesakes(base)-a.namesakes(base), cmp.Compare(b.declared, a.declared), cmp.Compare(b.texts, a.texts))
	}
	for _, kind := range [][]join{single, back, nulls, chains, forks, returns, long, twins} {
		slices.SortStableFunc(kind, rank)
	}
	if len(long) > 0 && long[0].namesakes(base) > 0 && chains[0].namesakes(base) == 0 {
		chains, long = long, chains
	}
	var early, late []join
	for i, kind := range [][]join{back, nulls, chains, forks, returns, long, twins} {
		if len(single) > 0 && (i == 0 || single[0].plain()) {
			early, single = append(early, single[0]), single[1:]
		}
		first := min(1, len(kind))
		early, late = append(early, kind[:first]...), append(late, kind[first:]...)
	}
	late = append(single, late...)
	list := append(early, late...)
	return list[:min(len(list), maxJoins)]
}

// maxOverNulls limits the tables that are joined over columns with nulls, so that declared keys have their turn.
const maxOverNulls = 3

// mostWithNulls limits the rows of a join over columns that both have nulls, also if their nulls matched.
const mostWithNulls = 5000

// nullsOnBothSides returns the pair of a column of a table and one of another, both with nulls, whose join has the fewest rows. Keys
// have no nulls, so that joins along links do not show whether a connector lets null match null.
func (p *liveRun) nullsOnBothSides(base *wire.Table) (best link, ok bool) {
	fewest := mostWithNulls + 1
	from := p.withNulls(base)
	for _, to := range p.held(1) {
		if to == base || len(from) == 0 {
			continue
		}
		for _, there := range p.withNulls(to) {
			for _, here := range from {
				joined := 0
				for v, n := range here.times {
					joined += n * max(1, there.times[v])
				}
				l := link{from: base, to: to, fromField: here.name, toField: there.name}
				if joined < fewest && joinable(l) {
					best, fewest, ok = l, joined, true
				}
			}
		}
	}
	return best, ok
}

// timesOf is a column with how many rows have each of its values, and null.
type timesOf struct {
	name  string
	times map[wire.Value]int
}

// withNulls returns the columns of a table that have nulls.
func (p *liveRun) withNulls(t *wire.Table) (columns []timesOf) {
	for i, f := range t.Fields {
		times := map[wire.Value]int{}
		for _, row := range p.Snapshot(t).Rows {
			times[row[i]]++
		}
		if times[wire.Null()] > 0 {
			columns = append(columns, timesOf{f.Name, times})
		}
	}
	return columns
}

// namesakes counts the later hops that begin at a column whose name the base table has too.
func (j join) namesakes(base *wire.Table) (n int) {
	for _, h := range j.hops[1:] {
		if h.FromTable != base.Name && base.Field(h.FromField) != nil {
			n++
		}
	}
	return n
}

// joinable returns the links that begin at a table and whose columns all engines compare alike.
func (p *liveRun) joinable(from *wire.Table) []link {
	return slices.DeleteFunc(slices.Clone(p.links(from)), func(l link) bool { return !joinable(l) })
}

// leadingTo returns the links that lead to a table, from tables that were read whole.
func (p *liveRun) leadingTo(to *wire.Table) (list []link) {
	for _, from := range p.discovery.Readable() {
		for _, l := range p.joinable(from) {
			if l.to == to && p.Snapshot(from).Table != nil {
				list = append(list, l)
			}
		}
	}
	return list
}

// maxJoins limits the joins that begin at one table.
const maxJoins = 12

// joinable reports whether all engines compare the two columns of a link alike.
func joinable(l link) bool {
	from, to := l.from.Field(l.fromField).Type, l.to.Field(l.toField).Type
	return from == to && !terms.IsTime(from) || from.Numeric() && to.Numeric() || terms.IsText(from) && terms.IsText(to)
}

// hop returns the hop along a link, with all fields of its table under names of their own.
func hop(l link, n int) wire.JoinHop {
	h := wire.JoinHop{FromTable: l.from.Name, ToTable: l.to.Name, FromField: l.fromField, ToField: l.toField}
	for i, f := range l.to.Fields {
		h.Fields = append(h.Fields, wire.JoinField{Field: f.Name, As: fmt.Sprintf("Hop%d_%d", n, i), Type: f.Type})
	}
	return h
}

// request returns the query for all rows of a join with all their columns.
func (j join) request(base *wire.Table) *wire.QueryRequest {
	req := declared.AllRows(base)
	req.Joins = j.hops
	return req
}

// refusals returns the status by which a connector may refuse the join.
func (j join) refusals() []int {
	if j.plain() {
		return nil
	}
	return []int{http.StatusUnprocessableEntity}
}

func (j join) String() string { return describeHops(j.hops) }

func describeHops(hops []wire.JoinHop) string {
	text := ""
	for _, h := range hops {
		text += fmt.Sprintf(", %s.%s joined to %s.%s",
			terms.QuoteName(h.FromTable), terms.QuoteName(h.FromField), terms.QuoteName(h.ToTable), terms.QuoteName(h.ToField))
	}
	return text[len(", "):]
}

// smallestJoin returns the finding about the smallest join found that is still answered wrongly. It names the columns
// of the hops that are left in it.
func (p *liveRun) smallestJoin(
	req *wire.QueryRequest, base *wire.Table, tables oracle.Tables, d *oracle.Difference,
) *check.Finding {
	last := p.Last
	shape := shrink.Table{Columns: base.Columns(), Key: base.PrimaryKey}
	small := shrink.Request(p.Ctx, req, shape, func(m wire.Request) bool {
		smaller := m.(*wire.QueryRequest)
		if len(smaller.Joins) == 0 || !p.mayAskWindows(1) {
			return false // other checks are about queries without a join
		}
		_, rows, f := p.ask(base, smaller)
		if f != nil || rows == nil {
			return false
		}
		still := oracle.Verify(tables, smaller, rows.Rows)
		if still != nil {
			d, last = still, p.Last
		}
		return still != nil
	}).(*wire.QueryRequest)
	var names []string
	for _, h := range small.Joins {
		for _, f := range h.Fields {
			names = append(names, fmt.Sprintf("%s is %s.%s", f.As, terms.QuoteName(h.ToTable), terms.QuoteName(f.Field)))
		}
	}
	what := describeHops(small.Joins) + describeFilters(small.Where) + ": " + d.Detail
	if len(names) > 0 {
		what += " (" + phrase.Some(names, maxNamed) + ")"
	}
	return check.Differs(d.Expected, d.Received, "%s", what).From(last)
}

// maxNamed is how many columns a finding names.
const maxNamed = 6

// joinsFold compares aggregates over joins with folding the joined rows: every function over the numbers of the base
// table, which a row with several matches repeats, and of the last one, which several rows may have in common; the same
// by a column of the last one, where the rows without a match are the group of null; and the number of rows, but for the
// first of all with a filter. Each join is asked for once, in ways by turns, before any is asked for in another way.
func joinsFold(p *liveRun, t *wire.Table, data *oracle.Table) (list []question) {
	var ways [][]question
	for i, j := range p.joined(t) {
		turn := i + p.filtered
		counted := j.aggregate(t, countOfRows)
		if turn > 0 {
			counted.And, _ = p.filterInTurn(t, data)
		}
		what := j.String() + describeFilters(counted.Where) + ": " + describeAggregate(t, counted)
		own := []question{ // the first of all is a count: a source may count what it cannot measure
			p.asking(wire.PathAggregate, counted, what, j.tables, http.StatusUnprocessableEntity), p.joinedMeasures(t, j),
		}
		if last := p.Snapshot(j.last()).Table; last != nil {
			for _, name := range p.joinKeys(j.last(), last) {
				own = append(own, p.joinedMeasures(t, j, last.Index(name)))
			}
		}
		first := turn % len(own)
		ways = append(ways, slices.Concat(own[first:], own[:first]))
	}
	p.filtered++
	for round := range maxJoinWays {
		for _, own := range ways {
			if round < len(own) {
				list = append(list, own[round])
			}
		}
	}
	return list
}

// joinKeys returns a text and another column by which the joins to a table are grouped. Many joins lead to the same one.
func (p *liveRun) joinKeys(t *wire.Table, data *oracle.Table) []string {
	keys, chosen := p.keysOfJoins[data]
	if !chosen {
		isText := func(name string) bool { return terms.IsText(t.Field(name).Type) }
		for _, kind := range groupedBy(groupable(t, firstRows(data, chosenBy)), isText) {
			keys = append(keys, kind[0])
		}
		p.keysOfJoins[data] = keys
	}
	return keys
}

// joinedMeasures returns the question about all measures of a join, by the fields of its last table with these
// indexes, in one request and, where that is declined or has no exact answer, about those of each function.
func (p *liveRun) joinedMeasures(t *wire.Table, j join, by ...int) question {
	all := slices.Clone(countOfRows)
	add := func(field string, f *wire.Field, fns ...wire.AggFunc) {
		if !f.Type.Numeric() || !terms.Allowed(f.Aggregatable) {
			return
		}
		for _, fn := range fns {
			all = append(all, wire.Measure{Fn: fn, Field: field, As: string(fn) + "_of_" + field})
		}
	}
	for i := range j.last().Fields {
		add(j.lastField(i), &j.last().Fields[i], wire.AggSum, wire.AggCount, wire.AggCountDistinct, wire.AggMin, wire.AggMax)
	}
	for i := range t.Fields {
		add(t.Fields[i].Name, &t.Fields[i], wire.AggSum, wire.AggCount)
	}
	all = firstOf(all, maxMeasures)
	ask := func(rows known, measures []wire.Measure) (answered bool, f *check.Finding) {
		req := j.aggregate(t, measures)
		for _, i := range by {
			req.GroupBy = append(req.GroupBy, wire.GroupKey{Field: j.lastField(i), As: "Key"})
			if terms.IsText(j.last().Fields[i].Type) {
				req.StringFields = append(req.StringFields, j.lastField(i))
			}
		}
		return p.compareGroups(req, j.String()+": "+describeAggregate(t, req), t, rows.Tables,
			[]int{http.StatusUnprocessableEntity}, false)
	}
	return question{tables: j.tables, requests: 1, judge: func(rows known) *check.Finding {
		answered, f := ask(rows, all)
		if f == nil && !answered {
			for _, part := range groupedBy(all, func(m wire.Measure) string { return string(m.Fn) }) {
				if _, f = ask(rows, part); f != nil || !p.mayRead(1) {
					return f
				}
			}
		}
		return f
	}}
}

// last returns the table that the last hop leads to.
func (j join) last() *wire.Table { return j.tables[len(j.tables)-1] }

// lastField returns the name of a field of that table in the joined rows.
func (j join) lastField(i int) string { return fmt.Sprintf("Hop%d_%d", len(j.hops), i) }

// aggregate returns the request for measures of the joined rows.
func (j join) aggregate(base *wire.Table, measures []wire.Measure) *wire.AggregateRequest {
	req := aggregate(base, nil, measures)
	req.Joins = j.hops
	return req
}

// maxDeclined is how many aggregates over joins may be declined before no more are asked for.
const maxDeclined = 6
