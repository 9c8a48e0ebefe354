package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// question is what the panel Ask asks, as the page sends it.
type question struct {
	Kind     string // rows, count or groups
	Table    string
	And      []condition
	Or       [][]condition
	Sort     []sortKey
	Limit    string
	Offset   string
	Fields   []string
	Joins    []hop
	GroupBy  []groupKey
	Measures []measure
	Top      string // how many groups; empty: all
	TopBy    string // the index of a measure
}

type sortKey struct {
	Field string
	Dir   wire.Direction
}

type groupKey struct {
	Field string
	Grain wire.Grain
}

type measure struct {
	Fn    wire.AggFunc
	Field string
}

// condition is a filter whose operand is what was typed.
type condition struct {
	Field string
	Op    wire.Op
	Text  string
}

// hop is a join, with the names of its fields.
type hop struct {
	FromTable, FromField, ToTable, ToField string
	Fields                                 []string
}

// asked is a question as the request that it is. One of the three is set.
type asked struct {
	query  *wire.QueryRequest
	count  *wire.CountRequest
	groups *wire.AggregateRequest
	top    int // how many groups; 0: all
	topBy  int // the measure by which they are the largest
}

// ask returns the request that a question is, over the tables that discovery lists. The error
// says what is wrong with what was typed.
func (q *question) ask(tables []wire.Table) (*asked, error) {
	find := func(name string) (*wire.Table, error) {
		for i := range tables {
			if tables[i].Name == name {
				return &tables[i], nil
			}
		}
		return nil, fmt.Errorf("there is no table %s", terms.QuoteName(name))
	}
	table, err := find(q.Table)
	if err != nil {
		return nil, err
	}
	where, err := q.where(table)
	if err != nil {
		return nil, err
	}
	var joins []wire.JoinHop
	taken := map[string]bool{}
	for i := range table.Fields {
		taken[table.Fields[i].Name] = true
	}
	for _, h := range q.Joins {
		to, err := find(h.ToTable)
		if err != nil {
			return nil, err
		}
		joins = append(joins, h.wire(taken, to))
	}
	switch q.Kind {
	case "count":
		return &asked{count: &wire.CountRequest{Table: table.Name, Where: where}}, nil
	case "groups":
		return q.askGroups(table, where, joins)
	}
	request := &wire.QueryRequest{Table: table.Name, Where: where, Fields: q.Fields, Joins: joins}
	for _, key := range q.Sort {
		request.Sort = append(request.Sort, wire.SortKey{Field: key.Field, Dir: key.Dir})
	}
	if request.Limit, err = number("the number of rows", q.Limit, 1); err != nil {
		return nil, err
	}
	if request.Offset, err = number("the number of rows to skip", q.Offset, 0); err != nil {
		return nil, err
	}
	return &asked{query: request}, nil
}

func (q *question) askGroups(table *wire.Table, where wire.Where, joins []wire.JoinHop) (*asked, error) {
	request := &wire.AggregateRequest{Table: table.Name, Where: where, Joins: joins, Limit: wire.AggregateLimit}
	taken := map[string]bool{}
	name := func(text string) string { return free(taken, text) }
	for _, key := range q.GroupBy {
		as := name(strings.Trim(key.Field+"_"+string(key.Grain), "_"))
		request.GroupBy = append(request.GroupBy, wire.GroupKey{Field: key.Field, Grain: key.Grain, As: as})
	}
	for _, m := range q.Measures {
		as := name(strings.Trim(string(m.Fn)+"_"+m.Field, "_"))
		request.Measures = append(request.Measures, wire.Measure{Fn: m.Fn, Field: m.Field, As: as})
	}
	a := &asked{groups: request}
	top, err := number("how many groups", q.Top, 1)
	if err != nil {
		return nil, err
	}
	a.top = int(min(top, wire.AggregateLimit))
	if a.topBy, err = strconv.Atoi(q.TopBy); a.top > 0 && (err != nil || a.topBy < 0 || a.topBy >= len(request.Measures)) {
		return nil, fmt.Errorf("the largest groups are taken by a figure; add one")
	}
	return a, nil
}

// free returns a text that is not taken, and takes it.
func free(taken map[string]bool, text string) string {
	for taken[text] {
		text += "_"
	}
	taken[text] = true
	return text
}

// where returns the filters of a question.
func (q *question) where(table *wire.Table) (w wire.Where, err error) {
	read := func(conditions []condition) ([]wire.Filter, error) {
		list := []wire.Filter{}
		for _, c := range conditions {
			f, err := c.filter(table)
			if err != nil {
				return nil, err
			}
			list = append(list, f)
		}
		return list, nil
	}
	if w.And, err = read(q.And); err != nil {
		return w, err
	}
	for _, group := range q.Or {
		filters, err := read(group)
		if err != nil {
			return w, err
		}
		w.Or = append(w.Or, filters)
	}
	return w, nil
}

