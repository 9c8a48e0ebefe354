package restsource

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// table is a Table that has been checked, with names as positions.
type table struct {
	Table
	columns   []column
	cells     []wire.Column
	pushable  connector.Pushdown
	described wire.Table
	key       []int // places of the primary key
	query     url.Values
	parent    *table

	envelope *picker    // of an answer: the rows, Next, HasMore and Total
	declared [][]string // their paths
	ignored  [][]string // of Pages.Ignore
	row      *picker    // of a row: the columns, then LastRowCursor

	// Of a table whose rows are in the parent's:
	graph        *query  // of GraphQL
	within       *picker // of a row of the parent, with the list
	withinPlaces int
	scalar       bool // a column has the element itself
}

// The places of an envelope's members.
const (
	atRows = iota
	atNext
	atMore
	atTotal
	places // how many there are
)

// column is a Column of a table.
type column struct {
	Column
	fromParent int // the place in the parent's row, or -1
}

// inRow reports whether the value is a member of the row.
func (c *column) inRow() bool { return c.fromParent < 0 && !c.Position }

// counts reports whether the API states the number of rows.
func (t *table) counts() bool { return t.Total != "" || t.TotalHeader != "" }

// place returns the place of a column, or -1.
func (t *table) place(name string) int {
	return slices.IndexFunc(t.columns, func(c column) bool { return c.Name == name })
}

// faultError is a fault of the declaration of one table.
type faultError struct {
	table, problem string
	at             int // the place of the table among those that were declared
}

func (e *faultError) Error() string {
	return fmt.Sprintf("restsource: table %q: %s", e.table, e.problem)
}

// compileAll checks tables together. It returns every fault.
func compileAll(tables []Table) (byName map[string]*table, order []*table, faults []*faultError) {
	fault := func(at int, problems ...string) {
		for _, problem := range problems {
			faults = append(faults, &faultError{tables[at].Name, problem, at})
		}
	}
	byName, places := map[string]*table{}, map[*table]int{}
	for i, declared := range tables {
		t := &table{Table: declared}
		if byName[t.Name] != nil {
			fault(i, "there are two of this name")
			continue
		}
		byName[t.Name], places[t] = t, i
		order = append(order, t)
	}
	done := map[*table]bool{}
	for _, t := range order {
		var chain []*table // of parents that are not compiled yet, the farthest last
		for next := t; next != nil && !done[next]; next = byName[next.Parent] {
			if slices.Contains(chain, next) {
				fault(places[next], "it is its own parent")
				return nil, nil, faults
			}
			chain = append(chain, next)
			if next.Parent == "" {
				break
			}
		}
		slices.Reverse(chain)
		for _, next := range chain {
			if next.Parent != "" {
				next.parent = byName[next.Parent]
			}
			fault(places[next], next.compile()...)
			done[next] = true
		}
	}
	for _, t := range order {
		for i, k := range t.ForeignKeys {
			if t.place(k.Field) < 0 {
				fault(places[t], fmt.Sprintf("foreignKeys[%d]: there is no column %q", i, k.Field))
			}
			to := byName[k.TargetTable]
			if to == nil || to.place(k.TargetField) < 0 && !faulty(faults, to.Name) {
				fault(places[t], fmt.Sprintf("foreignKeys[%d]: there is no column %q in a table %q",
					i, k.TargetField, k.TargetTable))
			}
		}
	}
	return byName, order, faults
}

func faulty(faults []*faultError, name string) bool {
	return slices.ContainsFunc(faults, func(f *faultError) bool { return f.table == name })
}

// compile checks one table whose parent is compiled already.
func (t *table) compile() (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if t.Name == "" {
		fault("it has no name")
	}
	if t.GraphQL != "" {
		t.compileQuery(fault)
	}
	var err error
	if t.query, err = url.ParseQuery(t.Query); err != nil {
		fault("query: must be spelled like a=1&b=2")
	}
	if t.Parent != "" && t.parent == nil {
		fault("parent: there is no table %q", t.Parent)
	}
	all := t.Columns
	if t.Sample != "" {
		if all, err = complete(t.Columns, []byte(t.Sample), t.Rows, t.Unwrap); err != nil {
			fault("sample: %s", err)
		}
	}
	if len(all) == 0 {
		fault("it has no columns")
	}
	t.compileColumns(all, fault)
	for _, name := range t.Key {
		at := t.place(name)
		if at < 0 {
			fault("key: there is no column %q", name)
			continue
		}
		t.key = append(t.key, at)
		t.columns[at].NotNull = true
	}
	t.placeFaults(fault)
	t.pageFaults(fault)
	t.pushFaults(fault)
	t.partFaults(fault)
	if t.graph != nil {
		t.variableFaults(fault)
	}
	if (t.Search == nil) != (t.SearchParam == "") || t.Search != nil && (t.embedded() || t.query.Has(t.SearchParam)) {
		fault("search: Search and SearchParam belong together, to a table with an endpoint, and not in Query")
	}
	t.describe()
	t.pushable = t.pushdown()
	t.row = newPicker(t.paths()...)
	t.compileEnvelope()
	if t.embedded() && t.parent != nil && len(faults) == 0 {
		t.compileWithin()
	}
	return faults
}

