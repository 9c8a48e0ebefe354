package connectortest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// checkQuery holds an answer against all rows of its tables: what it claims to
// have served was served, and what it does not claim has lost no row.
func checkQuery(p *snapshot, req *wire.QueryRequest, a *Answer) error {
	if a.Served.Window && (!a.Served.Filters || !a.Served.Sort) {
		return &violation{"C2", "served.window is claimed without filters and sort, so rows are lost",
			"a window only over filtered and sorted rows", fmt.Sprintf("%+v", a.Served)}
	}
	e, err := expect(p, req)
	if err != nil {
		return err
	}
	if err := e.checkRows(a); err != nil {
		return err
	}
	return e.checkOrder(a)
}

// expectation is what a query is to be answered with.
type expectation struct {
	relation // every row of the table, joined
	req      *wire.QueryRequest
	members  []int           // the places of a row's members
	keys     []int           // the places of the sort keys
	kept     [][]wire.Value  // the rows that the filters keep, in order
	lawful   *filter.Program // the filters whose operators are declared
	match    *filter.Program
	counts   map[string]int // of the keys of kept
}

func expect(p *snapshot, req *wire.QueryRequest) (*expectation, error) {
	base, err := p.need(req.Table)
	if err != nil {
		return nil, err
	}
	if err := checkFilters(base, req.And, req.Or); err != nil {
		return nil, err
	}
	all, err := join(p, base, req.Joins)
	if err != nil {
		return nil, err
	}
	e := &expectation{relation: *all, req: req, counts: map[string]int{}}
	for _, name := range req.Fields {
		if err := e.member(0, name); err != nil {
			return nil, err
		}
	}
	for i, j := range req.Joins {
		for _, f := range j.Fields {
			if err := e.member(i+1, as(f)); err != nil {
				return nil, err
			}
		}
	}
	for _, s := range req.Sort {
		at := e.place(0, s.Field)
		if at < 0 {
			return nil, refuse("A11", fmt.Sprintf("a sort by %q, which the table does not have", s.Field), wire.CodeUnknownEntity)
		}
		e.keys = append(e.keys, at)
	}
	if e.match, err = filter.Compile(req.Where, e.columns); err != nil {
		return nil, refuse("A13", err.Error(), wire.CodeBadRequest)
	}
	if e.lawful, err = lawful(p.doc, req, e.columns); err != nil {
		return nil, err
	}
	for _, row := range e.rows {
		if e.match.Match(row) {
			e.kept = append(e.kept, row)
			e.counts[e.rowKey(row, e.members)]++
		}
	}
	order, err := filter.CompileOrder(req.Sort, e.columns, req.FieldTypes, nil)
	if err != nil {
		return nil, refuse("A11", err.Error(), wire.CodeBadRequest)
	}
	if len(req.Sort) > 0 {
		slices.SortFunc(e.kept, order.Compare)
	}
	return e, nil
}

// member adds a member of the rows (B5).
func (e *expectation) member(hop int, name string) error {
	at := e.place(hop, name)
	if at < 0 {
		return refuse("A11", fmt.Sprintf("the field %q, which the table does not have", name), wire.CodeUnknownEntity)
	}
	e.members = append(e.members, at)
	return nil
}

// refuse is an answer to what should have been refused.
func refuse(rule, what string, code wire.Code) *violation {
	return &violation{rule, "the request has " + what, fmt.Sprintf("%d %s", code.Status(), code), "an answer"}
}

// checkFilters refuses filters that the table's description forbids (A11, E7).
func checkFilters(base *reading, and []wire.Filter, or [][]wire.Filter) error {
	for _, group := range append([][]wire.Filter{and}, or...) {
		for _, f := range group {
			field := base.table.Field(f.Field)
			if field == nil {
				return refuse("A11", fmt.Sprintf("a filter on %q, which the table does not have", f.Field), wire.CodeUnsupported)
			}
			if is(field.Filterable, false) {
				return refuse("E7", fmt.Sprintf("a filter on %q, which discovery calls not filterable", f.Field), wire.CodeUnsupported)
			}
		}
	}
	return nil
}

func is(flag *bool, value bool) bool { return flag != nil && *flag == value }