// filter returns a condition as a filter of a column of the table.
func (c *condition) filter(table *wire.Table) (wire.Filter, error) {
	f := wire.Filter{Field: c.Field, Op: c.Op}
	field := table.Field(c.Field)
	if field == nil {
		return f, fmt.Errorf("the table has no column %s", terms.QuoteName(c.Field))
	}
	var err error
	switch terms.ShapeOf(c.Op) {
	case terms.ShapeValue:
		f.Value, err = operand(field, c.Text)
	case terms.ShapeMember:
		f.Values = []wire.Value{}
		for line := range strings.SplitSeq(c.Text, "\n") {
			if line = strings.TrimSuffix(line, "\r"); line == "" {
				continue
			}
			v, wrong := operand(field, line)
			if wrong != nil {
				err = wrong
			}
			f.Values = append(f.Values, v)
		}
	case terms.ShapeNullary:
	case terms.ShapeUnknown:
		err = fmt.Errorf("there is no such operator")
	}
	return f, err
}

// unfinished says what is still to be typed.
type unfinished string

func (u unfinished) Error() string { return string(u) }

// operand returns what was typed as a value for a column.
func operand(field *wire.Field, text string) (wire.Value, error) {
	switch {
	case text == "" && (field.Type == wire.TypeBoolean || field.Type.Numeric()):
		return wire.Null(), unfinished("type a value for " + terms.QuoteName(field.Name))
	case field.Type == wire.TypeBoolean && (text == "true" || text == "false"):
		return wire.Bool(text == "true"), nil
	case field.Type == wire.TypeBoolean:
		return wire.Null(), fmt.Errorf("%s is a boolean: true or false", terms.QuoteName(field.Name))
	case field.Type.Numeric() && terms.IsDecimal(text):
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return wire.Int(n), nil
		}
		return wire.Decimal(text), nil
	case field.Type.Numeric():
		return wire.Null(), fmt.Errorf("%s is a number, such as 12 or 0.50", terms.QuoteName(field.Name))
	}
	return wire.Text(text), nil
}

// wire returns a join of a request. A field whose name is taken, by the base table or by an earlier
// join, gets the name of its table before it, since two columns of one name are refused [rule query-6b].
func (h *hop) wire(taken map[string]bool, to *wire.Table) wire.JoinHop {
	hop := wire.JoinHop{FromTable: h.FromTable, ToTable: h.ToTable, FromField: h.FromField, ToField: h.ToField}
	for _, name := range h.Fields {
		as := name
		if taken[as] {
			as = to.Name + "_" + name
		}
		f := wire.JoinField{Field: name, As: free(taken, as)}
		if field := to.Field(name); field != nil {
			f.Type = field.Type
		}
		hop.Fields = append(hop.Fields, f)
	}
	return hop
}

// number reads an input that may be empty.
func number(what, text string, least int64) (int64, error) {
	if strings.TrimSpace(text) == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n < least || n > terms.MaxSafeInteger {
		return 0, fmt.Errorf("%s is a whole number, at least %d", what, least)
	}
	return n, nil
}

// route returns the path that takes the request, and the request.
func (a *asked) route() (string, wire.Request) {
	switch {
	case a.count != nil:
		return wire.PathCount, a.count
	case a.groups != nil:
		return wire.PathAggregate, a.groups
	}
	return wire.PathQuery, a.query
}

// shown is a question as a request: JSON to read, and a command to paste. Both have the name of
// a variable of the environment in the place of each secret.
type shown struct {
	JSON       string `json:"json"`
	Curl       string `json:"curl"`
	Problem    string `json:"problem"`
	Unfinished bool   `json:"unfinished"` // nothing is wrong so far, but something is still to be typed
}

// show returns the request to a connector. An average is shown as what the connector is asked for
// instead, since the protocol has none.
func (a *asked) show(c *connected) (*shown, error) {
	if a.groups != nil && slices.ContainsFunc(a.groups.Measures, func(m wire.Measure) bool { return m.Fn == platform.Avg }) {
		requests, _, err := c.Explain(a.groups)
		if err != nil {
			return nil, err
		}
		a = &asked{}
		switch last := requests[len(requests)-1].(type) {
		case *wire.AggregateRequest:
			a.groups = last
		case *wire.QueryRequest:
			a.query = last
		}
	}
	envelope := wire.Envelope{TimeoutMS: 60_000}
	switch {
	case a.count != nil:
		a.count.Envelope = envelope
	case a.groups != nil:
		a.groups.Envelope = envelope
	default:
		a.query.Envelope, a.query.IdleTimeoutMS = envelope, terms.PlatformIdleTimeout.Milliseconds()
	}
	path, message := a.route()
	body, err := wire.EncodeRequest(message)
	if err != nil {
		return nil, err
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, body, "", "  "); err != nil {
		return nil, err
	}
	const none = `"credentials":{}`
	request := conformance.Request{
		Method: http.MethodPost, URL: strings.TrimSuffix(c.url, "/") + path,
		Header: http.Header{"Authorization": {"Bearer $" + check.EnvToken}},
		Body:   strings.Replace(string(body), none, `"credentials":$`+check.EnvCredentials, 1),
	}
	return &shown{
		JSON: strings.Replace(pretty.String(), `"credentials": {}`, `"credentials": $`+check.EnvCredentials, 1), Curl: request.Curl(),
	}, nil
}
