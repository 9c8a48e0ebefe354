package live

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// discoverySteady asks for discovery again. A schema may change at any time, but not
// there and back again.
func discoverySteady(p *prober) *check.Finding {
	first, f := p.Discovery(0)
	if f != nil {
		return f
	}
	var second *session.Discovery
	difference := ""
	for range 2 { // an answer of every other time may agree once
		if second, f = p.Discover(p.Ctx, 0); f != nil {
			return f
		}
		p.Cases++
		if difference = changedTable(first, second); difference != "" {
			break
		}
	}
	if difference == "" {
		return nil
	}
	third, f := p.Discover(p.Ctx, 0)
	if f != nil {
		return f
	}
	if changedTable(second, third) == "" {
		p.moved = append(p.moved, "that discovery describes")
		return nil
	}
	return check.Differs("the same tables, columns and keys", difference, "discovery answers something else each time it is asked")
}

// changedTable returns what two answers of discovery describe differently, or "".
func changedTable(a, b *session.Discovery) string {
	for _, both := range [][2]*session.Discovery{{a, b}, {b, a}} {
		for name, t := range both[0].Lookup {
			other := both[1].Lookup[name]
			if other == nil {
				return fmt.Sprintf("table %s comes and goes", terms.QuoteName(name))
			}
			if what := changed(t, other); what != "" {
				return fmt.Sprintf("table %s: %s", terms.QuoteName(name), what)
			}
		}
	}
	return ""
}

// changed returns what of a table's structure has changed, or "".
func changed(a, b *wire.Table) string {
	byName := func(x, y wire.ForeignKey) int {
		return slices.Compare([]string{x.Field, x.TargetTable, x.TargetField}, []string{y.Field, y.TargetTable, y.TargetField})
	}
	keys := func(t *wire.Table) []wire.ForeignKey { return slices.SortedFunc(slices.Values(t.ForeignKeys), byName) }
	switch {
	case len(a.Fields) != len(b.Fields):
		return fmt.Sprintf("%d columns, then %d", len(a.Fields), len(b.Fields))
	case !slices.Equal(a.PrimaryKey, b.PrimaryKey):
		return "another primary key"
	case !slices.Equal(keys(a), keys(b)):
		return "other foreign keys"
	}
	for _, f := range a.Fields {
		other := b.Field(f.Name)
		if other == nil || other.Type != f.Type || other.Unique != f.Unique || other.Nullable != f.Nullable {
			return fmt.Sprintf("column %s is described otherwise", terms.QuoteName(f.Name))
		}
	}
	return ""
}

// discoveryDescribes compares the row counts, samples and statistics of discovery with
// the rows. Estimates only have to be roughly right, and a source may mask samples, so
// it is advice.
func discoveryDescribes(p *prober) *check.Finding {
	return p.inTurn(0, func(t *wire.Table, _ *oracle.Table) (list []question) {
		list = append(list, about(func() *check.Finding { return p.rowCountHolds(t) }, t))
		for i := range t.Fields {
			list = append(list, about(func() *check.Finding {
				data, f := p.Table(t)
				if f != nil || data == nil {
					return f
				}
				return p.fieldDescribed(t, data, i)
			}, t))
		}
		return list
	})
}

func (p *prober) rowCountHolds(t *wire.Table) *check.Finding {
	data, f := p.Table(t)
	if f != nil || data == nil || t.RowCount == nil {
		return f
	}
	p.Cases++
	if n, rows := *t.RowCount, len(data.Rows); float64(n) > 2*float64(rows)+10 || float64(n) < float64(rows)/2-10 {
		return check.Differs(fmt.Sprintf("about %d, the rows that /query answers", rows), fmt.Sprint(n),
			"table %s: rowCount is far from the number of rows", terms.QuoteName(t.Name))
	}
	return nil
}

// fieldDescribed judges the samples and the statistics of one field.
func (p *prober) fieldDescribed(t *wire.Table, data *oracle.Table, column int) *check.Finding {
	f := &t.Fields[column]
	where := fmt.Sprintf("table %s, column %s", terms.QuoteName(t.Name), terms.QuoteName(f.Name))
	show := func(v wire.Value) string { return message.Excerpt([]byte(v.String()), 100) }
	values := make([]wire.Value, len(data.Rows))
	for i, row := range data.Rows {
		values[i] = row[column]
	}
	for _, sample := range f.Samples {
		p.Cases++
		// A long value may be cut.
		start := strings.TrimRight(sample.String(), ".\u2026 ")
		if !slices.ContainsFunc(values, func(v wire.Value) bool {
			return v.String() == sample.String() || oracle.Same(v, sample, f.Type) || len(start) >= 20 && strings.HasPrefix(v.String(), start)
		}) {
			return check.Differs("values of the column", show(sample), "%s: a sample is in no row", where)
		}
	}
	if f.Stats == nil {
		return nil
	}
	p.Cases++
	nulls := 0
	for _, v := range values {
		if v.IsNull() {
			nulls++
		}
	}
	share := 100 * float64(nulls) / float64(len(values))
	if percent := f.Stats.NullPercent; percent != nil && math.Abs(*percent-share) > 25 {
		return check.Differs(fmt.Sprintf("%.4g", share), fmt.Sprintf("%.4g", *percent), "%s: nullPercent is far from the share of nulls", where)
	}
	least, greatest, err := oracle.DistinctRange(data, f.Name)
	if n := f.Stats.DistinctCount; err == nil && (float64(n) > 2*float64(greatest)+10 || float64(n) < float64(least)/2-10) {
		return check.Differs(fmt.Sprintf("about %d", least), fmt.Sprint(n), "%s: distinctCount is far from the number of values", where)
	}
	for _, bound := range []*wire.Value{f.Stats.Min, f.Stats.Max} {
		if bound == nil || bound.IsNull() || len(bound.String()) > 100 || f.Type == wire.TypeJSON || f.Type == wire.TypeArray {
			continue
		}
		below, above := false, false
		for _, v := range values {
			order, comparable := oracle.Compare(*bound, v, f.Type)
			below, above = below || comparable && order <= 0, above || comparable && order >= 0
			if below && above {
				break
			}
		}
		if !below || !above {
			return check.Differs("within the values of the column", show(*bound), "%s: min or max is outside of its values", where)
		}
	}
	return nil
}
