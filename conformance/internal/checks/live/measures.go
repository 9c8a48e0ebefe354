package live

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/generate"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// eachTable judges the tables that live checks use, one after the other, as long as
// the check may send n more requests.
func (p *prober) eachTable(n int, judge func(*wire.Table) *check.Finding) *check.Finding {
	tables, f := p.tables()
	if f != nil {
		return f
	}
	for _, t := range tables {
		if !p.room(n) {
			return nil
		}
		if f := p.unmoved(func() *check.Finding { return judge(t) }, t); f != nil {
			return f
		}
	}
	return nil
}

// sizesExact compares exact sizes with the rows.
func sizesExact(p *prober) *check.Finding {
	return p.eachTable(1, func(t *wire.Table) *check.Finding {
		data, f := p.Table(t)
		if f != nil || data == nil {
			return f
		}
		var size wire.SizeAnswer
		if f := p.post(wire.PathSize, &wire.SizeRequest{Table: t.Name}).Decode("size-answer", &size); f != nil {
			return f
		}
		if size.Size == nil || !size.Size.Exact {
			return nil // unknown, or an estimate
		}
		p.Cases++
		if n := int64(len(data.Rows)); size.Size.Rows != n {
			return check.Differs(fmt.Sprintf("%d, the rows that /query answers", n), fmt.Sprintf("%d, exact", size.Size.Rows),
				"table %s: the exact size is not the number of rows", wire.QuoteName(t.Name))
		}
		return nil
	})
}

// wheres returns no filter and, if there is one, a filter that keeps some rows.
func (p *prober) wheres(t *wire.Table, data *oracle.Table) ([]wire.Where, *check.Finding) {
	list := []wire.Where{{}}
	filters, f := p.selectiveFilter(t, data)
	if filters != nil {
		list = append(list, wire.Where{And: filters})
	}
	return list, f
}

// countsRows compares counts with the rows, without a filter and with one.
func countsRows(p *prober) *check.Finding {
	tables, f := p.tables()
	if f != nil {
		return f
	}
	for _, t := range tables {
		data, f := p.Table(t)
		if f != nil {
			return f
		}
		if data == nil {
			continue
		}
		wheres, f := p.wheres(t, data)
		if f != nil {
			return f
		}
		for _, where := range wheres {
			if !p.room(1) {
				return nil
			}
			if f := p.unmoved(func() *check.Finding { return p.countsWhere(t, where) }, t); f != nil {
				return f
			}
		}
	}
	return nil
}

func (p *prober) countsWhere(t *wire.Table, where wire.Where) *check.Finding {
	data, f := p.Table(t)
	if f != nil || data == nil {
		return f
	}
	p.Cases++
	p.compared += len(data.Rows)
	want, err := oracle.Count(oracle.Tables{t.Name: data}, &wire.CountRequest{Table: t.Name, Where: where})
	if err != nil {
		return check.Fail("%v", err)
	}
	got, f := p.count(t, where)
	if f != nil || got == want {
		return f
	}
	return check.Differs(fmt.Sprintf("%d, the rows that /query answers%s", want, describeFilters(where)), fmt.Sprint(got),
		"table %s: the count%s is not the number of rows", wire.QuoteName(t.Name), describeFilters(where))
}

func (p *prober) count(t *wire.Table, where wire.Where) (int64, *check.Finding) {
	var count wire.CountAnswer
	f := p.post(wire.PathCount, &wire.CountRequest{Table: t.Name, Where: where}).Decode("count-answer", &count)
	return count.Count, f
}

// describeFilters names the filters of a request in a sentence.
func describeFilters(where wire.Where) (text string) {
	for f := range where.Filters() {
		text += fmt.Sprintf(" with %s %s", wire.QuoteName(f.Field), f.Op)
	}
	return text
}

// columnsCounted compares the counts of columns with each other and the rows.
func columnsCounted(p *prober) *check.Finding {
	return p.eachTable(1, func(t *wire.Table) *check.Finding {
		data, f := p.Table(t)
		if f != nil || data == nil {
			return f
		}
		p.compared += len(data.Rows)
		req := &wire.CardinalityRequest{Table: t.Name, Columns: session.AllRows(t).Fields}
		var answer wire.CardinalityAnswer
		if f := p.post(wire.PathCardinality, req).Decode("cardinality-answer", &answer); f != nil {
			return f
		}
		for _, name := range req.Columns {
			if got := answer.Columns[name]; got != nil {
				p.Cases++
				if f := columnCounted(t, data, name, got); f != nil {
					return f
				}
			}
		}
		return nil
	})
}

