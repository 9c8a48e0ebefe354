package live

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// numbersAgree judges that the count, the rows, the aggregate's count and the sum of
// its groups are one number, without a filter and with one.
func numbersAgree(p *liveRun, t *wire.Table, data *oracle.Table) (list []question) {
	for _, where := range p.wheres(t, data) {
		list = append(list, about(t, 4, func(rows *oracle.Table) *check.Finding { return p.oneNumber(t, rows, where) }))
	}
	return list
}

func (p *liveRun) oneNumber(t *wire.Table, data *oracle.Table, where wire.Where) *check.Finding {
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
			"table %s%s: %s is another number", terms.QuoteName(t.Name), describeFilters(where), what)
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
	req := aggregate(t, nil, countOfRows)
	req.Where = where
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
		if !session.Allowed(f.Groupable) || f.Type == wire.TypeJSON || f.Type == wire.TypeArray {
			return false
		}
		c, err := oracle.Cardinality(data, f.Name)
		return err == nil && c.Distinct < wire.AggregateLimit/2 && c.Distinct < int64(len(data.Rows))
	})
	if by < 0 {
		return nil
	}
	req.GroupBy = []wire.GroupKey{{Field: t.Fields[by].Name, As: "Key"}}
	groups, declined, f = p.groups(req)
	if f != nil || declined {
		return f
	}
	return compare(fmt.Sprintf("the sum over the groups of %s", terms.QuoteName(t.Fields[by].Name)), total(groups))
}

// total adds up the counts of groups. It returns -1 if one is no integer.
func total(groups []map[string]wire.Value) (sum int64) {
	for _, g := range groups {
		n, err := strconv.ParseInt(g[countAlias].String(), 10, 64)
		if err != nil || n < 0 {
			return -1
		}
		sum += n
	}
	return sum
}
