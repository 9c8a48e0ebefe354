package live

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/internal/exam"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// aggregatesFold compares measures over all rows and over groups with the rows: each column as a key,
// those first whose values a careless key would merge, each measure of each column, groups of what a filter
// keeps, and groups by two columns whose values a careless key of both would merge.
func aggregatesFold(p *liveRun, t *wire.Table, data *oracle.Table) (list []*wire.AggregateRequest) {
	counts, distinct := measures(t, data, wire.AggCount), measures(t, data, wire.AggCountDistinct)
	numbers := slices.Concat(measures(t, data, wire.AggSum), measures(t, data, wire.AggMin, wire.AggMax))
	folds := slices.Collect(slices.Chunk(slices.Concat(counts, distinct, numbers), maxMeasures))
	numbers = append(numbers, distinct...)
	// All measures of each key: which of two values is the least, and whether a sum is
	// exact, shows in small groups, and each key makes others.
	most := slices.Concat(counts[:1], firstOf(numbers, maxMeasures-1))
	var further []*wire.AggregateRequest
	for i, name := range groupable(t, data) {
		req := aggregate(t, []wire.GroupKey{{Field: name, As: "Key"}}, most)
		if i == 0 {
			for _, filters := range p.beforeGroups(t, data, name) {
				filtered := *req
				filtered.And = filters
				list = append(list, &filtered)
			}
		}
		list = append(list, req)
	}
	for i, some := range folds {
		list = slices.Insert(list, min(3*i, len(list)), aggregate(t, nil, some)) // what is declined here is left out of groups
	}
	if field, values := p.ascending(t, data); len(values) > 0 && !values[0].IsNull() && p.Document.Declares(wire.OpLt) {
		over := aggregate(t, nil, most)
		over.And = []wire.Filter{{Field: field, Op: wire.OpLt, Value: values[0]}}
		further = append(further, over) // of no rows there is a count, and no sum
	}
	divided := dividing(t, data)
	for i, pair := range exam.TellingPairs(data, firstOf(divided, maxPaired), wire.AggregateLimit-1, maxPairs) {
		two := []wire.GroupKey{{Field: pair[0], As: "Key"}, {Field: pair[1], As: "Key2"}}
		if req := aggregate(t, two, counts[:1]); i == 0 {
			list = slices.Insert(list, min(firstPair, len(list)), req)
		} else {
			further = append(further, req)
		}
	}
	if pair, some := exam.JoinedAlike(data, divided, wire.AggregateLimit-1); some != nil && p.Document.Declares(wire.OpIn) &&
		terms.Allowed(t.Field(pair[0]).Filterable) {
		req := aggregate(t, []wire.GroupKey{{Field: pair[0], As: "Key"}, {Field: pair[1], As: "Key2"}}, counts[:1])
		req.And = []wire.Filter{{Field: pair[0], Op: wire.OpIn, Values: some}}
		list = slices.Insert(list, min(firstPair, len(list)), req)
	}
	return append(list, further...)
}

// How many columns of a table are paired to be keys of a group, how many pairs are asked for, and which of the
// questions about the table is the first of them.
const (
	maxPaired = 8
	maxPairs  = 3
	firstPair = 4
)

// beforeGroups returns filters to be asked for before groups of a column: one of a value of the column,
// which leaves its other groups empty, so that they are not answered, and a selective one.
func (p *liveRun) beforeGroups(t *wire.Table, data *oracle.Table, name string) (list [][]wire.Filter) {
	for _, op := range []wire.Op{wire.OpEq, wire.OpIn, wire.OpNeq} {
		if f, ok := p.filter(data, data.Index(name), op); ok && p.Document.Declares(op) && terms.Allowed(t.Field(name).Filterable) {
			list = append(list, []wire.Filter{f})
			break
		}
	}
	if filters := p.selectiveFilter(t, data); filters != nil {
		list = append(list, filters)
	}
	return list
}

