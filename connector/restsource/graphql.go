package restsource

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// query is a parsed Table.GraphQL: a document, or for an embedded table the part of the
// parent's selection.
type query struct {
	before, after string   // the text around the mark
	rows          []string // the member path of the list
	node          []string // the member path of the row in an element of the list
	connection    bool     // the list has pages: it is nodes, or edges
	variables     []variable
}

// variable is a variable of a document.
type variable struct {
	name, kind string // kind is the type without the mark of a required one
	required   bool
}

// has reports whether the document has a variable.
func (q *query) has(name string) bool {
	return slices.ContainsFunc(q.variables, func(v variable) bool { return v.name == name })
}

// isDocument reports whether a Table.GraphQL is a whole document.
func isDocument(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "{") || strings.HasPrefix(text, "query")
}

// pageInfo is what the library asks of each connection.
const pageInfo = " pageInfo { hasNextPage endCursor } "

// parseQuery reads a Table.GraphQL.
func parseQuery(text string) (*query, error) {
	p := &queryParser{text: text, mark: -1}
	q := &query{}
	if isDocument(text) {
		p.rows = []string{"data"}
		if p.next() == "query" {
			q.variables = p.header()
		} else {
			p.back()
		}
	}
	p.selections()
	if p.failed == nil && p.mark < 0 {
		p.fail(`it has no "*", which stands for the fields of a row`)
	}
	if p.failed != nil {
		return nil, p.failed
	}
	path := p.markPath
	list := len(path)
	if n := len(path); n > 1 && path[n-1] == "node" && path[n-2] == "edges" {
		q.node, list, q.connection = []string{"node"}, n-1, true
	} else if n > 0 && path[n-1] == "nodes" {
		q.connection = true
	}
	q.rows = path[:list]
	q.before, q.after = text[:p.mark], text[p.mark+1:]
	above := list - len(p.rows) - 2 // the connection's place among the open braces
	q.connection = q.connection && above >= 0
	if q.connection {
		at := p.markOpen[above] // where its selection begins
		q.before = text[:at] + pageInfo + text[at:p.mark]
	}
	return q, nil
}

// queryParser reads as much of GraphQL as it takes to know where the rows are.
type queryParser struct {
	text     string
	at, last int // the place, and that of the last token
	rows     []string
	failed   error

	mark     int
	markPath []string
	markOpen []int // behind the braces that are open at the mark
}

func (p *queryParser) fail(text string) {
	if p.failed == nil {
		p.failed = errors.New(text)
	}
	p.at = len(p.text)
}

func (p *queryParser) back() { p.at = p.last }

// queryToken is a name, a number, a string, "...", one other character, or what has no meaning.
var queryToken = regexp.MustCompile(`(?s)^(?:[\s,]+|#[^\n]*|\.\.\.|""".*?(?:"""|$)|"(?:\\.|[^"\\])*"?|\w+|.)`)

// next returns the next token. At the end it is empty.
func (p *queryParser) next() string {
	for p.at < len(p.text) {
		p.last = p.at
		token := queryToken.FindString(p.text[p.at:])
		p.at += len(token)
		if !strings.ContainsAny(token[:1], " \t\r\n\f,#") {
			return token
		}
	}
	p.last = p.at
	return ""
}

func isName(token string) bool {
	return token != "" && (token[0] == '_' || unicode.IsLetter(rune(token[0])) || unicode.IsDigit(rune(token[0])))
}

// header reads what stands between the word query and its selection.
func (p *queryParser) header() (variables []variable) {
	token := p.next()
	if isName(token) { // the name of the operation
		token = p.next()
	}
	if token == "(" {
		variables = p.variables()
		token = p.next()
	}
	for token == "@" {
		p.directive()
		token = p.next()
	}
	p.back()
	return variables
}

// variables reads the declarations of variables up to the closing parenthesis.
func (p *queryParser) variables() (all []variable) {
	for {
		switch token := p.next(); token {
		case ")":
			return all
		case "$":
			v := variable{name: p.next()}
			if !isName(v.name) || p.next() != ":" {
				p.fail("a variable is declared like $name: Type")
				return all
			}
			for token = p.next(); isName(token) || token == "[" || token == "]" || token == "!"; token = p.next() {
				v.kind += token
			}
			if v.required = strings.HasSuffix(v.kind, "!") && token != "="; token == "=" {
				p.value()
			} else {
				p.back()
			}
			v.kind = strings.ReplaceAll(v.kind, "!", "")
			all = append(all, v)
		default:
			p.fail("a variable is declared like $name: Type")
			return all
		}
	}
}

// value reads a value.
func (p *queryParser) value() {
	switch token := p.next(); token {
	case "[", "{":
		p.balanced(token)
	case "-":
		p.next()
	}
	if p.next() != "." { // of a number with a fraction
		p.back()
		return
	}
	p.next()
}

