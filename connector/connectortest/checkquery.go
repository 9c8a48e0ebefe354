package connectortest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// checkQuery compares an answer with all rows of its tables: what it claims to
// have served must be done, and no row may be missing either way.
func checkQuery(p *snapshot, req *wire.QueryRequest, a *Answer) error {
	if a.Served.Window && (!a.Served.Filters || !a.Served.Sort) {
		return &violation{"stream-2", "served.window is claimed without filters and sort, so rows are lost",
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

// expectation describes the right answers to a query.
type expectation struct {
	relation // every row of the table, joined
	req      *wire.QueryRequest
	members  []int           // the places of a row's members
	keys     []int           // the places of the sort keys
	kept     [][]wire.Value  // the rows that the filters keep, in order
	declared *filter.Program // the filters whose operators are declared
	match    *filter.Program
	counts   map[string]int // of the keys of kept
}

func expect(p *snapshot, req *wire.QueryRequest) (*expectation, error) {
	base, err := p.need(req.Table)
	if err != nil {
		return nil, err
	}
	if err := checkFilters(base, req.Where); err != nil {
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
			return nil, refuse("filter-11a", fmt.Sprintf("a sort by %q, which the table does not have", s.Field), wire.CodeUnknownEntity)
		}
		e.keys = append(e.keys, at)
	}
	if e.match, err = filter.Compile(req.Where, e.columns); err != nil {
		return nil, refuse("filter-14", err.Error(), wire.CodeBadRequest)
	}
	if e.declared, err = declaredFilters(p.doc, req, e.columns); err != nil {
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
		return nil, refuse("filter-11a", err.Error(), wire.CodeBadRequest)
	}
	if len(req.Sort) > 0 {
		slices.SortFunc(e.kept, order.Compare)
	}
	return e, nil
}

// member adds a member of the rows.
func (e *expectation) member(hop int, name string) error {
	at := e.place(hop, name)
	if at < 0 {
		return refuse("filter-11a", fmt.Sprintf("the field %q, which the table does not have", name), wire.CodeUnknownEntity)
	}
	e.members = append(e.members, at)
	return nil
}

// refuse returns the violation of answering what must be refused.
func refuse(rule, what string, code wire.Code) *violation {
	return &violation{rule, "the request has " + what, fmt.Sprintf("%d %s", code.Status(), code), "an answer"}
}

// checkFilters returns a violation for filters that discovery does not allow.
func checkFilters(base *reading, where wire.Where) error {
	for f := range where.Filters() {
		field := base.table.Field(f.Field)
		if field == nil {
			return refuse("filter-11", fmt.Sprintf("a filter on %q, which the table does not have", f.Field), wire.CodeUnsupported)
		}
		if is(field.Filterable, false) {
			return refuse("aggregate-7a", fmt.Sprintf("a filter on %q, which discovery calls not filterable", f.Field), wire.CodeUnsupported)
		}
	}
	return nil
}

func is(flag *bool, value bool) bool { return flag != nil && *flag == value }

// declaredFilters compiles the filters that every answered row must satisfy even
// if served.filters is false: those whose operators the document declares
// [rule filter-16].
func declaredFilters(doc *wire.Document, req *wire.QueryRequest, columns []wire.Column) (*filter.Program, error) {
	declared, _ := filter.Split(req.Where, func(f wire.Filter) bool {
		return slices.Contains(doc.Capabilities.Operators, f.Op)
	})
	return filter.Compile(declared, columns)
}

// checkRows compares the answered rows with the existing ones as multisets.
func (e *expectation) checkRows(a *Answer) error {
	match, allowed := e.match, e.counts
	if !a.Served.Filters {
		match, allowed = e.declared, map[string]int{}
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
			rule := "stream-2"
			if e.req.HasFilters() {
				rule += ", " + e.rulesOf(e.req.Where, nil)
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
		return &violation{e.rules(first),
			fmt.Sprintf("%d of %d rows that the filters keep are missing", len(missing), len(e.kept)),
			listing(missing, "rows"), fmt.Sprintf("%d rows without them", len(a.Rows))}
	}
	return nil
}

// answerKey returns the key of a row of the answer, comparable with rowKey.
func (e *expectation) answerKey(row []wire.Value) string {
	var key []byte
	for i, at := range e.members {
		key = filter.AppendKey(key, row[i], e.columns[at].Type)
	}
	return string(key)
}

// rules returns the rules that decide whether a row belongs to the answer.
func (e *expectation) rules(row []wire.Value) string {
	rules := e.rulesOf(e.req.Where, row)
	if len(e.req.Joins) > 0 {
		rules += ", query-6"
	}
	return rules
}

// tooMany returns the violation of row i of the answer, which does not belong to
// it.
func (e *expectation) tooMany(a *Answer, i int, key string, match *filter.Program) error {
	got := spellRow(a.Names, a.Rows[i])
	for _, row := range e.rows {
		if e.rowKey(row, e.members) != key || match.Match(row) {
			continue
		}
		rule := e.rulesOf(wire.Where{Or: e.req.Or}, row)
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
	rule := "query-16"
	if len(e.req.Joins) > 0 {
		rule = "query-6"
	}
	return &violation{rule, fmt.Sprintf("row %d is not there, or not so often, when the table is read whole", i), "no such row", got}
}

// windowed reports whether the answer is cut to a window. A stream also claims
// the window if the request has none.
func (e *expectation) windowed(a *Answer) bool {
	return a.Served.Window && (e.req.Offset > 0 || e.req.Limit > 0)
}

// window returns the range of kept that the answer must have.
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

// checkOrder compares the order of the answered rows with the right one. Rows
// that tie may be in any order, and a window that cuts through them may contain
// any of them.
func (e *expectation) checkOrder(a *Answer) error {
	if !a.Served.Sort {
		return nil
	}
	if !a.Served.Filters {
		// The set of rows is open, so only their visible sort keys can be judged.
		if i, ok := e.outOfOrder(a); ok && i > 0 {
			return e.misplaced(a, "query-1", i, nil)
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

// run returns the range of kept with the same sort keys as kept[i].
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

// orderRule returns the rules that a row in the wrong place may break: the order,
// or also the window if the order looks right.
func (e *expectation) orderRule(a *Answer) string {
	if i, ok := e.outOfOrder(a); !e.windowed(a) || ok && i > 0 {
		return "query-1"
	}
	return "query-1, stream-2"
}

// outOfOrder returns the first row of the answer that must come before its
// predecessor, or 0. It reports false if the answer lacks a sort key.
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

// misplaced returns the violation of row i of the answer, which is in the wrong
// place.
func (e *expectation) misplaced(a *Answer, rule string, i int, run [][]wire.Value) error {
	problem := "served.sort is claimed, and row %d is out of order"
	if rule != "query-1" {
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

// spellSort returns the keys of a sort for messages and names of tests.
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
