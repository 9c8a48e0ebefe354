package conformance

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"

	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// post sends a measuring request and counts it.
func (l *law) post(path string, m wire.Message) *answer {
	l.requests++
	return l.exam.post(path, m)
}

// sizesExact is L1.
func sizesExact(l *law) {
	for _, t := range l.subjects() {
		if !l.room(1) {
			return
		}
		l.steady(func() {
			data := l.table(t)
			if data == nil {
				return
			}
			var size wire.SizeAnswer
			l.found(l.post(wire.PathSize, &wire.SizeRequest{Table: t.Name}).decode("size-answer", &size))
			if size.Size == nil || !size.Size.Exact {
				return // unknown, or an estimate
			}
			l.cases++
			if n := int64(len(data.Rows)); size.Size.Rows != n {
				l.want(fmt.Sprintf("%d, the rows that /query answers", n), fmt.Sprintf("%d, exact", size.Size.Rows), "table %s: the exact size is not the number of rows", wire.QuoteName(t.Name))
			}
		}, t)
	}
}

// countsRows is L3: without a filter and with one.
func countsRows(l *law) {
	for _, t := range l.subjects() {
		data := l.table(t)
		if data == nil {
			continue
		}
		filters := [][]wire.Filter{nil}
		if f, ok := l.selective(t, data); ok {
			filters = append(filters, []wire.Filter{f})
		}
		for _, and := range filters {
			if !l.room(1) {
				return
			}
			l.steady(func() {
				data := l.table(t)
				if data == nil {
					return
				}
				l.cases++
				l.rows += len(data.Rows)
				want, err := oracle.Count(oracle.Tables{t.Name: data}, &wire.CountRequest{Table: t.Name, Where: wire.Where{And: and}})
				if err != nil {
					l.fail("%v", err)
				}
				if got := l.count(t, and); got != want {
					l.want(fmt.Sprintf("%d, the rows that /query answers%s", want, with(and)), fmt.Sprint(got), "table %s: the count%s is not the number of rows", wire.QuoteName(t.Name), with(and))
				}
			}, t)
		}
	}
}

func (l *law) count(t *wire.Table, and []wire.Filter) int64 {
	var count wire.CountAnswer
	l.found(l.post(wire.PathCount, &wire.CountRequest{Table: t.Name, Where: wire.Where{And: and}}).decode("count-answer", &count))
	return count.Count
}

// with names filters in a sentence.
func with(and []wire.Filter) (text string) {
	for _, f := range and {
		text += fmt.Sprintf(" with %s %s", wire.QuoteName(f.Field), f.Op)
	}
	return text
}

// columnsCounted is L4.
func columnsCounted(l *law) {
	for _, t := range l.subjects() {
		if !l.room(1) {
			return
		}
		l.steady(func() {
			data := l.table(t)
			if data == nil {
				return
			}
			l.rows += len(data.Rows)
			req := &wire.CardinalityRequest{Table: t.Name, Columns: everything(t).Fields}
			var answer wire.CardinalityAnswer
			l.found(l.post(wire.PathCardinality, req).decode("cardinality-answer", &answer))
			for _, name := range req.Columns {
				if got := answer.Columns[name]; got != nil {
					l.cases++
					l.counted(t, data, name, got)
				}
			}
		}, t)
	}
}

// counted holds the counts of one column against each other and the rows.
func (l *law) counted(t *wire.Table, data *oracle.Table, name string, got *wire.Cardinality) {
	where := fmt.Sprintf("table %s, column %s", wire.QuoteName(t.Name), wire.QuoteName(name))
	size := int64(len(data.Rows))
	if got.Distinct > got.NonNull || got.NonNull > size {
		l.want("distinct <= nonNull <= size", fmt.Sprintf("distinct %d, nonNull %d, size %d", got.Distinct, got.NonNull, size), "%s: the counts are out of order", where)
	}
	want, err := oracle.Cardinality(data, name)
	if err != nil {
		l.fail("%v", err)
	}
	if got.NonNull != want.NonNull {
		l.want(fmt.Sprintf("nonNull %d", want.NonNull), fmt.Sprintf("nonNull %d", got.NonNull), "%s: the rows have another number of values", where)
	}
	// Whether two spellings of a number are one value is a decision (E2).
	least, greatest, err := oracle.DistinctRange(data, name)
	if err != nil {
		l.fail("%v", err)
	}
	if got.Distinct < min(least, greatest) || got.Distinct > max(least, greatest) {
		l.want(fmt.Sprintf("distinct %d", want.Distinct), fmt.Sprintf("distinct %d", got.Distinct), "%s: the rows have another number of distinct values", where)
	}
}

