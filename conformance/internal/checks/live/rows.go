package live

import (
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/compare"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/generate"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// keysUnique judges that declared keys are unique.
func keysUnique(p *liveRun) *check.Finding {
	return p.eachRead(func(t *wire.Table) (parts []func(*oracle.Table) *check.Finding) {
		for _, k := range keysOf(t) {
			parts = append(parts, func(data *oracle.Table) *check.Finding { return keyUnique(t, data, k) })
		}
		return parts
	})
}

// eachRead judges what was read of each table, all of its rows or some: every part of a plan.
func (p *liveRun) eachRead(plan func(t *wire.Table) []func(*oracle.Table) *check.Finding) *check.Finding {
	return p.askAll(generate.InTurn(p.tables, func(t *wire.Table) (list []question) {
		for _, judge := range plan(t) {
			list = append(list, question{tables: []*wire.Table{t}, partly: true, judge: func(rows known) *check.Finding {
				data := rows.Tables[t.Name]
				if len(data.Rows) == 0 {
					return nil
				}
				p.Cases++
				p.Last = p.readingOf(t, rows.whole)
				return judge(data)
			}})
		}
		return list
	}))
}

// readingOf returns the request by which a table's rows were read, for the report.
func (p *liveRun) readingOf(t *wire.Table, whole bool) *check.Request {
	req := session.AllRows(t)
	if !whole {
		req.Limit = p.window()
	}
	return p.Shown(p.Ask(wire.PathQuery, req, 0))
}

// declaredKey is a key that discovery declares: fields that together are unique.
type declaredKey struct {
	what   string
	fields []string
}

// keysOf returns the declared primary key and unique fields of a table.
func keysOf(t *wire.Table) (list []declaredKey) {
	if len(t.PrimaryKey) > 0 {
		list = append(list, declaredKey{"primary key", t.PrimaryKey})
	}
	for _, f := range t.Fields {
		if f.Unique && !slices.Equal(t.PrimaryKey, []string{f.Name}) {
			list = append(list, declaredKey{"unique field", []string{f.Name}})
		}
	}
	return list
}

func keyUnique(t *wire.Table, data *oracle.Table, k declaredKey) *check.Finding {
	nullable := make([]bool, len(k.fields))
	for i, name := range k.fields {
		field := t.Field(name)
		if field == nil {
			return check.Block("P3.1b", "%s has no field %s, which its key names", ofTable(t), terms.QuoteName(name))
		}
		nullable[i] = field.Nullable
	}
	seen := map[string]int{}
	for at, key := range session.Project(data, k.fields) {
		row := data.Rows[at]
		for i, v := range key {
			if v.IsNull() && !nullable[i] {
				return check.Differs("a value in every row", session.ShowRow(data.Columns, row),
					"%s: row %d has null in %s, which belongs to a key and is not nullable", ofTable(t), at, terms.QuoteName(k.fields[i]))
			}
		}
		if slices.ContainsFunc(key, wire.Value.IsNull) {
			continue
		}
		id := session.RowKey(key)
		if first, duplicate := seen[id]; duplicate {
			received := fmt.Sprintf("row %d: %s\nrow %d: %s",
				first, session.ShowRow(data.Columns, data.Rows[first]), at, session.ShowRow(data.Columns, row))
			return check.Differs("each key once", received,
				"%s: two rows have the same %s (%s)", ofTable(t), k.what, session.QuoteNames(k.fields))
		}
		seen[id] = at
	}
	return nil
}

// sortHolds judges the order under each column, downwards, because nulls are last in this direction
// too, and behind them under two columns.
func sortHolds(p *liveRun) *check.Finding {
	var single, double []question
	last := map[*wire.Table]string{}
	for _, c := range p.sortable(p.tables) {
		name := c.field().Name
		by := func(sort ...wire.SortKey) question {
			return question{tables: []*wire.Table{c.table}, requests: 1, partly: true, judge: func(rows known) *check.Finding {
				return p.inOrder(c.table, rows.Tables[c.table.Name], sort, rows.whole && p.room(1))
			}}
		}
		single = append(single, by(wire.SortKey{Field: name, Dir: wire.Desc}))
		if before := last[c.table]; before != "" && p.Document.SortKeys() > 1 {
			double = append(double, by(wire.SortKey{Field: before, Dir: wire.Desc}, wire.SortKey{Field: name, Dir: wire.Asc}))
		}
		last[c.table] = name
	}
	return p.askAll(slices.Values(append(single, double...)))
}

// inOrder judges the order of a table's rows under a sort: of all of them or, if not whole, of a window.
func (p *liveRun) inOrder(t *wire.Table, data *oracle.Table, sort []wire.SortKey, whole bool) *check.Finding {
	if oracle.Unsettled(data, sort, nil) != "" {
		return nil
	}
	req := session.AllRows(t)
	req.Sort = sort
	defer p.Covered.AddRequest(req)
	what := ofTable(t) + " sorted by " + describeSort(sort)
	if !whole {
		req.Limit = p.window()
		st, rows, f := p.read(t, req, session.WindowRows)
		if f != nil || !st.Served.Sort || st.Over {
			return f
		}
		p.Cases++
		return sorted(rows, req, what)
	}
	st, final, f := p.ask(t, req)
	if f == nil && !st.Served.Sort && len(data.Rows) > 0 {
		// Some connectors sort no more rows than a limit asks for.
		req.Limit = p.window()
		st, final, f = p.ask(t, req)
	}
	if f != nil || final == nil || !st.Served.Sort {
		return f // a sort that is not served is left to the platform
	}
	p.Cases++
	if f := sorted(final, req, what); f != nil {
		return f
	}
	p.sorted[judgedSort{t.Name, sort[0].Field, sort[0].Dir}] = true
	return differs(what, compare.Leniently.Rows(oracle.Tables{data.Name: data}, req, final.Rows))
}

// sorted returns the finding about a row that is out of order.
func sorted(rows *oracle.Table, req *wire.QueryRequest, what string) *check.Finding {
	at, ok := oracle.Sorted(rows, req.Sort, nil)
	if ok {
		return nil
	}
	received := fmt.Sprintf("row %d: %s\nrow %d: %s",
		at-1, session.ShowRow(rows.Columns, rows.Rows[at-1]), at, session.ShowRow(rows.Columns, rows.Rows[at]))
	return check.Differs("rows in the requested order, nulls last", received,
		"%s: served.sort is true and row %d is out of order", what, at)
}

func describeSort(sort []wire.SortKey) string {
	var parts []string
	for _, k := range sort {
		parts = append(parts, terms.QuoteName(k.Field)+" "+string(k.Dir))
	}
	return strings.Join(parts, ", ")
}