// paths returns where the columns are in a row, and then LastRowCursor. Those that are
// not in the row are nil.
func (t *table) paths() [][]string {
	paths := make([][]string, len(t.columns)+1)
	node := t.node()
	for i, c := range t.columns {
		if c.inRow() {
			paths[i] = slices.Concat(node, splitPath(c.Path))
		}
		if c.Path == "." {
			paths[i] = append([]string{}, node...)
		}
	}
	if t.Pages.LastRowCursor != "" {
		paths[len(t.columns)] = slices.Concat(node, splitPath(t.Pages.LastRowCursor))
	}
	return paths
}

// node returns where the row is in an element of the list.
func (t *table) node() []string {
	if t.graph == nil {
		return nil
	}
	return t.graph.node
}

// placeFaults checks where the rows are said to be.
func (t *table) placeFaults(fault func(string, ...any)) {
	if t.embedded() {
		t.embedFaults(fault)
		return
	}
	if t.AbsentIsEmpty {
		fault("AbsentIsEmpty is for a table whose rows are in the parent's")
	}
	if strings.Contains(t.Rows, "[]") {
		fault("rows: a list in each row is a table of its own, with this one as Parent and without a Path")
	}
	for _, path := range t.Partitions.Paths {
		if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, "?#") {
			fault("partitions: a path must begin with a slash, and have neither a query nor a fragment")
		}
	}
	if len(t.Partitions.Paths) > 0 {
		return
	}
	if t.Job.Create != "" {
		t.Job.faults(t, fault)
		return
	}
	atBase := t.GraphQL != "" && t.Path == ""
	if !atBase && !strings.HasPrefix(t.Path, "/") || strings.ContainsAny(t.Path, "?#") {
		fault("path: must begin with a slash, and have neither a query (use Query) nor a fragment")
	}
}

// compileEnvelope sets the picker of the table's answers.
func (t *table) compileEnvelope() {
	all := make([][]string, places)
	t.declared = nil
	for at, path := range [...]string{atRows: t.Rows, atNext: t.Pages.Next, atMore: t.Pages.HasMore, atTotal: t.Total} {
		if path != "" {
			all[at] = splitPath(path)
			t.declared = append(t.declared, all[at])
		}
	}
	for _, path := range t.Pages.Ignore {
		t.ignored = append(t.ignored, splitPath(path))
	}
	all[atRows] = splitPath(t.Rows)
	t.envelope = newPicker(all...)
	list, next := t.envelope, 0
	for i, name := range all[atRows] {
		list.path = all[atRows][:i:i]
		list, next = list.member(name, &next), 0
	}
	list.rows = len(list.members) == 0
}

func (t *table) compileColumns(all []Column, fault func(string, ...any)) {
	for i, c := range all {
		own := column{Column: c, fromParent: -1}
		if c.OfParent != "" {
			if t.parent == nil {
				fault("column %q: OfParent needs a Parent", c.Name)
			} else if own.fromParent = t.parent.place(c.OfParent); own.fromParent < 0 {
				fault("column %q: the parent has no column %q", c.Name, c.OfParent)
			} else {
				own.Type, own.NotNull = t.parent.columns[own.fromParent].Type, t.parent.columns[own.fromParent].NotNull
			}
		}
		if c.Name != "" && c.Name == t.Partitions.Column {
			own.NotNull = true
			if own.fromParent = 0; t.parent != nil {
				own.fromParent = len(t.parent.columns) // its value stands behind the parent's row
			}
		}
		if c.Position {
			own.Type, own.NotNull = wire.TypeNumber, true
			if !t.embedded() || c.OfParent != "" || c.Path != "" {
				fault("column %q: Position is for a table whose rows are in the parent's, and stands alone", c.Name)
			}
		}
		if c.Path == "." {
			t.scalar = true
			if !t.embedded() {
				fault("column %q: the Path \".\" is for a table whose rows are in the parent's", c.Name)
			}
		}
		own.Path = joinPath(c.names())
		switch {
		case c.Name == "":
			fault("columns[%d]: it has no name", i)
		case t.place(c.Name) >= 0:
			fault("columns[%d]: another column is named %q", i, c.Name)
		case !terms.IsType(own.Type) && c.OfParent == "":
			fault("column %q: its type is not one of the protocol's nine, and no Sample shows it", c.Name)
		}
		own.timeFaults(fault)
		t.columns = append(t.columns, own)
	}
}