// periodsFold compares the groups of all grains over all dates with the rows, years also beside further measures, behind
// a key that is no date, and before the months of the same date. Days come first where there are instants before 1970.
func periodsFold(_ *liveRun, t *wire.Table, data *oracle.Table) (list []*wire.AggregateRequest) {
	few := dividing(t, data)
	further := slices.Concat(countOfRows, firstOf(measures(t, data, wire.AggMax, wire.AggMin, wire.AggSum), maxMeasures-1))
	for _, grain := range []wire.Grain{wire.GrainQuarter, wire.GrainMonth, wire.GrainYear, wire.GrainDay} {
		for i, f := range t.Fields {
			if !terms.Allowed(f.Groupable) || !terms.IsTime(f.Type) {
				continue
			}
			key := wire.GroupKey{Field: f.Name, As: "Key", Grain: grain}
			if grain != wire.GrainYear {
				req := aggregate(t, []wire.GroupKey{key}, countOfRows)
				// Before 1970 seconds are negative, and rounded the other way.
				early := func(row []wire.Value) bool { return !row[i].IsNull() && row[i].String() < "1970" }
				if grain == wire.GrainDay && slices.ContainsFunc(data.Rows, early) {
					list = slices.Insert(list, 0, req)
				} else {
					list = append(list, req)
				}
				continue
			}
			month := wire.GroupKey{Field: f.Name, As: "Month", Grain: wire.GrainMonth}
			list = append(list, aggregate(t, []wire.GroupKey{key}, further), aggregate(t, []wire.GroupKey{key, month}, countOfRows))
			if at := slices.IndexFunc(few, func(name string) bool { return name != f.Name }); at >= 0 {
				list = append(list, aggregate(t, []wire.GroupKey{{Field: few[at], As: "Before"}, key}, countOfRows))
			}
		}
	}
	return list
}

// countAlias is the name of the count of rows. Names have capitals, because some connectors lose them.
const countAlias = "rowCount"

// countOfRows is the measure that every route can be compared with.
var countOfRows = []wire.Measure{{Fn: wire.AggCount, As: countAlias}}

// aggregate returns the request for measures of groups. Texts are to be grouped and
// compared by their bytes [rule aggregate-5].
func aggregate(t *wire.Table, groups []wire.GroupKey, measures []wire.Measure) *wire.AggregateRequest {
	req := &wire.AggregateRequest{Table: t.Name, GroupBy: groups, Measures: measures, Limit: wire.AggregateLimit}
	text := func(name string) {
		f := t.Field(name)
		if f != nil && terms.IsText(f.Type) && !slices.Contains(req.StringFields, name) {
			req.StringFields = append(req.StringFields, name)
		}
	}
	for _, g := range groups {
		text(g.Field)
	}
	for _, m := range measures {
		text(m.Field)
	}
	return req
}

func firstOf[T any](list []T, n int) []T { return list[:min(len(list), n)] }

// folding returns the plan that asks for aggregates. They are chosen by the first rows of a table.
func folding(choose func(*liveRun, *wire.Table, *oracle.Table) []*wire.AggregateRequest) plan {
	return func(p *liveRun, t *wire.Table, data *oracle.Table) (list []question) {
		for _, req := range choose(p, t, firstRows(data, chosenBy)) {
			if len(req.GroupBy)+len(req.Measures) > 0 {
				list = append(list, p.asking(wire.PathAggregate, req, describeAggregate(t, req), []*wire.Table{t}))
			}
		}
		return list
	}
}

// parts divides measures into those of the same function over the same type, which a
// source declines together, or else into single ones.
func parts(t *wire.Table, all []wire.Measure) (list [][]wire.Measure) {
	kind := func(m wire.Measure) string {
		if f := t.Field(m.Field); f != nil {
			return string(m.Fn) + " " + string(f.Type)
		}
		return string(m.Fn)
	}
	if list = groupedBy(all, kind); len(list) > 1 {
		return list
	}
	return slices.Collect(slices.Chunk(all, 1))
}

// groupsNotCut asks for more groups than an aggregate may answer: of columns, of days, and of two columns.
func groupsNotCut(p *liveRun, t *wire.Table, data *oracle.Table) (list []question) {
	if len(data.Rows) < wire.AggregateLimit {
		return nil
	}
	var keys [][]wire.GroupKey
	for i, f := range t.Fields {
		if !terms.Allowed(f.Groupable) || !exam.OrderSettled(data, i) || terms.IsDocument(f.Type) {
			continue
		}
		keys = append(keys, []wire.GroupKey{{Field: f.Name, As: "Key"}})
		if declared.Needs(wire.PathAggregate, "dateBucket")(p.Document) == "" && terms.IsTime(f.Type) {
			keys = append(keys, []wire.GroupKey{{Field: f.Name, As: "Key", Grain: wire.GrainDay}})
		}
	}
	if few := dividing(t, data); len(few) > 1 {
		keys = append(keys, []wire.GroupKey{{Field: few[0], As: "Key"}, {Field: few[1], As: "Key2"}})
	}
	for _, key := range keys {
		req := aggregate(t, key, countOfRows)
		list = append(list, about(t, 1, func(rows *oracle.Table) *check.Finding { return p.notCut(t, req, rows) }))
	}
	return list
}