func columnCounted(t *wire.Table, data *oracle.Table, name string, got *wire.Cardinality) *check.Finding {
	where := fmt.Sprintf("table %s, column %s", wire.QuoteName(t.Name), wire.QuoteName(name))
	size := int64(len(data.Rows))
	if got.Distinct > got.NonNull || got.NonNull > size {
		return check.Differs("distinct <= nonNull <= size", fmt.Sprintf("distinct %d, nonNull %d, size %d", got.Distinct, got.NonNull, size),
			"%s: the counts are out of order", where)
	}
	want, err := oracle.Cardinality(data, name)
	if err != nil {
		return check.Fail("%v", err)
	}
	if got.NonNull != want.NonNull {
		return check.Differs(fmt.Sprintf("nonNull %d", want.NonNull), fmt.Sprintf("nonNull %d", got.NonNull),
			"%s: the rows have another number of values", where)
	}
	// Whether two spellings of a number are one value is our decision.
	least, greatest, err := oracle.DistinctRange(data, name)
	if err != nil {
		return check.Fail("%v", err)
	}
	if got.Distinct < min(least, greatest) || got.Distinct > max(least, greatest) {
		return check.Differs(fmt.Sprintf("distinct %d", want.Distinct), fmt.Sprintf("distinct %d", got.Distinct),
			"%s: the rows have another number of distinct values", where)
	}
	return nil
}

// linksMeasured compares the link hit rates of declared foreign keys with the rows.
func linksMeasured(p *prober) *check.Finding {
	tables, f := p.tables()
	if f != nil {
		return f
	}
	d, f := p.Discovery(0)
	if f != nil {
		return f
	}
	for _, from := range tables {
		for _, key := range from.ForeignKeys {
			to := d.Lookup[key.TargetTable]
			if to == nil || from.Field(key.Field) == nil || to.Field(key.TargetField) == nil || session.IsSlow(to) {
				continue // another check reports names of what does not exist
			}
			if !p.room(1) {
				return nil
			}
			req := &wire.LinkHitRateRequest{FromTable: from.Name, FromColumn: key.Field, ToTable: to.Name, ToColumn: key.TargetField}
			if f := p.unmoved(func() *check.Finding { return p.link(from, to, req) }, from, to); f != nil {
				return f
			}
		}
	}
	return nil
}

func (p *prober) link(from, to *wire.Table, req *wire.LinkHitRateRequest) *check.Finding {
	fromRows, f := p.Table(from)
	if f != nil {
		return f
	}
	toRows, f := p.Table(to)
	if f != nil || fromRows == nil || toRows == nil {
		return f
	}
	p.Cases++
	p.compared += len(fromRows.Rows) + len(toRows.Rows)
	want, err := oracle.LinkHitRate(oracle.Tables{from.Name: fromRows, to.Name: toRows}, req)
	if err != nil {
		return check.Fail("%v", err)
	}
	var got wire.LinkHitRate
	if f := p.post(wire.PathLinkHitRate, req).Decode("link-hit-rate-answer", &got); f != nil {
		return f
	}
	where := fmt.Sprintf("%s.%s to %s.%s",
		wire.QuoteName(from.Name), wire.QuoteName(req.FromColumn), wire.QuoteName(to.Name), wire.QuoteName(req.ToColumn))
	counts := func(r *wire.LinkHitRate) string {
		return fmt.Sprintf("fromNonNull %d, orphanCount %d", r.FromNonNull, r.OrphanCount)
	}
	if got.FromNonNull != want.FromNonNull || got.OrphanCount != want.OrphanCount {
		return check.Differs(counts(want), counts(&got), "%s: the rows count otherwise", where)
	}
	if math.Abs(got.OrphanRate-want.OrphanRate) > 1e-6 {
		return check.Differs(fmt.Sprint(want.OrphanRate), fmt.Sprint(got.OrphanRate),
			"%s: the orphan rate is not orphanCount over fromNonNull", where)
	}
	if sample, ok := wrongSample(fromRows, toRows, req, got.OrphanSamples); ok {
		return check.Differs("keys of rows without a match", message.Excerpt([]byte(sample), 100), "%s: a sample is no orphan", where)
	}
	return nil
}

