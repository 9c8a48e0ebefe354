package live

import (
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/compare"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/defaults"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/phrase"
	"github.com/connectorsdk/connector-sdk-go/internal/exam"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

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
	return p.askAll(exam.InTurn(p.tables, func(t *wire.Table) (list []question) {
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
	req := declared.AllRows(t)
	if !whole {
		req.Limit = p.window()
	}
	return p.Shown(p.Ask(wire.PathQuery, req, 0))
}

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
	for at, key := range compare.Project(data, k.fields) {
		row := data.Rows[at]
		for i, v := range key {
			if v.IsNull() && !nullable[i] {
				return check.Differs("a value in every row", message.Row(data.Columns, row),
					"%s: row %d has null in %s, which belongs to a key and is not nullable", ofTable(t), at, terms.QuoteName(k.fields[i]))
			}
		}
		if slices.ContainsFunc(key, wire.Value.IsNull) {
			continue
		}
		id := compare.RowKey(key)
		if first, duplicate := seen[id]; duplicate {
			received := fmt.Sprintf("row %d: %s\nrow %d: %s",
				first, message.Row(data.Columns, data.Rows[first]), at, message.Row(data.Columns, row))
			return check.Differs("each key once", received,
				"%s: two rows have the same %s (%s)", ofTable(t), k.what, phrase.Quote(k.fields))
		}
		seen[id] = at
	}
	return nil
}

// tellsCase is how many points of [liveRun.sortable] a column of texts has at least whose order depends on case.
const tellsCase = 3

// sortHolds judges the order under each column, downwards, because nulls are last in this direction too, with later
// keys where it ties; then under columns that were no later key, and upwards, where texts are to be collated: by
// bytes, too.
func sortHolds(p *liveRun) *check.Finding {
	by := func(t *wire.Table, sort ...wire.SortKey) question {
		return question{tables: []*wire.Table{t}, requests: 1, partly: true, judge: func(rows known) *check.Finding {
			return p.inOrder(t, rows.Tables[t.Name], sort, rows.whole && p.mayRead(1))
		}}
	}
	columns := p.sortable(p.tables)
	later := p.laterKeys(columns)
	var list, up []question
	collated := map[*wire.Table]bool{}
	for _, c := range columns {
		list = append(list, by(c.table, later.behind(c)...))
		text := terms.IsText(c.field().Type)
		upwards := by(c.table, wire.SortKey{Field: c.field().Name, Dir: wire.Asc, Collate: text})
		if text && !collated[c.table] && c.points >= tellsCase { // the most telling of each table at once
			collated[c.table] = true
			list = append(list, upwards)
		} else {
			up = append(up, upwards)
		}
	}
	for _, keys := range later.left() {
		list = append(list, by(keys.table, keys.sort...))
		n := min(1, len(up))
		list, up = append(list, up[:n]...), up[n:]
	}
	return p.askAll(slices.Values(append(list, up...)))
}

// laterKeys chooses later sort keys: each column before any is chosen again, those first that tell most.
type laterKeys struct {
	p       *liveRun
	columns []column
	tying   map[*wire.Table][]int // columns whose values repeat
	chosen  map[column]int        // how often each is a later key
	n       int                   // keys chosen
}

func (p *liveRun) laterKeys(columns []column) *laterKeys {
	l := &laterKeys{p: p, columns: columns, tying: map[*wire.Table][]int{}, chosen: map[column]int{}}
	for _, t := range p.tables {
		l.tying[t] = p.tyingColumns(t)
	}
	return l
}

// behind returns the sort by a column downwards, with two later keys if its values repeat.
func (l *laterKeys) behind(c column) []wire.SortKey {
	sort, before := []wire.SortKey{{Field: c.field().Name, Dir: wire.Desc}}, []int{c.index}
	for ties := slices.Contains(l.tying[c.table], c.index); ties && len(sort) < min(3, l.p.Document.SortKeys()); {
		best, points := column{}, 0
		for _, d := range l.columns {
			if d.table != c.table || slices.Contains(before, d.index) {
				continue
			}
			tells := l.tells(d, before)
			if rank := tells - mostPoints*l.chosen[d]; tells > 0 && (best.table == nil || rank > points) {
				best, points = d, rank
			}
		}
		if best.table == nil {
			break
		}
		dir := directions[l.n/2%2] // the same for both keys of a sort
		l.n++
		l.chosen[best]++
		sort, before = append(sort, wire.SortKey{Field: best.field().Name, Dir: dir}), append(before, best.index)
	}
	return sort
}

// directions are those of later keys, by turns.
var directions = []wire.Direction{wire.Desc, wire.Asc}

// tells returns what shows in the order of a column behind others of its table.
func (l *laterKeys) tells(c column, before []int) int {
	rows, _ := l.p.data(c.table)
	rows = firstRows(rows, chosenBy)
	if oracle.Unsettled(rows, []wire.SortKey{{Field: c.field().Name}}, nil) != "" {
		return 0
	}
	return exam.LaterOrderTells(rows, before, c.index)
}

type tableSort struct {
	table  *wire.Table
	sort   []wire.SortKey
	points int
}

// left returns orders for the columns that are no later key yet: each behind one that ties, the most telling first.
func (l *laterKeys) left() (list []tableSort) {
	if l.p.Document.SortKeys() < 2 {
		return nil
	}
	for _, c := range l.columns {
		if l.chosen[c] > 0 {
			continue
		}
		best := tableSort{table: c.table}
		for _, first := range l.tying[c.table] {
			if tells := l.tells(c, []int{first}); first != c.index && tells > best.points {
				best.points = tells
				best.sort = []wire.SortKey{{Field: c.table.Fields[first].Name, Dir: wire.Asc}, {Field: c.field().Name, Dir: wire.Desc}}
			}
		}
		if best.points > 0 {
			list = append(list, best)
		}
	}
	slices.SortStableFunc(list, func(a, b tableSort) int { return b.points - a.points })
	return list
}

// inOrder judges the order of a table's rows under a sort: of all of them or, if not whole, of a window.
func (p *liveRun) inOrder(t *wire.Table, data *oracle.Table, sort []wire.SortKey, whole bool) *check.Finding {
	if oracle.Unsettled(data, sort, nil) != "" {
		return nil
	}
	req := declared.AllRows(t)
	req.Sort = sort
	defer p.Covered.AddRequest(req)
	what := ofTable(t) + " sorted by " + describeSort(sort)
	if !whole {
		req.Limit = p.window()
		st, rows, f := p.read(t, req, defaults.WindowRows)
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
	if f == nil && !st.Served.Sort && len(sort) > 1 && p.mayRead(1) {
		return p.inOrder(t, data, sort[:1], whole) // some connectors sort by one column alone
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

func sorted(rows *oracle.Table, req *wire.QueryRequest, what string) *check.Finding {
	at, ok := oracle.Sorted(rows, req.Sort, nil)
	if ok {
		return nil
	}
	received := fmt.Sprintf("row %d: %s\nrow %d: %s",
		at-1, message.Row(rows.Columns, rows.Rows[at-1]), at, message.Row(rows.Columns, rows.Rows[at]))
	return check.Differs("rows in the requested order, nulls last", received,
		"%s: served.sort is true and row %d is out of order", what, at)
}

func describeSort(sort []wire.SortKey) string {
	var parts []string
	for _, k := range sort {
		part := terms.QuoteName(k.Field) + " " + string(k.Dir)
		if k.Collate {
			part += " with collate"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// judgedSort is the first key of a sort of a whole table that was judged.
type judgedSort struct {
	table, field string
	dir          wire.Direction
}
