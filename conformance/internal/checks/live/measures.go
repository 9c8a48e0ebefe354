package live

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// sizesExact compares exact sizes with the rows.
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

// describeFilters names the filters of a request in a sentence.
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
