package live

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/phrase"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

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