// pageFaults checks what a kind of pages needs.
func (t *table) pageFaults(fault func(string, ...any)) {
	p := &t.Pages
	need := func(ok bool, what string) {
		if !ok {
			fault("pages: %q needs %s", p.By, what)
		}
	}
	switch p.By {
	case "":
		if t.embedded() {
			break
		}
		fault("pages: say how %s pages; restsource.OnePage if one answer has everything", cmp.Or(t.Path, "the endpoint"))
	case OnePage:
		if p.Param+p.Next+p.LastRowCursor+p.HasMore != "" || p.Func != nil {
			fault("pages: OnePage has no next page; say how the pages follow each other")
		}
	case PagingPage, PagingOffset:
		need(p.Param != "", "Param")
	case PagingScroll:
		need(p.Param != "" && p.Next != "", "Param and Next")
	case PagingCursor:
		need(p.Param != "", "Param")
		need((p.Next == "") != (p.LastRowCursor == ""), "either Next or LastRowCursor")
	case PagingURL:
		need(p.Next != "", "Next")
	case PagingLink:
	case PagingFunc:
		need(p.Func != nil, "Func")
	default:
		fault("pages: there is no kind %q", p.By)
	}
	byNumber := p.By == PagingPage || p.By == PagingOffset
	if p.EndStatus != 0 && (!byNumber || !missing(&statusError{status: p.EndStatus})) {
		fault("pages: EndStatus is a status such as 404 behind the last page, by number or offset")
	}
	if p.Ahead && !byNumber {
		fault("pages: Ahead is for pages by number or offset; each other page names the next")
	}
	if p.Resends && (byNumber || p.By == OnePage || len(t.Key) == 0) {
		fault("pages: Resends is for cursors, links and addresses, and needs a Key: by numbers and offsets, " +
			"a row that comes again has taken the place of another")
	}
	if (p.SizeParam == "") != (p.Size == 0) || p.Size < 0 || p.Size == 1 {
		fault("pages: SizeParam and Size belong together, and Size is 2 or more")
	}
}

// pushFaults checks the filters, the sorts and the placeholders of the path.
func (t *table) pushFaults(fault func(string, ...any)) {
	for i, f := range t.Filters {
		switch at := t.place(f.Column); {
		case at < 0:
			fault("filters[%d]: there is no column %q", i, f.Column)
		case t.columns[at].OfParent != "":
			fault("filters[%d]: column %q is the parent's; declare the filter there", i, f.Column)
		case t.columns[at].fromParent >= 0:
			fault("filters[%d]: column %q is the partition's; a filter on it needs no parameter", i, f.Column)
		case f.Name == "":
			fault("filters[%d]: Name is required", i)
		case len(impossible(&f, t.columns[at].Type)) == 0:
			fault("filters[%d]: an operator %q on a column of type %s cannot be pushed", i, f.Op, t.columns[at].Type)
		case t.query.Has(f.Name):
			fault("filters[%d]: the table's Query sends the parameter %q already", i, f.Name)
		case f.Round != 0 && !f.rounds(t.columns[at].Type):
			fault("filters[%d]: Round is for gt, gte, lt and lte on a datetime or a date, is not negative, and is not Exact", i)
		case f.Exact && !t.counts():
			fault("filters[%d]: Exact is no use without Total", i)
		}
	}
	for i, s := range t.Sorts {
		if t.place(s.Column) < 0 {
			fault("sorts[%d]: there is no column %q", i, s.Column)
		}
		for _, query := range []string{s.Asc, s.Desc} {
			if _, err := url.ParseQuery(query); err != nil {
				fault("sorts[%d]: Asc and Desc must be spelled like a=1&b=2", i)
			}
		}
	}
	given := t.placeholders()
	if p := t.Pages.Param; p != "" && slices.Contains(given, p) && (t.parent == nil || t.parent.place(p) < 0) {
		fault("path: {%s} is Pages.Param, which is sent as a query parameter and stands in no path", p)
	}
	if t.graph != nil {
		for _, v := range t.graph.variables {
			given = append(given, v.name)
		}
	}
	ofParent := func(name string) bool { return t.parent.place(name) >= 0 }
	if t.parent != nil && !t.embedded() && !slices.ContainsFunc(given, ofParent) {
		fault("path: it has no {column} of the parent, and neither has Query, " +
			"so every row of the parent would have the same endpoint")
	}
	if t.Parent != "" && (len(t.Sorts) > 0 || t.counts()) {
		fault("a table with a Parent can have neither Sorts nor Total: they would be those of one endpoint of many")
	}
}

// describe sets the table's description, as discovery begins with it.
func (t *table) describe() {
	d := wire.Table{
		Name:              t.Name,
		SourceDescription: t.Description,
		StoresRows:        true,
		PrimaryKey:        append([]string{}, t.Key...),
		ForeignKeys:       append([]wire.ForeignKey{}, t.ForeignKeys...),
		Fields:            make([]wire.Field, len(t.columns)),
	}
	t.cells = make([]wire.Column, len(t.columns))
	for i, c := range t.columns {
		t.cells[i] = wire.Column{Name: c.Name, Type: c.Type}
		source := c.Path
		if c.fromParent >= 0 {
			source = c.Name
		}
		if c.OfParent != "" {
			d.ForeignKeys = append(d.ForeignKeys, wire.ForeignKey{Field: c.Name, TargetTable: t.Parent, TargetField: c.OfParent})
		}
		d.Fields[i] = wire.Field{
			Name:              c.Name,
			SourceColumn:      source,
			Type:              c.Type,
			Nullable:          !c.NotNull,
			Unique:            c.Unique || len(t.Key) == 1 && t.Key[0] == c.Name,
			SourceDescription: c.Description,
			Samples:           []wire.Value{},
		}
	}
	t.described = d
}