// balanced reads up to the bracket that closes an open one.
func (p *queryParser) balanced(open string) {
	closing := map[string]string{"(": ")", "[": "]", "{": "}"}
	for {
		switch token := p.next(); token {
		case closing[open]:
			return
		case "(", "[", "{":
			p.balanced(token)
		case "":
			p.fail("a bracket is not closed")
			return
		}
	}
}

func (p *queryParser) directive() {
	p.next()
	if p.next() == "(" {
		p.balanced("(")
	} else {
		p.back()
	}
}

// selections reads nested selections up to the end of the text.
func (p *queryParser) selections() {
	type level struct {
		path string // of the field, "" for the document and for a fragment
		open int
	}
	var open []level
	field := ""
	for {
		switch token := p.next(); {
		case token == "":
			if len(open) > 0 {
				p.fail("a brace is not closed")
			}
			return
		case token == "{":
			open = append(open, level{field, p.at})
			field = ""
		case token == "}":
			if len(open) == 0 {
				p.fail("a brace is closed that is not open")
				return
			}
			open, field = open[:len(open)-1], ""
		case token == "(":
			p.balanced("(")
		case token == "@":
			p.directive()
		case token == "...":
			if field = ""; p.next() == "on" {
				p.next()
			} else {
				p.back()
			}
		case token == ":": // the name before it is an alias, which the answer has
			p.next()
		case token == "*":
			if p.mark >= 0 {
				p.fail(`it has "*" more than once`)
				return
			}
			p.mark, p.markPath = p.last, slices.Clone(p.rows)
			for _, l := range open {
				if l.path != "" {
					p.markPath = append(p.markPath, l.path)
					p.markOpen = append(p.markOpen, l.open)
				}
			}
		case isName(token):
			field = token
		default:
			p.fail(fmt.Sprintf("unexpected %q", token))
			return
		}
	}
}

// compileQuery reads Table.GraphQL, and sets what of the table follows from it.
func (t *table) compileQuery(fault func(string, ...any)) {
	q, err := parseQuery(t.GraphQL)
	if err != nil {
		fault("graphQL: %s", err)
		return
	}
	t.graph = q
	rows := joinPath(q.rows)
	if t.Rows != "" && t.Rows != rows { // a table with ColumnsOf is compiled more than once
		fault("rows: they are where the GraphQL query has its *")
	}
	t.Rows = rows
	if t.embedded() {
		return
	}
	if t.Body != nil || len(q.rows) < 2 {
		fault("graphQL: the * must be in the selection of a field, and Body is not used")
		return
	}
	if q.connection && t.Pages.By == "" {
		t.connect(q.rows[:len(q.rows)-1], fault)
	}
}

// connect sets the pages of a connection, as most APIs have them.
func (t *table) connect(connection []string, fault func(string, ...any)) {
	p := &t.Pages
	at := joinPath(connection) + ".pageInfo."
	p.By, p.Next, p.HasMore = PagingCursor, at+"endCursor", at+"hasNextPage"
	if p.Param == "" {
		p.Param = "after"
	}
	if p.SizeParam == "" && t.graph.has("first") {
		p.SizeParam = "first"
		if p.Size == 0 {
			p.Size = 100
		}
	}
	if !t.graph.has(p.Param) {
		fault("graphQL: a connection has pages, so declare $%s: String and pass it as the argument after", p.Param)
	}
}

// variableFaults checks that the parameters of a query are its variables.
func (t *table) variableFaults(fault func(string, ...any)) {
	need := func(name string) {
		if name != "" && !t.graph.has(name) {
			fault("graphQL: the query declares no variable $%s", name)
		}
	}
	for _, name := range t.sent() {
		need(name)
	}
	for _, f := range t.Filters {
		i := slices.IndexFunc(t.graph.variables, func(v variable) bool { return v.name == f.Name })
		if i >= 0 && f.Op == wire.OpIn && f.Separator == "" && !strings.HasPrefix(t.graph.variables[i].kind, "[") {
			fault("graphQL: the variable $%s takes one value, and an in has several; declare it like [String!]", f.Name)
		}
	}
}

// sent returns the names of the parameters that the table declares, without that of the page.
func (t *table) sent() []string {
	all := t.query
	for _, s := range t.Sorts {
		asc, _ := url.ParseQuery(s.Asc)
		desc, _ := url.ParseQuery(s.Desc)
		all = paramsOf(all, asc, desc)
	}
	names := append(slices.Sorted(maps.Keys(all)),
		t.Pages.SizeParam, t.SearchParam, t.Partitions.Param, t.Window.From, t.Window.To)
	for _, f := range t.Filters {
		names = append(names, f.Name)
	}
	return names
}

// fields is a selection that is being built.
type fields struct {
	names []string
	below map[string]*fields
	texts []string
}

func (f *fields) add(path []string) {
	for _, name := range path {
		if _, err := strconv.Atoi(name); err == nil {
			continue // the place in a list
		}
		if f.below == nil {
			f.below = map[string]*fields{}
		}
		if f.below[name] == nil {
			f.below[name] = &fields{}
			f.names = append(f.names, name)
		}
		f = f.below[name]
	}
}

