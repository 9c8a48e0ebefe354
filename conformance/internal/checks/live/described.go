package live

import (
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/compare"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// discoverySteady asks for discovery again. A schema may change at any time, but not there and back again.
func discoverySteady(p *liveRun) *check.Finding {
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

// discoveryDescribes compares the row counts, samples and statistics of discovery with the rows. Estimates only have to
// be roughly right, and a source may mask samples, so it is advice.
func discoveryDescribes(p *liveRun, t *wire.Table, _ *oracle.Table) (list []question) {
	judging := func(what string, held func(rows *oracle.Table) *oracle.Difference) {
		list = append(list, about(t, 0, func(rows *oracle.Table) *check.Finding {
			p.Cases++
			return differs(what, held(rows))
		}))
	}
	if t.RowCount != nil {
		judging(ofTable(t), func(rows *oracle.Table) *oracle.Difference { return compare.RowCount(t, rows) })
	}
	for _, l := range p.declaredLinks(t) {
		to := p.Snapshot(l.to).Table
		list = append(list, about(t, 0, func(rows *oracle.Table) *check.Finding {
			p.Cases++
			return leadsElsewhere(l, rows, to)
		}))
	}
	for i := range t.Fields {
		if f := &t.Fields[i]; f.Stats != nil || len(f.Samples) > 0 {
			what := ofTable(t) + ", column " + terms.QuoteName(f.Name)
			judging(what, func(rows *oracle.Table) *oracle.Difference { return compare.Described(f, rows, i) })
		}
	}
	return list
}

// leadsElsewhere returns the finding about a foreign key most of whose values its target does not hold. A key may have
// values without a match, and many rows may hold one of them, such as a zero for none: so values are counted, not rows.
func leadsElsewhere(l link, from, to *oracle.Table) *check.Finding {
	const few = 5 // values, which may lack a match by chance
	if len(to.Rows) == 0 {
		return nil
	}
	at, keys := from.Index(l.fromField), *to
	each := oracle.Table{Name: "from", Columns: []wire.Column{from.Columns[at]}}
	seen := map[string]bool{}
	for _, row := range from.Rows {
		if text := row[at].String(); !row[at].IsNull() && !seen[text] {
			seen[text] = true
			each.Rows = append(each.Rows, row[at:at+1])
		}
	}
	keys.Name = "to"
	rate, err := oracle.LinkHitRate(oracle.Tables{"from": &each, "to": &keys},
		&wire.LinkHitRateRequest{FromTable: "from", FromColumn: l.fromField, ToTable: "to", ToColumn: l.toField})
	if err != nil || rate.FromNonNull < few || 2*rate.OrphanCount <= rate.FromNonNull {
		return nil
	}
	return check.Fail("%s, column %s: a foreign key leads to column %s of %s, which holds %d of its %d values",
		ofTable(l.from), terms.QuoteName(l.fromField), terms.QuoteName(l.toField), ofTable(l.to),
		rate.FromNonNull-rate.OrphanCount, rate.FromNonNull)
}