// notCut judges the answer to an aggregate with more groups than its limit allows. It is
// refused or declined; some of the groups are never answered for all.
func (p *liveRun) notCut(t *wire.Table, req *wire.AggregateRequest, rows *oracle.Table) *check.Finding {
	right, err := oracle.Aggregate(oracle.Tables{t.Name: rows}, req)
	if err != nil || int64(len(right.Rows)) < req.Limit {
		return nil
	}
	a := p.post(wire.PathAggregate, req)
	p.Cases++
	if a.Declined() || a.Refusal() != nil && a.Status < http.StatusInternalServerError {
		return nil
	}
	what := describeAggregate(t, req)
	answer, f := a.Decode()
	if f != nil {
		return f.In("%s: %s", what)
	}
	// Values of different spelling may be groups of their own.
	if n, groups := len(right.Rows), len(answer.(*wire.AggregateAnswer).Rows); groups < n {
		return check.Differs(fmt.Sprintf("422 or 204, because there are %d groups", n), fmt.Sprintf("%d groups", groups),
			"%s: the groups are cut", what)
	}
	return nil
}

// describeAggregate names a table, the keys and a few of the measures of an aggregate in a finding. What is
// wrong stands behind it, and has to be read before the text is cut.
func describeAggregate(t *wire.Table, req *wire.AggregateRequest) string {
	text := ofTable(t)
	for i, g := range req.GroupBy {
		text += []string{" by ", " and "}[min(i, 1)] + terms.QuoteName(g.Field)
		if g.Grain != "" {
			text += " (" + string(g.Grain) + ")"
		}
	}
	if len(req.Measures) > fewMeasures {
		return fmt.Sprintf("%s: %d measures", text, len(req.Measures))
	}
	for i, m := range req.Measures {
		text += []string{": ", ", "}[min(i, 1)] + string(m.Fn)
		if m.Field != "" {
			text += " of " + terms.QuoteName(m.Field)
		}
	}
	return text
}

const fewMeasures = 3

const maxMeasures = 24

// measures returns the measures of some functions that have an exact answer over a
// table, after a count of its rows if that is one of them.
func measures(t *wire.Table, data *oracle.Table, fns ...wire.AggFunc) (list []wire.Measure) {
	if slices.Contains(fns, wire.AggCount) {
		list = append(list, wire.Measure{Fn: wire.AggCount, As: countAlias})
	}
	for i, f := range t.Fields {
		for _, fn := range fns {
			if !terms.Allowed(f.Aggregatable) || !exam.OrderSettled(data, i) {
				continue
			}
			m := wire.Measure{Fn: fn, Field: f.Name, As: fmt.Sprintf("%s_%d", fn, i)}
			if _, err := oracle.Aggregate(oracle.Tables{t.Name: data}, aggregate(t, nil, []wire.Measure{m})); err == nil {
				list = append(list, m)
			}
		}
	}
	return list
}

// groupable returns the columns by which a table has several groups, and not too many, those first whose
// values a careless key would merge.
func groupable(t *wire.Table, data *oracle.Table) (names []string) {
	points := map[string]int{}
	for i, f := range t.Fields {
		if !terms.Allowed(f.Groupable) || !exam.OrderSettled(data, i) || terms.IsDocument(f.Type) {
			continue
		}
		c, err := oracle.Cardinality(data, f.Name)
		if points[f.Name] = exam.GroupTells(data, i); err == nil && points[f.Name] > 0 && c.Distinct < wire.AggregateLimit-1 {
			names = append(names, f.Name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return points[b] - points[a] })
	return names
}

// dividing returns the columns that divide a table into a few groups of several rows, as far as its first rows show.
func dividing(t *wire.Table, data *oracle.Table) []string {
	return slices.DeleteFunc(groupable(t, data), func(name string) bool {
		c, err := oracle.Cardinality(data, name)
		return err != nil || c.Distinct >= wire.AggregateLimit/2 || int(c.Distinct) >= len(data.Rows) || c.Distinct < 2
	})
}
