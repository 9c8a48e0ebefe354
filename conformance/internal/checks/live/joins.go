package live

import (
	"fmt"
	"net/http"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// joinsHold compares joins along links, in both directions and over two hops, with joining the rows of whole reads.
func joinsHold(p *prober) *check.Finding {
	return p.inTurn(1, func(t *wire.Table, data *oracle.Table) (list []question) {
		by := p.dividing(t, data)
		for _, j := range p.joined(t) {
			plain, windowed, filtered := j.request(t), j.request(t), j.request(t)
			requests := []*wire.QueryRequest{plain}
			if by >= 0 {
				if p.sorts(1) {
					sort := []wire.SortKey{{Field: t.Fields[by].Name, Dir: wire.Desc}}
					windowed.Sort, filtered.Sort = sort, sort
					windowed.Limit = int64(len(data.Rows)/2 + 1)
					requests = append(requests, windowed)
				}
				filtered.Fields = []string{t.Fields[by].Name}
				if filters, f := p.selectiveFilter(t, data); f == nil && filters != nil {
					filtered.And = filters
					if name := filters[0].Field; name != filtered.Fields[0] {
						filtered.Fields = append(filtered.Fields, name) // the platform may have to filter by it
					}
				}
				requests = append(requests, filtered)
			}
			for _, req := range requests {
				list = append(list, p.asking(wire.PathQuery, req, j.String()+describeFilters(req.Where), j.tables, j.refusals()...))
			}
		}
		return list
	})
}

// join is a chain of hops from a table along links.
type join struct {
	hops   []wire.JoinHop
	tables []*wire.Table // the base and those of the hops
	// plain marks a single hop along a declared foreign key, which a connector that joins at all
	// does. Other joins it may refuse as unsupported.
	plain bool
}

// joined returns the joins that begin at a table: along each of its foreign keys, back
// along those that lead to it, and over two hops.
func (p *prober) joined(base *wire.Table) (list []join) {
	for _, l := range p.links(base) {
		if joinable(l) {
			list = append(list, join{[]wire.JoinHop{hop(l, 1)}, []*wire.Table{base, l.to}, l.declared})
		}
	}
	d, f := p.Discovery(0)
	if f != nil {
		return nil
	}
	for _, other := range d.Readable() {
		for _, l := range p.links(other) {
			if l.to == base && joinable(l) && p.Snapshot(0, other).Table != nil {
				list = append(list, join{[]wire.JoinHop{hop(l.reverse(), 1)}, []*wire.Table{base, other}, false})
			}
		}
	}
	for _, first := range p.links(base) {
		for _, second := range p.links(first.to) {
			// A hop from a table that is reached twice is ambiguous.
			if joinable(first) && joinable(second) && first.to != base {
				list = append(list, join{[]wire.JoinHop{hop(first, 1), hop(second, 2)}, []*wire.Table{base, first.to, second.to}, false})
			}
		}
	}
	return list[:min(len(list), maxJoins)]
}

// maxJoins limits the joins that begin at one table.
const maxJoins = 12

// joinable reports whether all engines compare the two columns of a link alike.
func joinable(l link) bool {
	from, to := l.from.Field(l.fromField).Type, l.to.Field(l.toField).Type
	text := func(t wire.Type) bool { return t == wire.TypeString || t == wire.TypeReference }
	return from == to && from != wire.TypeDate && from != wire.TypeDatetime || from.Numeric() && to.Numeric() || text(from) && text(to)
}

// hop returns the hop along a link, with all fields of its table under names of their own.
func hop(l link, n int) wire.JoinHop {
	h := wire.JoinHop{FromTable: l.from.Name, ToTable: l.to.Name, FromField: l.fromField, ToField: l.toField}
	for i, f := range l.to.Fields {
		h.Fields = append(h.Fields, wire.JoinField{Field: f.Name, As: fmt.Sprintf("hop%d_%d", n, i), Type: f.Type})
	}
	return h
}

// request returns the query for all rows of a join with all their columns.
func (j join) request(base *wire.Table) *wire.QueryRequest {
	req := session.AllRows(base)
	req.Joins = j.hops
	return req
}

// refusals returns the status by which a connector may refuse the join.
func (j join) refusals() []int {
	if j.plain {
		return nil
	}
	return []int{http.StatusUnprocessableEntity}
}

func (j join) String() string {
	text := ""
	for _, h := range j.hops {
		text += fmt.Sprintf(", %s.%s joined to %s.%s",
			terms.QuoteName(h.FromTable), terms.QuoteName(h.FromField), terms.QuoteName(h.ToTable), terms.QuoteName(h.ToField))
	}
	return text[len(", "):]
}

// joinsFold compares aggregates over joins with folding the joined rows.
func joinsFold(p *prober) *check.Finding {
	return p.inTurn(1, func(t *wire.Table, data *oracle.Table) (list []question) {
		for _, j := range p.joined(t) {
			req := aggregate(t, nil, []wire.Measure{{Fn: wire.AggCount, As: "rows"}})
			req.Joins = j.hops
			bare, grouped := *req, *req
			for i, f := range j.tables[len(j.tables)-1].Fields {
				as := fmt.Sprintf("hop%d_%d", len(j.hops), i)
				if f.Type.Numeric() && allowed(f.Aggregatable) {
					req.Measures = append(req.Measures, wire.Measure{Fn: wire.AggCount, Field: as, As: "of_" + as})
				}
				// Whether texts group by a collation is left to the source.
				if (f.Type.Numeric() || f.Type == wire.TypeBoolean) && allowed(f.Groupable) {
					grouped.GroupBy = []wire.GroupKey{{Field: as, As: "g"}}
				}
			}
			requests := []*wire.AggregateRequest{&bare}
			if len(req.Measures) > 1 {
				requests = append(requests, req)
			}
			if len(grouped.GroupBy) > 0 {
				requests = append(requests, &grouped)
			}
			for _, req := range requests { // joins may be declined
				what := j.String() + ": " + describeAggregate(t, req)
				list = append(list, p.asking(wire.PathAggregate, req, what, j.tables, http.StatusUnprocessableEntity))
			}
		}
		return list
	})
}

// maxDeclined is how many aggregates over joins may be declined before no more are asked for.
const maxDeclined = 6