// lawful is the part of the filters that every answered row satisfies even
// where served.filters is false: those whose operators the document declares
// (protocol, /query, rule 3).
func lawful(doc *wire.Document, req *wire.QueryRequest, columns []wire.Column) (*filter.Program, error) {
	declared, _ := filter.Split(req.Where, func(f wire.Filter) bool {
		return slices.Contains(doc.Capabilities.Operators, f.Op)
	})
	return filter.Compile(declared, columns)
}

// checkRows holds the answered rows against those there are, as a set in which
// equal rows count.
func (e *expectation) checkRows(a *Answer) error {
	match, allowed := e.match, e.counts
	if !a.Served.Filters {
		match, allowed = e.lawful, map[string]int{}
		for _, row := range e.rows {
			if match.Match(row) {
				allowed[e.rowKey(row, e.members)]++
			}
		}
	}
	seen := map[string]int{}
	for i, row := range a.Rows {
		key := e.answerKey(row)
		if seen[key]++; seen[key] > allowed[key] {
			return e.tooMany(a, i, key, match)
		}
	}
	if e.windowed(a) {
		from, to := e.window(a)
		if len(a.Rows) != to-from {
			rule := "C2"
			if len(e.req.And)+len(e.req.Or) > 0 {
				rule += ", " + e.rulesOf(e.req.And, e.req.Or, nil)
			}
			return &violation{rule, "served.window is claimed, and the window has another number of rows",
				fmt.Sprintf("%d rows: of %d that match, those from offset %d", to-from, len(e.kept), e.req.Offset),
				fmt.Sprintf("%d rows", len(a.Rows))}
		}
		return nil
	}
	var missing []string
	var first []wire.Value
	for _, row := range e.kept {
		if key := e.rowKey(row, e.members); seen[key] > 0 {
			seen[key]--
		} else {
			if first == nil {
				first = row
			}
			missing = append(missing, spellRow(a.Names, project(row, e.members)))
		}
	}
	if missing != nil {
		return &violation{e.rules(first), fmt.Sprintf("%d of %d rows that the filters keep are missing", len(missing), len(e.kept)),
			listing(missing, "rows"), fmt.Sprintf("%d rows without them", len(a.Rows))}
	}
	return nil
}

// answerKey is rowKey for a row of the answer.
func (e *expectation) answerKey(row []wire.Value) string {
	var key []byte
	for i, at := range e.members {
		key = filter.AppendKey(key, row[i], e.columns[at].Type)
	}
	return string(key)
}

// rules are the rulings by which a row is, or is not, an answer.
func (e *expectation) rules(row []wire.Value) string {
	rules := e.rulesOf(e.req.And, e.req.Or, row)
	if len(e.req.Joins) > 0 {
		rules += ", B6"
	}
	return rules
}

// tooMany says why row i of the answer should not be there.
func (e *expectation) tooMany(a *Answer, i int, key string, match *filter.Program) error {
	got := spellRow(a.Names, a.Rows[i])
	for _, row := range e.rows {
		if e.rowKey(row, e.members) != key || match.Match(row) {
			continue
		}
		rule := e.rulesOf(nil, e.req.Or, row)
		for _, f := range e.req.And {
			one, err := filter.Compile(wire.Where{And: []wire.Filter{f}, FieldTypes: e.req.FieldTypes}, e.columns)
			if err == nil && !one.Match(row) {
				at := e.place(0, f.Field)
				rule = ruleOf(f, row[at], e.columns[at].Type)
				got += fmt.Sprintf(", whose %s is %s", f.Field, spell(row[at]))
				break
			}
		}
		problem := "served.filters is claimed, and row %d is one that the filters refuse"
		if !a.Served.Filters {
			problem = "row %d is one that a filter with a declared operator refuses"
		}
		return &violation{rule, fmt.Sprintf(problem, i), "no such row", got}
	}
	rule := "protocol, /query"
	if len(e.req.Joins) > 0 {
		rule = "B6"
	}
	return &violation{rule, fmt.Sprintf("row %d is not there, or not so often, when the table is read whole", i), "no such row", got}
}

// windowed reports whether the answer is a part of what there is. A window is
// also claimed where none was asked for.
func (e *expectation) windowed(a *Answer) bool {
	return a.Served.Window && (e.req.Offset > 0 || e.req.Limit > 0)
}