// wrongSample returns a sample that is the key of no row, or one that has a match.
// It measures the rows once more, with the samples in the place of what they link
// to, and in the place of what is linked.
func wrongSample(from, to *oracle.Table, req *wire.LinkHitRateRequest, samples []string) (string, bool) {
	kind := from.Columns[from.Index(req.FromColumn)].Type
	for _, text := range samples {
		sample := &oracle.Table{
			Name: "sample", Columns: []wire.Column{{Name: "key", Type: kind}}, Rows: [][]wire.Value{{wire.Text(text)}},
		}
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

// aggregatesFold compares measures over all rows, over groups and over periods with
// the rows.
func aggregatesFold(p *prober) *check.Finding {
	tables, f := p.tables()
	if f != nil {
		return f
	}
	for _, t := range tables {
		data, f := p.Table(t)
		if f != nil {
			return f
		}
		if data == nil || len(data.Rows) == 0 {
			continue
		}
		for _, req := range p.aggregates(t, data) {
			if !p.room(1) {
				return nil
			}
			if f := p.unmoved(func() *check.Finding { return p.fold(t, req) }, t); f != nil {
				return f
			}
		}
	}
	return nil
}

func (p *prober) fold(t *wire.Table, req *wire.AggregateRequest) *check.Finding {
	data, f := p.Table(t)
	if f != nil || data == nil {
		return f
	}
	tables := oracle.Tables{t.Name: data}
	p.compared += len(data.Rows)
	right, err := oracle.Aggregate(tables, req)
	if err != nil || int64(len(right.Rows)) >= req.Limit {
		return nil // no answer is exact, or there are too many groups by now
	}
	groups, declined, f := p.groups(req)
	if f != nil || declined {
		return f
	}
	p.Cases++
	var first *oracle.Difference
	for _, r := range oracle.Readings() {
		d := r.VerifyGroups(tables, req, groups)
		if d == nil {
			return nil
		}
		first = cmp.Or(first, d)
	}
	return check.Differs(first.Expected, first.Received, "table %s: %s: %s", wire.QuoteName(t.Name), describeAggregate(req), first.Detail)
}

// groups asks for an aggregate, which may be declined.
func (p *prober) groups(req *wire.AggregateRequest) (groups []map[string]wire.Value, declined bool, f *check.Finding) {
	a := p.post(wire.PathAggregate, req)
	if a.Declined() {
		return nil, true, nil
	}
	var answer wire.AggregateAnswer
	f = a.Decode("aggregate-answer", &answer)
	return answer.Rows, false, f
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

// maxMeasures limits the measures of one aggregate.
const maxMeasures = 24

// allowed reports whether discovery allows the use of a field.
func allowed(flag *bool) bool { return flag == nil || *flag }

// exactMeasures returns measures of every kind that have an exact answer over a
// table. What has none would be declined together with the rest.
func exactMeasures(t *wire.Table, data *oracle.Table) []wire.Measure {
	all := []wire.Measure{{Fn: wire.FnCount, As: "rows"}}
	seen := map[string]bool{}
	for _, fn := range []wire.Fn{wire.FnSum, wire.FnMin, wire.FnMax, wire.FnCountDistinct, wire.FnCount} {
		for i, f := range t.Fields {
			kind := string(fn) + string(f.Type)
			if !allowed(f.Aggregatable) || !generate.OrderSettled(data, i) || len(all) == maxMeasures || seen[kind] {
				continue
			}
			m := wire.Measure{Fn: fn, Field: f.Name, As: "m" + strconv.Itoa(len(all))}
			req := &wire.AggregateRequest{Table: t.Name, Measures: []wire.Measure{m}, Limit: wire.AggregateLimit}
			if _, err := oracle.Aggregate(oracle.Tables{t.Name: data}, req); err == nil {
				seen[kind] = true
				all = append(all, m)
			}
		}
	}
	return all
}

// aggregates returns a few aggregates that have exact answers over a table, as far
// as its first rows show.
func (p *prober) aggregates(t *wire.Table, data *oracle.Table) (list []*wire.AggregateRequest) {
	data = firstRows(data)
	over := func(groups []wire.GroupKey, measures []wire.Measure) *wire.AggregateRequest {
		return &wire.AggregateRequest{Table: t.Name, GroupBy: groups, Measures: measures, Limit: wire.AggregateLimit}
	}
	all := exactMeasures(t, data)
	list = append(list, over(nil, all))
	grouped := 0
	for i, f := range t.Fields {
		if !allowed(f.Groupable) || !generate.OrderSettled(data, i) || f.Type == wire.TypeJSON || f.Type == wire.TypeArray {
			continue
		}
		if p.Document.Capabilities.DateBucket && (f.Type == wire.TypeDate || f.Type == wire.TypeDatetime) {
			grain := []wire.Grain{wire.GrainYear, wire.GrainQuarter, wire.GrainMonth}[len(list)%3]
			list = append(list, over([]wire.GroupKey{{Field: f.Name, As: "g", Grain: grain}}, all[:1]))
		}
		keys := []wire.GroupKey{{Field: f.Name, As: "g"}}
		groups, err := oracle.Aggregate(oracle.Tables{t.Name: data}, over(keys, nil))
		if grouped < 2 && err == nil && len(groups.Rows) > 1 && len(groups.Rows) < wire.AggregateLimit/2 {
			grouped++
			list = append(list, over(keys, all[:min(len(all), 4)]))
		}
	}
	return list[:min(len(list), 4)]
}

// numbersAgree judges that the count, the rows, the aggregate's count and the sum of
// its groups are one number, without a filter and with one.
func numbersAgree(p *prober) *check.Finding {
	tables, f := p.wholeTables()
	if f != nil {
		return f
	}
	for _, t := range tables {
		data, f := p.Table(t)
		if f != nil {
			return f
		}
		wheres, f := p.wheres(t, data)
		if f != nil {
			return f
		}
		for _, where := range wheres {
			if !p.room(4) {
				return nil
			}
			if f := p.unmoved(func() *check.Finding { return p.oneNumber(t, where) }, t); f != nil {
				return f
			}
		}
	}
	return nil
}

func (p *prober) oneNumber(t *wire.Table, where wire.Where) *check.Finding {
	data, f := p.Table(t)
	if f != nil || data == nil {
		return f
	}
	rows, f := p.askWhere(t, where)
	if f != nil || rows == nil {
		return f
	}
	streamed := int64(len(rows.Rows))
	compare := func(what string, n int64) *check.Finding {
		p.Cases++
		if n == streamed {
			return nil
		}
		return check.Differs(fmt.Sprintf("%d, the rows that /query answers", streamed), fmt.Sprint(n),
			"table %s%s: %s is another number", wire.QuoteName(t.Name), describeFilters(where), what)
	}
	if p.Document.Has(wire.EndpointCount) {
		n, f := p.count(t, where)
		if f != nil {
			return f
		}
		if f := compare("the count", n); f != nil {
			return f
		}
	}
	if !p.Document.Has(wire.EndpointAggregate) {
		return nil
	}
	req := &wire.AggregateRequest{
		Table: t.Name, Where: where, Measures: []wire.Measure{{Fn: wire.FnCount, As: "rows"}}, Limit: wire.AggregateLimit,
	}
	groups, declined, f := p.groups(req)
	if f != nil {
		return f
	}
	if !declined {
		if f := compare("the aggregate's count", total(groups)); f != nil {
			return f
		}
	}
	by := slices.IndexFunc(t.Fields, func(f wire.Field) bool {
		if !allowed(f.Groupable) || f.Type == wire.TypeJSON || f.Type == wire.TypeArray {
			return false
		}
		c, err := oracle.Cardinality(data, f.Name)
		return err == nil && c.Distinct < wire.AggregateLimit/2 && c.Distinct < int64(len(data.Rows))
	})
	if by < 0 {
		return nil
	}
	req.GroupBy = []wire.GroupKey{{Field: t.Fields[by].Name, As: "g"}}
	groups, declined, f = p.groups(req)
	if f != nil || declined {
		return f
	}
	return compare(fmt.Sprintf("the sum over the groups of %s", wire.QuoteName(t.Fields[by].Name)), total(groups))
}

// total adds up the member rows of groups. It returns -1 if one is no integer.
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
