package live

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
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
				"table %s: the exact size is not the number of rows", terms.QuoteName(t.Name))
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
		"table %s: the count%s is not the number of rows", terms.QuoteName(t.Name), describeFilters(where))
}

func (p *prober) count(t *wire.Table, where wire.Where) (int64, *check.Finding) {
	var count wire.CountAnswer
	f := p.post(wire.PathCount, &wire.CountRequest{Table: t.Name, Where: where}).Decode("count-answer", &count)
	return count.Count, f
}

// describeFilters names the filters of a request in a sentence.
func describeFilters(where wire.Where) (text string) {
	for f := range where.Filters() {
		text += fmt.Sprintf(" with %s %s", terms.QuoteName(f.Field), f.Op)
	}
	return text
}

// columnsCounted compares the counts of columns with each other and the rows: of all
// columns, of some, and of each alone.
func columnsCounted(p *prober) *check.Finding {
	return p.inTurn(1, func(t *wire.Table, _ *oracle.Table) (list []question) {
		all := session.AllRows(t).Fields
		pieces := [][]string{all}
		if len(all) > 2 {
			pieces = append(pieces, all[len(all)/2:], all[:len(all)/2])
		}
		for _, name := range all {
			pieces = append(pieces, []string{name})
		}
		for _, names := range pieces {
			list = append(list, about(func() *check.Finding { return p.columnsOf(t, names) }, t))
		}
		return list
	})
}

func (p *prober) columnsOf(t *wire.Table, names []string) *check.Finding {
	data, f := p.Table(t)
	if f != nil || data == nil {
		return f
	}
	p.compared += len(data.Rows)
	var answer wire.CardinalityAnswer
	req := &wire.CardinalityRequest{Table: t.Name, Columns: names}
	if f := p.post(wire.PathCardinality, req).Decode("cardinality-answer", &answer); f != nil {
		return f
	}
	for _, name := range names {
		if got := answer.Columns[name]; got != nil {
			p.Cases++
			if f := columnCounted(t, data, name, got); f != nil {
				return f
			}
		}
	}
	return nil
}

func columnCounted(t *wire.Table, data *oracle.Table, name string, got *wire.Cardinality) *check.Finding {
	where := fmt.Sprintf("table %s, column %s", terms.QuoteName(t.Name), terms.QuoteName(name))
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