// linksMeasured is L9.
func linksMeasured(l *law) {
	for _, from := range l.subjects() {
		for _, key := range from.ForeignKeys {
			to := l.discovery(0).tables[key.TargetTable]
			if to == nil || from.Field(key.Field) == nil || to.Field(key.TargetField) == nil || slowTable(to) {
				continue // names what is not there: P3.1b
			}
			if !l.room(1) {
				return
			}
			req := &wire.LinkHitRateRequest{FromTable: from.Name, FromColumn: key.Field, ToTable: to.Name, ToColumn: key.TargetField}
			l.steady(func() { l.link(from, to, req) }, from, to)
		}
	}
}

func (l *law) link(from, to *wire.Table, req *wire.LinkHitRateRequest) {
	fromRows, toRows := l.table(from), l.table(to)
	if fromRows == nil || toRows == nil {
		return
	}
	l.cases++
	l.rows += len(fromRows.Rows) + len(toRows.Rows)
	tables := oracle.Tables{from.Name: fromRows, to.Name: toRows}
	want, err := oracle.LinkHitRate(tables, req)
	if err != nil {
		l.fail("%v", err)
	}
	var got wire.LinkHitRate
	l.found(l.post(wire.PathLinkHitRate, req).decode("link-hit-rate-answer", &got))
	where := fmt.Sprintf("%s.%s to %s.%s", wire.QuoteName(from.Name), wire.QuoteName(req.FromColumn), wire.QuoteName(to.Name), wire.QuoteName(req.ToColumn))
	if got.FromNonNull != want.FromNonNull || got.OrphanCount != want.OrphanCount {
		l.want(fmt.Sprintf("fromNonNull %d, orphanCount %d", want.FromNonNull, want.OrphanCount), fmt.Sprintf("fromNonNull %d, orphanCount %d", got.FromNonNull, got.OrphanCount),
			"%s: the rows count otherwise", where)
	}
	if math.Abs(got.OrphanRate-want.OrphanRate) > 1e-6 {
		l.want(fmt.Sprint(want.OrphanRate), fmt.Sprint(got.OrphanRate), "%s: the orphan rate is not orphanCount over fromNonNull", where)
	}
	if stranger, ok := l.stranger(fromRows, toRows, req, got.OrphanSamples); ok {
		l.want("keys of rows without a match", excerpt([]byte(stranger), 100), "%s: a sample is no orphan", where)
	}
}

// stranger finds a sample that is the key of no row, or one that has a match:
// the rows are measured once more, with the samples in place of what they link
// to, and in place of what is linked.
func (l *law) stranger(from, to *oracle.Table, req *wire.LinkHitRateRequest, samples []string) (string, bool) {
	kind := from.Columns[from.Index(req.FromColumn)].Type
	for _, text := range samples {
		sample := &oracle.Table{Name: "sample", Columns: []wire.Column{{Name: "key", Type: kind}}, Rows: [][]wire.Value{{wire.Text(text)}}}
		orphan := func(in *oracle.Table, column string) bool {
			rate, err := oracle.LinkHitRate(oracle.Tables{"sample": sample, in.Name: in},
				&wire.LinkHitRateRequest{FromTable: "sample", FromColumn: "key", ToTable: in.Name, ToColumn: column})
			return err != nil || rate.OrphanCount > 0
		}
		source := *from
		source.Name = "from " + from.Name // a self-reference is two tables here
		incomparable := kind.Numeric() && !wire.IsDecimal(text)
		if !orphan(to, req.ToColumn) || !incomparable && orphan(&source, req.FromColumn) {
			return text, true
		}
	}
	return "", false
}

