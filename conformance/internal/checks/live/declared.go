package live

import (
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/coverage"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/internal/exam"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// declare notes, once, what the document and the rows of the tables allow to be asked, so that the verdict says
// what was not. A table with a single row, and a column with a single value, tell nothing.
func (p *liveRun) declare() {
	if p.declared {
		return
	}
	p.declared = true
	for _, t := range p.tables {
		rows, whole := p.data(t)
		if len(rows.Rows) < 2 {
			continue
		}
		p.Covered.Declare(coverage.Question{Kind: coverage.Windows, Table: t.Name})
		some := firstRows(rows, chosenBy)
		for i, f := range t.Fields {
			key := []wire.SortKey{{Field: f.Name, Dir: wire.Desc}}
			if p.Document.SortKeys() > 0 && exam.OrderSettled(rows, i) && exam.OrderTells(some, i) > 0 &&
				oracle.Unsettled(rows, key, nil) == "" {
				p.Covered.Declare(coverage.Question{Kind: coverage.Sorts, Table: t.Name, Column: f.Name})
			}
		}
		if whole {
			p.declareFolds(t, rows, some)
			p.declareLinks(t)
		}
	}
}

func (p *liveRun) declareFolds(t *wire.Table, rows, some *oracle.Table) {
	if !p.Document.Offers(wire.PathAggregate) {
		return
	}
	for _, name := range groupable(t, some) {
		if c, err := oracle.Cardinality(rows, name); err == nil && c.Distinct < wire.AggregateLimit-1 {
			p.Covered.Declare(coverage.Question{Kind: coverage.Groups, Table: t.Name, Column: name})
		}
	}
	for _, req := range periodsFold(p, t, some) {
		if declared.Needs(wire.PathAggregate, "dateBucket")(p.Document) != "" || len(req.GroupBy) > 1 {
			continue
		}
		answer, err := oracle.Aggregate(oracle.Tables{rows.Name: rows}, req)
		if key := req.GroupBy[0]; err == nil && int64(len(answer.Rows)) < req.Limit {
			p.Covered.Declare(coverage.Question{Kind: coverage.Groups, Table: t.Name, Column: key.Field, How: string(key.Grain)})
		}
	}
	for _, m := range measures(t, some, wire.AggCount, wire.AggCountDistinct, wire.AggSum, wire.AggMin, wire.AggMax) {
		if m.Field != "" {
			p.Covered.Declare(coverage.Question{Kind: coverage.Measures, Table: t.Name, Column: m.Field, How: string(m.Fn)})
		}
	}
}

func (p *liveRun) declareLinks(t *wire.Table) {
	for _, l := range p.declaredLinks(t) {
		about := coverage.Question{Table: t.Name, Column: l.fromField, How: l.to.Name}
		if about.Kind = coverage.Joins; p.Document.Capabilities.Join && joinable(l) {
			p.Covered.Declare(about)
		}
		if about.Kind = coverage.Links; p.Document.Offers(wire.PathLinkHitRate) {
			p.Covered.Declare(about)
		}
	}
}
