package main

import (
	"slices"
	"strings"
)

// member is a member of an answer, with the names that lead to it.
type member struct {
	names []string
	shape shape
}

func (m *member) path() string { return memberPath(m.names...) }
func (m *member) last() string { return m.names[len(m.names)-1] }

// ends returns the last two names as one.
func (m *member) ends() string { return strings.Join(m.names[max(0, len(m.names)-2):], "_") }

// listing says where an answer has its rows.
type listing struct {
	names   []string // that lead to the list; none: the answer is the list
	row     shape
	guess   string   // why this list
	several []string // paths of lists between which the description does not decide
	members []member // of the answer, beside the lists
}

// wrappers are the usual names of the list in an answer.
var wrappers = []string{
	"data", "items", "results", "result", "records", "entries", "values", "value", "rows", "list", "objects", "elements",
	"content", "resources", "collection", "hits", "nodes", "edges",
}

// besides are lists in an answer that are not its rows.
var besides = []string{"errors", "warnings", "links", "included", "messages", "facets", "aggregations", "meta", "filters", "sort"}

// listing returns where the answer of an endpoint has rows. Nil, with a reason, if the
// answer is a list of something else; nil without one if it is no list.
func (d *description) listing(e *endpoint) (*listing, string) {
	if _, ok := isParam(lastSegment(e.path)); ok {
		return nil, ""
	}
	_, media, schema := e.answer()
	if schema == nil {
		if media != "" && d.paged(e) {
			return nil, "its answers are " + media + ", not JSON; declare Table.Unwrap"
		}
		return nil, ""
	}
	answer := d.shape(schema)
	if answer.is("array") {
		row := d.shape(answer.items)
		if reason := notRows(row); reason != "" {
			return nil, reason
		}
		return &listing{row: row}, ""
	}
	if !slices.Contains(answer.kinds, "object") {
		return nil, ""
	}
	l := &listing{}
	var lists []member
	noun := letters(lastSegment(e.path))
	d.walk(answer, nil, noun, &lists, &l.members)
	return d.choose(l, lists, e, noun)
}

func lastSegment(path string) string {
	all := segments(path)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// notRows returns why the elements of a list cannot be rows.
func notRows(row shape) string {
	if len(row.kinds) > 0 && !slices.Contains(row.kinds, "object") {
		return "its list has no objects (but " + strings.Join(row.kinds, ", ") + "); declare Table.Unwrap"
	}
	return ""
}

// around are the usual names of members that tell of pages.
var around = []string{
	"meta", "metadata", "pagination", "paging", "pageinfo", "links", "link", "cursors", "cursor", "responsemetadata", "info",
	"next", "nextpage", "resultset",
}

// wraps reports whether a member of this name can lead to the list of rows.
func wraps(name, noun string) bool {
	return sign(name, wrappers...) || sign(name, "response", "embedded", "payload", "body", "page") || letters(name) == noun
}

// walk collects the lists and the other members of an answer. It looks into members that
// usually lead to rows, or tell of pages.
func (d *description) walk(s shape, names []string, noun string, lists, members *[]member) {
	for _, p := range s.props {
		m := member{append(slices.Clone(names), p.name), d.shape(p.schema)}
		switch {
		case m.shape.is("array"):
			*lists = append(*lists, m)
		case m.shape.is("object"):
			if len(names) < 3 && (wraps(p.name, noun) || sign(p.name, around...)) {
				d.walk(m.shape, m.names, noun, lists, members)
			}
		default:
			*members = append(*members, m)
		}
	}
}

// choose finds the rows among the lists of an answer.
func (d *description) choose(l *listing, lists []member, e *endpoint, noun string) (*listing, string) {
	usual := func(m member) bool { return sign(m.last(), wrappers...) || letters(m.last()) == noun }
	var rows, named []member
	scalars := ""
	for _, m := range lists {
		above := m.names[:len(m.names)-1]
		if sign(m.last(), besides...) || slices.ContainsFunc(above, func(name string) bool { return !wraps(name, noun) }) {
			continue
		}
		if reason := notRows(d.shape(m.shape.items)); reason != "" {
			if usual(m) {
				scalars = reason
			}
			continue
		}
		rows = append(rows, m)
		if usual(m) {
			named = append(named, m)
		}
	}
	counted := slices.ContainsFunc(l.members, func(m member) bool {
		return !sign(m.last(), "total") && sign(m.last(), totalNames...) // an order has a total, too
	})
	switch {
	case len(named) == 1:
		l.names = named[0].names
	case len(named) > 1:
		l.several = pathsOf(named)
	case len(rows) == 0 && scalars != "":
		return nil, scalars
	case len(rows) == 1 && (counted || d.paged(e) || d.tellsPages(l.members) || len(lists) == 1 && len(l.members) == 0 ||
		strings.HasSuffix(noun, letters(rows[0].last()))):
		l.names = rows[0].names
		l.guess = "the only list of objects in the answer has the rows."
	case len(rows) > 1 && (d.paged(e) || d.tellsPages(l.members)):
		l.several = pathsOf(rows)
	default:
		return nil, ""
	}
	if l.names != nil {
		for _, m := range lists {
			if slices.Equal(m.names, l.names) {
				l.row = d.shape(m.shape.items)
			}
		}
	}
	return l, ""
}

func pathsOf(members []member) (paths []string) {
	for i := range members {
		paths = append(paths, members[i].path())
	}
	return paths
}

// paged reports whether an endpoint has a parameter of pages.
func (d *description) paged(e *endpoint) bool {
	for _, p := range e.params {
		if p.In == "query" && pagingParam(p.Name) {
			return true
		}
	}
	return false
}

// tellsPages reports whether an answer says that there are more rows.
func (d *description) tellsPages(members []member) bool {
	return slices.ContainsFunc(members, func(m member) bool {
		return sign(m.last(), hasMoreNames...) || sign(m.last(), nextNames...)
	})
}
