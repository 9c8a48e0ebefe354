package platform

import (
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Explain returns what a question will cost, without asking it. The question is a
// [*wire.QueryRequest], a [*wire.CountRequest] or a [*wire.AggregateRequest]; for others,
// and for a question that has no answer, Explain returns a [*RequestError].
//
// The requests are the first that each route and table will be sent, in their order and
// without credentials: what is in them is pushed. Further pages of a table differ from its
// first request by their window alone.
//
// The Stats are those of the answer from a connector that serves all that it is asked for:
// Served is what it is asked to do, and Filtered, Sorted and so on are what is left to be
// finished here. Requests and RowsRead are the most that there will be, or -1 if neither the
// question nor the connector sets an end. A row count of discovery counts as one, although
// the table may have grown since. If the connector may decline an aggregate, its rows are
// included. A page that was read ahead and is too large for it is asked for twice, which they
// do not count.
func (c *Connection) Explain(question wire.Request) (asked []wire.Request, most Stats, err error) {
	switch q := question.(type) {
	case *wire.QueryRequest:
		return c.explainQuery(q)
	case *wire.CountRequest:
		pushed, ok, err := c.pushCount(q)
		if err != nil {
			return nil, most, err
		}
		if ok {
			return []wire.Request{pushed}, Stats{Served: wire.Served{Filters: true}, Requests: 1}, nil
		}
		asked, most, err = c.explainQuery(countedRows(q))
		most.Counted = true
		return asked, most, err
	case *wire.AggregateRequest:
		a, err := c.planAggregate(q)
		if err != nil {
			return nil, most, err
		}
		asked, most, err = c.explainQuery(a.rows())
		if err != nil {
			return nil, most, err
		}
		if pushed, ok := c.pushAggregate(a); ok {
			return []wire.Request{pushed}, Stats{
				Served:   wire.Served{Filters: true},
				Requests: int(plus(int64(most.Requests), 1)),
				RowsRead: most.RowsRead,
			}, nil
		}
		most.Folded = true
		return asked, most, nil
	}
	return nil, most, refuse("a %T cannot be explained; pass a query, a count or an aggregate", question)
}

// explainQuery explains a query.
func (c *Connection) explainQuery(req *wire.QueryRequest) (asked []wire.Request, most Stats, err error) {
	p, err := c.plan(req)
	if err != nil {
		return nil, most, err
	}
	windowed := req.Limit > 0 || req.Offset > 0
	most.Served = wire.Served{
		Filters: p.pushedFilters,
		Sort:    p.pushedSort,
		Window:  p.pushedFilters && p.pushedSort && (p.pushedOffset || !windowed),
	}
	most.Filtered = req.HasFilters() && !p.pushedFilters
	most.Sorted = len(req.Sort) > 0 && !p.pushedSort
	most.Windowed = windowed && !p.pushedOffset
	if p.joins != nil {
		most.Joined = true
		for i, table := range p.joins.tables {
			if asked, err = c.explainPull(c.whole(table, p.joins.fields(i)), asked, &most); err != nil {
				return nil, most, err
			}
		}
	}
	asked, err = c.explainPull(&p.pull, asked, &most)
	return asked, most, err
}

// explainPull appends the first request of a pull, and adds what all its pages cost. A pull
// beyond the last row needs no request.
func (c *Connection) explainPull(p *pull, asked []wire.Request, most *Stats) ([]wire.Request, error) {
	r := &reading{c: c, pull: p, stats: new(Stats)}
	r.order()
	first, _, err := r.at(0)
	if first == nil {
		return asked, err
	}
	rows, end := c.mostRows(p)
	requests, again := int64(1), int64(0)
	if page := c.Document.Capabilities.Limits.PageSizeMax; page > 0 {
		step := page // new rows of a later page
		if r.keys == nil {
			step = max(page-1, 1)
		}
		switch {
		case rows < 0:
			requests = -1
		case end: // the last page is known to be the last
			requests += max(rows-page+step-1, 0) / step
		case rows >= page:
			requests += (rows-page)/step + 1
		}
		again = max(requests-1, 0) * (page - step)
	}
	most.Requests = int(plus(int64(most.Requests), requests))
	most.RowsRead = plus(most.RowsRead, plus(rows, again))
	return append(asked, first), nil
}

// mostRows returns the number of rows that a pull reads at most, or -1 if it is not known.
// It reports whether the reading ends there without another request, because the question
// or a limit says so. The row count of discovery says nothing about joined rows.
func (c *Connection) mostRows(p *pull) (rows int64, end bool) {
	rows = -1
	least := func(n int64, ends bool) {
		if n = max(n, 0); rows < 0 || n < rows {
			rows, end = n, ends
		}
	}
	if p.request.Limit > 0 {
		least(p.request.Limit, true)
	}
	if most := c.Document.Capabilities.Limits.RowsPerTableMax; most > 0 {
		least(most-p.request.Offset, true)
	}
	if p.table.RowCount != nil && eachOnce(c, p.request.Joins) {
		least(*p.table.RowCount-p.request.Offset, false)
	}
	return rows, end
}

// plus adds two numbers, of which -1 is not known.
func plus(a, b int64) int64 {
	if a < 0 || b < 0 {
		return -1
	}
	return a + b
}
