package live

import (
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/phrase"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func sizesExact(p *liveRun, t *wire.Table, _ *oracle.Table) []question {
	return []question{p.asking(wire.PathSize, &wire.SizeRequest{Table: t.Name}, ofTable(t), []*wire.Table{t})}
}

// countsRows compares counts with the rows, without a filter and with one that keeps some rows, if there is one.
func countsRows(p *liveRun, t *wire.Table, data *oracle.Table) []question {
	list := []question{p.askingCount(t, wire.Where{})}
	if filters := p.selectiveFilter(t, data); filters != nil {
		list = append(list, p.askingCount(t, wire.Where{And: filters}))
	}
	return list
}

func describeFilters(where wire.Where) (text string) {
	for f := range where.Filters() {
		text += fmt.Sprintf(" with %s %s", terms.QuoteName(f.Field), f.Op)
	}
	return text
}

// countedBefore judges nothing that another check has: a run of the check alone counts columns itself.
func countedBefore(p *liveRun) *check.Finding {
	if p.counted || !p.Document.Offers(wire.PathCardinality) {
		p.Cases++
		return nil
	}
	return inTurn(1, columnsCounted)(p)
}

// columnsCounted compares the counts of columns with each other and the rows: of all
// columns, of some, and of each alone.
func columnsCounted(p *liveRun, t *wire.Table, _ *oracle.Table) (list []question) {
	all := declared.AllRows(t).Fields
	pieces := [][]string{all}
	if len(all) > 2 {
		pieces = append(pieces, all[len(all)/2:], all[:len(all)/2])
	}
	for _, name := range all {
		pieces = append(pieces, []string{name})
	}
	for _, names := range pieces {
		req := &wire.CardinalityRequest{Table: t.Name, Columns: names}
		list = append(list, p.asking(wire.PathCardinality, req, ofTable(t), []*wire.Table{t}))
	}
	return list
}

// projectionKeepsRows judges that there are as many rows, with the same cells, whatever
// columns are asked for and in whatever order, and in the order of a column that is not.
func projectionKeepsRows(p *liveRun, t *wire.Table, data *oracle.Table) (list []question) {
	for i, fields := range p.selections(t, data) {
		what := phrase.Quote(fields) + " alone"
		if len(fields) == len(t.Fields) && len(fields) > 1 {
			what = "all columns in another order"
		}
		req := &wire.QueryRequest{Table: t.Name, Fields: fields}
		if by := p.sortedBy(t, fields); by != nil && len(fields) == 1 && i%2 == 0 {
			req.Sort, what = by, what+", sorted by "+describeSort(by)
		}
		list = append(list, p.asking(wire.PathQuery, req, ofTable(t)+": asked for "+what, []*wire.Table{t}))
	}
	return list
}

// sortedBy returns a sort by a column beside those that are asked for, which the connector serves.
func (p *liveRun) sortedBy(t *wire.Table, fields []string) []wire.SortKey {
	for _, f := range t.Fields {
		if p.sorted[judgedSort{t.Name, f.Name, wire.Desc}] && !slices.Contains(fields, f.Name) {
			return []wire.SortKey{{Field: f.Name, Dir: wire.Desc}}
		}
	}
	return nil
}

// selections returns columns to ask for: all of them in another order, the one that
// repeats most, each alone, and some of them by chance.
func (p *liveRun) selections(t *wire.Table, data *oracle.Table) (list [][]string) {
	all := declared.AllRows(t).Fields
	reversed, shuffled := slices.Clone(all), slices.Clone(all)
	slices.Reverse(reversed)
	p.Rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	list = append(list, reversed)
	most := "" // shows whether rows are merged
	if columns := repeating(t, data, func(int, int64) bool { return true }); len(columns) > 0 {
		most = t.Fields[columns[0]].Name
		list = append(list, []string{most})
	}
	for _, name := range shuffled {
		if name != most {
			list = append(list, []string{name})
		}
	}
	if len(all) > 2 {
		list = append(list, shuffled[:(len(shuffled)+1)/2], shuffled, shuffled[len(shuffled)-2:], all[1:])
	}
	return list
}