func (f *fields) String() string {
	var texts []string
	for _, name := range f.names {
		if below := f.below[name]; len(below.names) > 0 {
			name += " { " + below.String() + " }"
		}
		texts = append(texts, name)
	}
	return strings.Join(append(texts, f.texts...), " ")
}

// selection is which columns of which tables a document asks for.
type selection struct {
	tables []*table // embedded ones
	wanted map[*table][]bool
}

// of returns the fields of a table, with the lists that are embedded in its rows.
func (s *selection) of(t *table) string {
	var own fields
	for i, c := range t.columns {
		switch wanted := s.wanted[t]; {
		case !c.inRow() || wanted != nil && !wanted[i] || c.Path == ".":
		case c.Select != "":
			own.texts = append(own.texts, c.Select)
		default:
			own.add(splitPath(c.Path))
		}
	}
	if t.Pages.LastRowCursor != "" {
		own.add(splitPath(t.Pages.LastRowCursor))
	}
	for _, below := range s.tables {
		switch {
		case below.parent.Name != t.Name: // a table with ColumnsOf is another one for each tenant
		case below.graph != nil:
			own.texts = append(own.texts, below.graph.before+s.of(below)+below.graph.after)
		default:
			own.add(splitPath(strings.TrimSuffix(below.Rows, "[]"))) // a list of texts or numbers
		}
	}
	text := own.String()
	if text == "" {
		return "__typename" // a selection cannot be empty
	}
	return text
}

// want adds columns of a table to the selection, with those of its key and its window, and with
// those of its parents that they come from.
func (s *selection) want(t *table, names []string) {
	wanted := make([]bool, len(t.columns))
	var above []string
	for i, c := range t.columns {
		wanted[i] = slices.Contains(names, c.Name) || slices.Contains(t.Key, c.Name) || c.Name == t.Window.Column
		if wanted[i] && c.fromParent >= 0 {
			above = append(above, c.OfParent)
		}
	}
	s.wanted[t] = wanted
	if t.embedded() {
		s.want(t.parent, above)
	}
}

// fieldsOf returns the columns that a request needs, so that a query asks for no more.
func fieldsOf(fields []string, where wire.Where, sort []wire.SortKey) []string {
	names := slices.Clone(fields)
	for _, f := range slices.Concat(where.And, slices.Concat(where.Or...)) {
		names = append(names, f.Field)
	}
	for _, s := range sort {
		names = append(names, s.Field)
	}
	return names
}

// document returns the query of an endpoint, and which columns it asks for: those with
// these names, or all of all tables that the request reads from the same answers.
func (x *session) document(own *table, names []string) (string, map[*table][]bool) {
	base := own.base()
	s := &selection{tables: own.levels(), wanted: map[*table][]bool{}}
	if shared := x.together[base]; len(shared) > 0 {
		s.tables = shared
	} else if names != nil {
		s.want(own, names)
	}
	return base.graph.before + s.of(base) + base.graph.after, s.wanted
}

// variables returns the variables that are the same for all pages of an endpoint: values of
// the parent's row, and credentials.
func (x *session) variables(t *table, parent []wire.Value, own *part) url.Values {
	values := url.Values{}
	sent := append(t.sent(), t.Pages.Param)
	for _, v := range t.graph.variables {
		if slices.Contains(sent, v.name) {
			continue
		}
		text, found, _ := x.above(t, parent, own, v.name) // null is no value
		if !found {
			text = x.creds.Get(v.name)
		}
		if text != "" {
			values.Set(v.name, text)
		}
	}
	return values
}

// body returns the body of a request with these parameters.
func (q *query) body(document string, params url.Values) ([]byte, error) {
	variables := map[string]any{}
	for _, v := range q.variables {
		texts, ok := params[v.name]
		if !ok {
			if v.required {
				return nil, fmt.Errorf("the variable $%s has no value: "+
					"it is no parameter of the table, no column of the parent and no credential", v.name)
			}
			continue
		}
		kind, list := strings.CutPrefix(v.kind, "[")
		kind = strings.TrimSuffix(kind, "]")
		values := make([]any, len(texts))
		for i, text := range texts {
			values[i] = variableValue(kind, text)
		}
		if list {
			variables[v.name] = values
		} else if len(values) > 0 {
			variables[v.name] = values[0]
		}
	}
	return json.Marshal(map[string]any{"query": document, "variables": variables})
}

// variableValue returns a parameter as a variable of a type takes it.
func variableValue(kind, text string) any {
	switch kind {
	case "Int", "Float":
		if v, err := textvalue.ParseNumber(text, wire.TypeDecimal); err == nil { // JSON has no plus sign and no needless zeros
			return json.Number(v.String())
		}
	case "Boolean":
		if text == "true" || text == "false" {
			return text == "true"
		}
	}
	return text
}