// aggregatesFold is L8: measures over all rows, over groups, and over periods.
func aggregatesFold(l *law) {
	for _, t := range l.subjects() {
		data := l.table(t)
		if data == nil || len(data.Rows) == 0 {
			continue
		}
		for _, req := range l.aggregates(t, data) {
			if !l.room(1) {
				return
			}
			l.steady(func() { l.fold(t, req) }, t)
		}
	}
}

func (l *law) fold(t *wire.Table, req *wire.AggregateRequest) {
	data := l.table(t)
	if data == nil {
		return
	}
	tables := oracle.Tables{t.Name: data}
	l.rows += len(data.Rows)
	right, err := oracle.Aggregate(tables, req)
	if err != nil || int64(len(right.Rows)) >= req.Limit {
		return // no answer is exact, or there are too many groups by now
	}
	groups, ok := l.groups(req)
	if !ok {
		return
	}
	l.cases++
	var first *oracle.Difference
	for _, r := range oracle.Readings() {
		d := r.VerifyGroups(tables, req, groups)
		if d == nil {
			return
		}
		if first == nil {
			first = d
		}
	}
	l.want(first.Expected, first.Received, "table %s: %s: %s", wire.QuoteName(t.Name), describeAggregate(req), first.Detail)
}

// groups asks for an aggregate; ok is false when it is declined.
func (l *law) groups(req *wire.AggregateRequest) (groups []map[string]wire.Value, ok bool) {
	a := l.post(wire.PathAggregate, req)
	if a.err == nil && a.status == http.StatusNoContent {
		return nil, false
	}
	var answer wire.AggregateAnswer
	l.found(a.decode("aggregate-answer", &answer))
	return answer.Rows, true
}

func describeAggregate(req *wire.AggregateRequest) (text string) {
	for i, m := range req.Measures {
		if i > 0 {
			text += ", "
		}
		text += string(m.Fn)
		if m.Field != "" {
			text += " of " + wire.QuoteName(m.Field)
		}
	}
	for _, g := range req.GroupBy {
		text += " by " + wire.QuoteName(g.Field)
		if g.Grain != "" {
			text += " (" + string(g.Grain) + ")"
		}
	}
	return text
}

// maxMeasures bounds the measures of one aggregate.
const maxMeasures = 24

// aggregates are a few that have exact answers over a table, as far as its first
// rows tell.
func (l *law) aggregates(t *wire.Table, data *oracle.Table) (list []*wire.AggregateRequest) {
	data = few(data)
	may := func(flag *bool) bool { return flag == nil || *flag }
	over := func(groups []wire.GroupKey, measures []wire.Measure) *wire.AggregateRequest {
		return &wire.AggregateRequest{Table: t.Name, GroupBy: groups, Measures: measures, Limit: wire.AggregateLimit}
	}
	rows := wire.Measure{Fn: wire.FnCount, As: "rows"}
	all := []wire.Measure{rows}
	seen := map[string]bool{}
	add := func(fn wire.Fn, f *wire.Field) {
		// One of each kind; what has no exact answer would be declined together
		// with the rest.
		if id := string(fn) + string(f.Type); len(all) < maxMeasures && !seen[id] {
			m := wire.Measure{Fn: fn, Field: f.Name, As: "m" + strconv.Itoa(len(all))}
			if _, err := oracle.Aggregate(oracle.Tables{t.Name: data}, over(nil, []wire.Measure{m})); err == nil {
				seen[id] = true
				all = append(all, m)
			}
		}
	}
	for _, fn := range []wire.Fn{wire.FnSum, wire.FnMin, wire.FnMax, wire.FnCountDistinct, wire.FnCount} {
		for i := range t.Fields {
			if f := &t.Fields[i]; may(f.Aggregatable) && settled(data, i) {
				add(fn, f)
			}
		}
	}
	list = append(list, over(nil, all))
	grouped := 0
	for i := range t.Fields {
		f := &t.Fields[i]
		if !may(f.Groupable) || !settled(data, i) || f.Type == wire.TypeJSON || f.Type == wire.TypeArray {
			continue
		}
		group := []wire.GroupKey{{Field: f.Name, As: "g"}}
		if l.document().Capabilities.DateBucket && (f.Type == wire.TypeDate || f.Type == wire.TypeDatetime) {
			grain := []wire.Grain{wire.GrainYear, wire.GrainQuarter, wire.GrainMonth}[len(list)%3]
			list = append(list, over([]wire.GroupKey{{Field: f.Name, As: "g", Grain: grain}}, []wire.Measure{rows}))
		}
		if groups, err := oracle.Aggregate(oracle.Tables{t.Name: data}, over(group, nil)); grouped < 2 && err == nil && len(groups.Rows) > 1 && len(groups.Rows) < wire.AggregateLimit/2 {
			grouped++
			list = append(list, over(group, all[:min(len(all), 4)]))
		}
	}
	return list[:min(len(list), 4)]
}

