package platform

import (
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/keyset"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// plan is a query whose names have been looked up, divided between the connector
// and this side.
type plan struct {
	req    *wire.QueryRequest
	pull   pull          // what the connector is asked
	joins  *joins        // those that are executed here; nil: none
	answer []wire.Column // of the finished rows
	from   []int         // the cell of each answered column in the pulled and joined row

	pushedFilters bool // the connector is asked to apply all filters
	pushedSort    bool // ... the whole sort
	pushedOffset  bool // ... the offset
}

// plan divides a query. What it asks of the connector is within the document.
func (c *Connection) plan(req *wire.QueryRequest) (*plan, error) {
	table, err := c.table(req.Table)
	if err != nil {
		return nil, err
	}
	if req.Limit < 0 || req.Offset < 0 {
		return nil, refuse("limit and offset must not be negative")
	}
	p := &plan{req: req}
	p.pull.table = table
	p.pull.request.Table = req.Table
	pulled := &p.pull.request
	pulled.Where, p.pushedFilters = filter.Split(req.Where, keyset.Pushes(c.Document, table))
	p.pushedSort = keyset.Sorts(c.Document, len(req.Sort))
	if err := p.chooseFields(c); err != nil {
		return nil, err
	}
	if p.pushedSort {
		pulled.Sort = req.Sort
	}
	if p.paged(c) && len(pulled.Sort) > 0 {
		// If pages fit together under a key of the table alone, the rows are sorted here.
		end := int64(0)
		if p.pushedFilters {
			end = endOf(req)
		}
		if !c.pages(&p.pull, end) {
			pulled.Sort = nil
			if c.pages(&p.pull, 0) {
				p.pushedSort = false
			} else {
				pulled.Sort = req.Sort
			}
		}
	}
	p.pushWindow(c)
	return p, nil
}

// paged reports whether the connector may have to answer in several pages.
func (p *plan) paged(c *Connection) bool {
	if !p.pushedFilters || !p.pushedSort {
		return c.paged(0)
	}
	limit := p.req.Limit
	if limit > 0 && (!c.canSkip(p.req.Offset) || p.joins != nil) {
		limit = max(limit, limit+p.req.Offset) // which may be more than a number can state
	}
	return c.paged(limit)
}

// chooseFields picks what is pulled: the requested fields, and those that filters,
// sort and joins need here. Whether they will is not known before the answer.
func (p *plan) chooseFields(c *Connection) error {
	req, table := p.req, p.pull.table
	if err := distinct(req.Fields); err != nil {
		return err
	}
	fields := slices.Clone(req.Fields)
	need := func(name, where string) error {
		if table.Field(name) == nil {
			return refuse("%s: table %s has no field %s", where, terms.QuoteName(table.Name), terms.QuoteName(name))
		}
		if !slices.Contains(fields, name) {
			fields = append(fields, name)
		}
		return nil
	}
	for _, name := range req.Fields {
		if err := need(name, "fields"); err != nil {
			return err
		}
	}
	for f := range req.Filters() {
		if err := need(f.Field, "filter"); err != nil {
			return err
		}
	}
	for _, k := range req.Sort {
		if err := need(k.Field, "sort"); err != nil {
			return err
		}
	}
	if _, err := filter.Compile(req.Where, table.Columns()); err != nil {
		return planned(err)
	}
	if _, err := filter.CompileOrder(req.Sort, table.Columns(), nil, nil); err != nil {
		return planned(err)
	}
	joined, err := c.planJoins(table, req.Joins, req.Fields)
	if err != nil {
		return err
	}
	pushJoins := c.Document.Capabilities.Join && (!p.paged(c) || eachOnce(c, req.Joins))
	if !pushJoins && len(req.Joins) > 0 {
		p.joins = joined
		for _, j := range req.Joins {
			if j.FromTable == table.Name {
				_ = need(j.FromField, "joins") // planJoins has found it
			}
		}
	}
	if len(fields) == 0 {
		fields = countable(table)
	}
	p.pull.request.Fields = fields
	for _, name := range fields {
		p.pull.columns = append(p.pull.columns, wire.Column{Name: name, Type: table.Field(name).Type})
	}
	for i := range req.Fields {
		p.answer, p.from = append(p.answer, p.pull.columns[i]), append(p.from, i)
	}
	for i, column := range joined.columns {
		p.answer, p.from = append(p.answer, column), append(p.from, len(fields)+i)
	}
	if pushJoins {
		p.pushJoins(joined.stated())
	}
	return nil
}

// pushJoins asks the connector for the joins. A joined field whose name a field
// has that is pulled besides the requested ones gets another name on the wire.
func (p *plan) pushJoins(joins []wire.JoinHop) {
	taken := map[string]bool{}
	for _, c := range p.pull.columns {
		taken[c.Name] = true
	}
	for _, column := range p.answer[len(p.req.Fields):] {
		if extra := p.pull.request.Fields[len(p.req.Fields):]; !slices.Contains(extra, column.Name) {
			taken[column.Name] = true
		}
	}
	asked := len(p.req.Fields)
	for _, j := range joins {
		for i := range j.Fields {
			column := p.answer[asked]
			asked++
			if slices.Contains(p.pull.request.Fields, column.Name) {
				name := column.Name
				for n := 2; taken[column.Name]; n++ {
					column.Name = fmt.Sprintf("%s_%d", name, n)
				}
			}
			j.Fields[i].As = column.Name
			p.pull.columns = append(p.pull.columns, column)
		}
		p.pull.request.Joins = append(p.pull.request.Joins, j)
	}
}

// pushWindow asks for the window where nothing is left to do before it. Without
// an offset the connector is asked for the rows from the first one on. So it is
// where joins are executed here: each base row gives one row or more, so those
// up to the end of the window are enough.
func (p *plan) pushWindow(c *Connection) {
	req := p.req
	if !p.pushedFilters || !p.pushedSort {
		return
	}
	if p.joins == nil && c.canSkip(req.Offset) {
		p.pushedOffset = true
		p.pull.request.Offset, p.pull.request.Limit = req.Offset, req.Limit
	} else if req.Limit > 0 && req.Limit <= terms.MaxSafeInteger-req.Offset {
		p.pull.request.Limit = req.Offset + req.Limit
	}
}

// distinct refuses a field that is asked for twice. Of joined fields, planJoins does.
func distinct(fields []string) error {
	seen := map[string]bool{}
	for _, name := range fields {
		if seen[name] {
			return refuse("two columns are named %s", terms.QuoteName(name))
		}
		seen[name] = true
	}
	return nil
}

// countable returns the cheapest field by which rows can be counted. Rows
// without any member are legal, but not every connector knows.
func countable(t *wire.Table) []string {
	if key := keyset.Key(t); len(key) > 0 {
		return key[:1]
	}
	if len(t.Fields) > 0 {
		return []string{t.Fields[0].Name}
	}
	return nil
}
