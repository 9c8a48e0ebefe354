package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// filter is a query parameter that selects rows by a column.
type filter struct {
	name, column, op string
	separator        string
	unix             bool // the values are seconds since 1970
	guess            string
}

// query is what the parameters of an endpoint are used for.
type query struct {
	fixed   []string // parameters that are always sent, such as "state=all"
	unknown []string // what has to be sent, and the description does not say how
	filters []filter
	notes   []note
	unused  []string
}

// ends are the ends of a parameter's name that make it a bound of a column. A bound that
// may include its value or not is one that does not: what is asked for is then never too
// little.
var ends = []struct {
	op    string
	after []string
}{
	{"OpGte", []string{"gte", "greaterthanorequal", "greaterthanorequalto", "min", "minimum"}},
	{"OpLte", []string{"lte", "lessthanorequal", "lessthanorequalto", "max", "maximum"}},
	{"OpGt", []string{"gt", "after", "since", "from", "start", "greaterthan"}},
	{"OpLt", []string{"lt", "before", "until", "to", "end", "lessthan"}},
	{"OpIn", []string{"in"}},
	{"OpStartsWith", []string{"startswith", "prefix"}},
	{"OpIncludes", []string{"contains", "includes"}},
}

// query decides what each parameter of an endpoint is for.
func (d *description) query(e *endpoint, columns []column, used []string) (q query) {
	for _, p := range e.params {
		switch {
		case p.In != "query" || slices.Contains(used, p.Name):
		case pagingParam(p.Name) && !p.Required:
		default:
			d.parameter(&q, p, columns)
		}
	}
	return q
}

func (d *description) parameter(q *query, p *openapi3.Parameter, columns []column) {
	s := d.shape(p.Schema)
	found := d.filtersOf(p, s, columns)
	preset := ""
	if p.Schema != nil && p.Schema.Value != nil && p.Schema.Value.Default != nil {
		preset = strings.TrimSpace(fmt.Sprint(p.Schema.Value.Default))
	}
	every := slices.IndexFunc(s.enum, func(v string) bool { return sign(v, "all", "any", "everything") })
	switch {
	case p.Required && len(s.enum) == 1:
		q.fixed = append(q.fixed, pair(p.Name, s.enum[0]))
	case p.Required && preset != "":
		q.fixed = append(q.fixed, pair(p.Name, preset))
		q.notes = append(q.notes, note{"guess", fmt.Sprintf("%s is required; it is sent with its default.", p.Name)})
	case p.Required:
		q.unknown = append(q.unknown, "the API requires the parameter "+p.Name)
	case narrows(p, s, preset, found) && every >= 0:
		if s.enum[every] != preset {
			q.fixed = append(q.fixed, pair(p.Name, s.enum[every]))
			q.notes = append(q.notes, note{"guess",
				fmt.Sprintf("%s=%s asks for all rows; by default the API answers %s only.", p.Name, s.enum[every], preset)})
		} else {
			q.add(p, found)
		}
	case narrows(p, s, preset, found):
		q.unknown = append(q.unknown, fmt.Sprintf("without %s the API answers only %s: what asks for all rows?", p.Name, preset))
	default:
		q.add(p, found)
	}
}

func (q *query) add(p *openapi3.Parameter, found []filter) {
	if len(found) == 0 {
		q.unused = append(q.unused, p.Name)
	}
	q.filters = append(q.filters, found...)
}

// leftOut are words for rows that an API leaves out unless it is asked for them.
var leftOut = []string{
	"deleted", "archived", "inactive", "hidden", "disabled", "closed", "all", "removed", "draft", "drafts",
}

// narrows reports whether an endpoint leaves rows out if a parameter is not sent: it has
// a default, and selects by a column, or its name tells of rows that are left out.
func narrows(p *openapi3.Parameter, s shape, preset string, found []filter) bool {
	if slices.Contains([]string{"", "<nil>", "[]", "map[]", "none", "all", "any"}, preset) {
		return false
	}
	if s.is("boolean") {
		name := words(p.Name)
		for _, begin := range []string{"include_", "show_", "with_", "list_"} {
			rest, ok := strings.CutPrefix(name, begin)
			if preset == "false" && ok && slices.Contains(leftOut, rest) {
				return true
			}
		}
	}
	return slices.ContainsFunc(found, func(f filter) bool { return f.op == "OpEq" || f.op == "OpIn" })
}