// window is the part of kept that is to be answered.
func (e *expectation) window(a *Answer) (from, to int) {
	n := int64(len(e.kept))
	if !e.windowed(a) {
		return 0, int(n)
	}
	start := min(e.req.Offset, n)
	end := n
	if e.req.Limit > 0 && e.req.Limit < n-start {
		end = start + e.req.Limit
	}
	return int(start), int(end)
}

// checkOrder holds the answered rows against the order, up to ties: rows with
// equal sort keys may stand in any order, and a window that cuts through them
// may hold any of them.
func (e *expectation) checkOrder(a *Answer) error {
	if !a.Served.Sort {
		return nil
	}
	if !a.Served.Filters {
		// Which rows there are is open, so only what can be seen is judged.
		if i, ok := e.outOfOrder(a); ok && i > 0 {
			return e.misplaced(a, "B1", i, nil)
		}
		return nil
	}
	from, to := e.window(a)
	for start := from; start < to; {
		first, end := e.run(start)
		open := map[string]int{}
		for _, row := range e.kept[first:end] {
			open[e.rowKey(row, e.members)]++
		}
		stop := min(end, to)
		for i := start; i < stop; i++ {
			key := e.answerKey(a.Rows[i-from])
			if open[key]--; open[key] < 0 {
				return e.misplaced(a, e.orderRule(a), i-from, e.kept[first:end])
			}
		}
		start = stop
	}
	return nil
}

// run is where the rows begin and end that have the sort keys of kept[i].
func (e *expectation) run(i int) (first, end int) {
	key := e.rowKey(e.kept[i], e.keys)
	for first = i; first > 0 && e.rowKey(e.kept[first-1], e.keys) == key; {
		first--
	}
	for end = i + 1; end < len(e.kept) && e.rowKey(e.kept[end], e.keys) == key; {
		end++
	}
	return first, end
}

// orderRule tells a wrong order from what may be a window cut at the wrong
// place.
func (e *expectation) orderRule(a *Answer) string {
	if i, ok := e.outOfOrder(a); !e.windowed(a) || ok && i > 0 {
		return "B1"
	}
	return "B1, C2"
}

// outOfOrder is the first row of the answer that belongs before the one ahead
// of it, or 0; not ok when the answer does not show the sort keys.
func (e *expectation) outOfOrder(a *Answer) (int, bool) {
	columns := make([]wire.Column, len(e.members))
	for i, at := range e.members {
		columns[i] = e.columns[at]
	}
	visible := relation{columns: columns}
	var keys []int
	for _, s := range e.req.Sort {
		at := visible.place(0, s.Field)
		if at < 0 {
			return 0, false
		}
		keys = append(keys, at)
	}
	order, err := filter.CompileOrder(e.req.Sort, columns, e.req.FieldTypes, nil)
	if err != nil {
		return 0, false
	}
	for i := 1; i < len(a.Rows); i++ {
		before, row := a.Rows[i-1], a.Rows[i]
		if order.Compare(before, row) > 0 && visible.rowKey(before, keys) != visible.rowKey(row, keys) {
			return i, true
		}
	}
	return 0, true
}

// misplaced says that row i of the answer is not one of those that belong
// there.
func (e *expectation) misplaced(a *Answer, rule string, i int, run [][]wire.Value) error {
	problem := "served.sort is claimed, and row %d is out of order"
	if rule != "B1" {
		problem = "served.sort and served.window are claimed, and row %d does not belong there"
	}
	expected := "sort keys in order"
	if run != nil {
		var rows []string
		for _, row := range run {
			rows = append(rows, spellRow(a.Names, project(row, e.members)))
		}
		expected = listing(rows, "rows")
	}
	got := spellRow(a.Names, a.Rows[i])
	if i > 0 {
		got += " after " + spellRow(a.Names, a.Rows[i-1])
	}
	return &violation{rule, fmt.Sprintf(problem, i), expected, got}
}

// spellSort is the keys of a sort, for messages and names of tests.
func spellSort(sort []wire.SortKey) string {
	var b strings.Builder
	for i, s := range sort {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(s.Field + "-" + string(s.Dir))
	}
	return b.String()
}