// numbersAgree is M4: the count, the rows, the aggregate's count and the sum of
// its groups are one number, without a filter and with one.
func numbersAgree(l *law) {
	for _, t := range l.whole() {
		filters := [][]wire.Filter{nil}
		if f, ok := l.selective(t, l.table(t)); ok {
			filters = append(filters, []wire.Filter{f})
		}
		for _, and := range filters {
			if !l.room(4) {
				return
			}
			l.steady(func() { l.oneNumber(t, and) }, t)
		}
	}
}

func (l *law) oneNumber(t *wire.Table, and []wire.Filter) {
	data := l.table(t)
	if data == nil {
		return
	}
	rows := l.filtered(t, and, nil)
	if rows == nil {
		return
	}
	streamed := int64(len(rows.Rows))
	where := fmt.Sprintf("table %s%s", wire.QuoteName(t.Name), with(and))
	compare := func(what string, n int64) {
		l.cases++
		if n != streamed {
			l.want(fmt.Sprintf("%d, the rows that /query answers", streamed), fmt.Sprint(n), "%s: %s is another number", where, what)
		}
	}
	if l.document().has(wire.EndpointCount) {
		compare("the count", l.count(t, and))
	}
	if !l.document().has(wire.EndpointAggregate) {
		return
	}
	req := &wire.AggregateRequest{Table: t.Name, Where: wire.Where{And: and}, Measures: []wire.Measure{{Fn: wire.FnCount, As: "rows"}}, Limit: wire.AggregateLimit}
	if groups, ok := l.groups(req); ok {
		compare("the aggregate's count", total(groups))
	}
	by := slices.IndexFunc(t.Fields, func(f wire.Field) bool {
		if f.Groupable != nil && !*f.Groupable || f.Type == wire.TypeJSON || f.Type == wire.TypeArray {
			return false
		}
		c, err := oracle.Cardinality(data, f.Name)
		return err == nil && c.Distinct < wire.AggregateLimit/2 && c.Distinct < int64(len(data.Rows))
	})
	if by < 0 {
		return
	}
	req.GroupBy = []wire.GroupKey{{Field: t.Fields[by].Name, As: "g"}}
	if groups, ok := l.groups(req); ok {
		compare(fmt.Sprintf("the sum over the groups of %s", wire.QuoteName(t.Fields[by].Name)), total(groups))
	}
}

// total adds up the member rows of groups; -1 when one is no integer.
func total(groups []map[string]wire.Value) (sum int64) {
	for _, g := range groups {
		n, err := strconv.ParseInt(g["rows"].String(), 10, 64)
		if err != nil || n < 0 {
			return -1
		}
		sum += n
	}
	return sum
}