// filtersOf returns the filters that a parameter serves. None if it serves none, or if
// its values are of another type than the column's.
func (d *description) filtersOf(p *openapi3.Parameter, s shape, columns []column) (all []filter) {
	if s.is("object") || p.Style == "deepObject" {
		for _, inner := range s.props { // such as created[gte]
			if c, _ := match(columns, p.Name); c != nil {
				op := opOf(letters(inner.name))
				if f, ok := d.filter(c, p.Name+"["+inner.name+"]", op, d.shape(inner.schema)); ok && op != "" {
					all = append(all, f)
				}
			}
		}
		return all
	}
	name := strings.TrimSuffix(p.Name, "[]")
	c, op := match(columns, name)
	if c == nil {
		return nil
	}
	separator := ""
	if s.is("array") {
		if s = d.shape(s.items); op == "OpEq" {
			op = "OpIn"
		}
		if p.Explode != nil && !*p.Explode {
			separator = map[string]string{"": ",", "form": ",", "spaceDelimited": " ", "pipeDelimited": "|"}[p.Style]
			if separator == "" {
				return nil
			}
		}
		if op != "OpIn" {
			return nil
		}
	} else if op == "OpIn" {
		separator = ","
	}
	f, ok := d.filter(c, p.Name, op, s)
	if !ok {
		return nil
	}
	f.separator = separator
	if op == "OpIn" && separator == "," && !d.shape(p.Schema).is("array") {
		f.guess = p.Name + " takes several values, with commas between them."
	}
	return []filter{f}
}

func opOf(end string) string {
	for _, o := range ends {
		if slices.Contains(o.after, end) {
			return o.op
		}
	}
	return ""
}

// match returns the column whose name a parameter has, perhaps with a bound before or
// behind it, such as created_after, min_price or price[lte].
func match(columns []column, param string) (*column, string) {
	name := letters(param)
	var best *column
	op := ""
	for i := range columns {
		c := &columns[i]
		own := letters(c.name)
		if own == "" || c.ofParent != "" {
			continue
		}
		if own == name {
			return c, "OpEq"
		}
		for _, stem := range stems(own) {
			found := ""
			if rest, ok := strings.CutPrefix(name, stem); ok {
				found = opOf(rest)
			} else if rest, ok := strings.CutSuffix(name, stem); ok && slices.Contains([]string{"min", "max"}, rest) {
				found = opOf(rest)
			}
			if found != "" && (best == nil || len(own) > len(letters(best.name))) {
				best, op = c, found
			}
		}
	}
	return best, op
}

// stems returns the names by which a parameter can mean a column: created_at is also
// meant by created_after.
func stems(own string) []string {
	for _, end := range []string{"at", "on", "date", "time"} {
		if stem := strings.TrimSuffix(own, end); stem != own && len(stem) > 3 {
			return []string{own, stem}
		}
	}
	return []string{own}
}

// filter returns a filter if the column can be filtered so, and the values of the
// parameter are of its type.
func (d *description) filter(c *column, param, op string, s shape) (filter, bool) {
	f := filter{name: param, column: c.name, op: op}
	var values column
	values.columnType(s)
	switch {
	case c.kind == "TypeJSON", c.kind == "TypeArray", op == "":
		return f, false
	case op == "OpStartsWith" || op == "OpIncludes":
		return f, c.kind == "TypeString"
	case c.unix:
		f.unix = true
		return f, s.is("integer")
	case c.convert != "":
		return f, false
	case f.bound() && c.kind == "TypeString":
		return f, false // the API may order text otherwise
	case c.kind == values.kind:
		return f, true
	case c.kind == "TypeDecimal" || c.kind == "TypeNumber":
		return f, values.kind == "TypeDecimal" || values.kind == "TypeNumber"
	case c.kind == "TypeString" && op == "OpEq":
		return f, values.kind != "TypeJSON" && values.kind != "TypeArray"
	}
	return f, false
}

// bound reports whether the filter is one of an order.
func (f *filter) bound() bool {
	return f.op == "OpGt" || f.op == "OpGte" || f.op == "OpLt" || f.op == "OpLte"
}

// note returns what the filter assumes, or nothing.
func (f *filter) note() string {
	if f.guess != "" {
		return f.guess
	}
	switch f.op {
	case "OpEq", "OpIn":
		return ""
	}
	return fmt.Sprintf("%s is a bound of %s.", f.name, f.column)
}

func compareFilters(a, b filter) int { return cmp.Compare(a.column, b.column) }
