package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// The usual names, without case and separators, of what splits rows into pages.
var (
	sizeNames = []string{
		"limit", "perpage", "pagesize", "size", "count", "maxresults", "top", "first", "pagelimit", "take", "maxitems",
		"itemsperpage", "maxpagesize", "resultsperpage", "pagecount",
	}
	pageNames   = []string{"page", "pagenumber", "pagenum", "pageno", "pageindex", "currentpage", "pagenr"}
	offsetNames = []string{"offset", "skip", "startat", "startindex", "pageoffset", "startposition"}
	cursorNames = []string{
		"cursor", "pagetoken", "nexttoken", "nextpagetoken", "pagecursor", "continuationtoken", "continuation", "after",
		"startingafter", "startcursor", "pageafter", "marker", "afterid", "lastid", "bookmark", "scrollid", "nextcursor",
		"aftercursor", "paginationtoken",
	}
	nextNames = []string{
		"nextcursor", "nextpagetoken", "nexttoken", "nextpage", "next", "endcursor", "continuationtoken", "nextpagecursor",
		"bookmark", "scrollid", "nextmarker", "aftercursor", "nextoffset", "nextpaginationtoken", "after", "cursor",
	}
	nextLinkNames = []string{"nextlink", "nexturl", "nextpageurl", "nexthref", "odatanextlink", "nextpagelink", "nexturi"}
	nextURLNames  = slices.Concat([]string{"next", "nextpage"}, nextLinkNames)
	hasMoreNames  = []string{"hasmore", "hasnext", "hasnextpage", "more", "ismore", "hasmorepages", "morepages", "moreavailable"}
	totalNames    = []string{"total", "totalcount", "totalitems", "totalresults", "totalrecords", "totalelements", "totalrows"}
	// previousRow are the cursors that take the key of the last row.
	previousRow = []string{"after", "startingafter", "afterid", "lastid"}
)

// pagingParam reports whether a query parameter belongs to pages.
func pagingParam(name string) bool {
	return sign(name, slices.Concat(sizeNames, pageNames, offsetNames, cursorNames, []string{"before", "endingbefore", "around"})...)
}

// pages is what was found out about the pages of an endpoint.
type pages struct {
	by, param, next, lastRow, hasMore string
	sizeParam                         string
	size                              int
	fromZero                          bool
	total, totalHeader                string
	notes                             []note
	unknown                           string // what the description does not say
}

// pager finds out how an endpoint splits its rows into pages.
type pager struct {
	d   *description
	e   *endpoint
	l   *listing
	key string // the path of the key in a row, if it is one column
	p   pages
}

// pages returns how the rows of an endpoint are split. key is the path of the key in a
// row. A child table has no total: it would be that of one endpoint of many.
func (d *description) pages(e *endpoint, l *listing, key string, child bool) pages {
	r := &pager{d: d, e: e, l: l, key: key}
	r.kind()
	r.size()
	if !child {
		r.totals()
	}
	return r.p
}

// param returns the first query parameter of one of the names, whose schema fits.
func (r *pager) param(fits func(s shape) bool, names ...string) string {
	for _, name := range names {
		for _, p := range r.e.params {
			if p.In == "query" && sign(p.Name, name) && fits(r.d.shape(p.Schema)) {
				return p.Name
			}
		}
	}
	return ""
}

// member returns the first member of the answer of one of the names, whose shape fits.
func (r *pager) member(fits func(m *member) bool, names ...string) *member {
	for _, name := range names {
		for i := range r.l.members {
			if m := &r.l.members[i]; (sign(m.last(), name) || sign(m.ends(), name)) && fits(m) {
				return m
			}
		}
	}
	return nil
}

func unsure(s shape) bool { return len(s.kinds) != 1 || s.is("integer") || s.is("number") }
func text(s shape) bool   { return !s.whole() && !s.is("boolean") && !s.is("object") && !s.is("array") }

var urlFormat = regexp.MustCompile(`^(uri|url|iri)(-reference)?$`)

// address reports whether a member of an answer is the address of the next page.
func address(m *member) bool {
	if m.shape.is("integer") || m.shape.is("number") {
		return false
	}
	if urlFormat.MatchString(m.shape.format) ||
		sign(m.last(), nextLinkNames...) || sign(m.ends(), nextLinkNames...) {
		return true
	}
	above := m.names[:len(m.names)-1]
	return slices.ContainsFunc(above, func(name string) bool { return sign(name, "links", "link") }) ||
		regexp.MustCompile(`(?i)\b(url|uri|link|address)\b`).MatchString(m.shape.description)
}

// kind sets how pages follow each other.
func (r *pager) kind() {
	p := &r.p
	more := r.member(func(m *member) bool { return m.shape.is("boolean") }, hasMoreNames...)
	if more != nil {
		p.hasMore = more.path()
	}
	cursor := r.param(text, cursorNames...)
	if cursor == "" {
		cursor = r.param(func(s shape) bool { return s.is("string") }, slices.Concat(offsetNames, []string{"page", "start"})...)
	}
	page, offset := r.param(unsure, pageNames...), r.param(unsure, offsetNames...)
	next := r.nextURL()
	var nextCursor *member
	if cursor != "" {
		nextCursor = r.nextCursor(cursor)
	}
	switch {
	case r.hasLink():
		p.by = "PagingLink"
	case next != nil:
		p.by, p.next = "PagingURL", next.path()
		if next.shape.format == "" {
			p.guess("%s is the address of the next page.", next.path())
		}
	case nextCursor != nil:
		p.by, p.param, p.next = "PagingCursor", cursor, nextCursor.path()
		p.guess("%s of the answer is sent as %s to get the next page.", nextCursor.path(), cursor)
	case cursor != "" && r.key != "" && sign(cursor, previousRow...):
		p.by, p.param, p.lastRow = "PagingCursor", cursor, r.key
		p.guess("%s takes the %s of the last row.", cursor, r.key)
	case page != "":
		p.by, p.param = "PagingPage", page
		p.fromZero = r.startsAtZero(page)
	case offset != "":
		p.by, p.param = "PagingOffset", offset
		p.guess("%s is a number of rows, not of pages.", offset)
	default:
		r.without(cursor)
		return
	}
	for _, name := range []string{page, offset, cursor} {
		if name != "" && name != p.param {
			p.note("plain", "The API also pages by %s.", name)
		}
	}
}

// without decides what an endpoint is for which no way from page to page was found.
func (r *pager) without(cursor string) {
	p := &r.p
	size := r.param(unsure, sizeNames...)
	next := r.member(func(m *member) bool { return text(m.shape) }, nextNames...)
	switch {
	case next != nil && cursor == "":
		p.unknown = next.path() + " looks like the next page: is it an address, or which parameter takes it?"
	case cursor != "":
		p.unknown = "the parameter " + cursor + " takes a cursor: where in the answer is the next one?"
	case p.hasMore != "":
		p.unknown = p.hasMore + " says that there are more pages: how are they asked for?"
	case size != "":
		p.unknown = "the parameter " + size + " limits the rows: how is the next page asked for?"
	default:
		p.guess("all rows come in one answer: the description has no parameter of pages.")
		return
	}
	p.hasMore = ""
}

// hasLink reports whether answers have the header Link.
func (r *pager) hasLink() bool {
	answer, _, _ := r.e.answer()
	for name := range answer.Headers {
		if strings.EqualFold(name, "Link") {
			return true
		}
	}
	return false
}

// nextURL returns the member with the address of the next page.
func (r *pager) nextURL() *member { return r.member(address, nextURLNames...) }

// nextCursor returns the member with the next cursor.
func (r *pager) nextCursor(cursor string) *member {
	fits := func(m *member) bool { return !m.shape.is("boolean") && !m.shape.is("object") }
	if sign(cursor, "after", "cursor") {
		// A member of the parameter's own name beside a previous one tells of this page, or of the next.
		others := slices.DeleteFunc(slices.Clone(nextNames), func(name string) bool { return name == "cursor" })
		if m := r.member(fits, others...); m != nil {
			return m
		}
	}
	if m := r.member(fits, nextNames...); m != nil {
		return m
	}
	for i := range r.l.members { // such as next_page.offset, for the parameter offset
		m := &r.l.members[i]
		above := m.names[max(0, len(m.names)-2)]
		if letters(m.last()) == letters(cursor) && len(m.names) > 1 && strings.HasPrefix(letters(above), "next") && fits(m) {
			return m
		}
	}
	return nil
}

// startsAtZero reports whether a page's number begins at zero.
func (r *pager) startsAtZero(name string) bool {
	s := r.schema(name)
	zero := s != nil && (s.Min != nil && *s.Min == 0 || number(s.Default) == "0")
	switch {
	case zero:
		r.p.guess("the first page is 0, since %s may be 0.", name)
	case s == nil || s.Min == nil && s.Default == nil:
		r.p.guess("the first page is 1.")
	}
	return zero
}

// schema returns the schema of a query parameter, or nil.
func (r *pager) schema(name string) *openapi3.Schema {
	p := r.e.param("query", name)
	if p == nil || p.Schema == nil {
		return nil
	}
	return p.Schema.Value
}

func number(v any) string {
	switch v := v.(type) {
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case int, int64, uint64, json.Number:
		return fmt.Sprint(v)
	}
	return ""
}

// largest finds the size of the largest page in a description.
var largest = regexp.MustCompile(
	`(?i)(?:max(?:imum)?|up to|between 1 and|1 to|1-|1 - |at most|not exceed|no more than)[^0-9.]{0,24}([0-9]{1,6})`)

// maxSize is the largest page that is asked for. More rows make no fewer requests that count.
const maxSize = 1000

// size sets the size of a page.
func (r *pager) size() {
	p := &r.p
	if p.by == "" {
		return
	}
	name := r.param(unsure, sizeNames...)
	s := r.schema(name)
	if name == "" || s == nil || name == p.param {
		return
	}
	param := r.e.param("query", name)
	found := largest.FindStringSubmatch(param.Description + " " + s.Description)
	size := 0
	switch {
	case s.Max != nil:
		size = int(min(*s.Max, maxSize+1))
		if s.ExclusiveMax.IsTrue() {
			size--
		}
	case s.ExclusiveMax.Value != nil:
		size = int(min(*s.ExclusiveMax.Value, maxSize+1)) - 1
	case found != nil:
		size, _ = strconv.Atoi(found[1])
		p.guess("%s is at most %d, as its description says.", name, size)
	case number(s.Default) != "":
		size, _ = strconv.Atoi(number(s.Default))
		p.note("todo", "%s has no maximum in the description; this is its default. "+
			"Enter the largest that the API allows.", name)
	}
	if size < 2 {
		p.note("todo", "enter SizeParam: %q, and as Size the largest page that the API allows.", name)
		return
	}
	p.sizeParam, p.size = name, min(size, maxSize)
}

// totals sets where the number of all rows is.
func (r *pager) totals() {
	p := &r.p
	if p.by == "" {
		return
	}
	if m := r.member(func(m *member) bool { return m.shape.whole() }, totalNames...); m != nil {
		p.total = m.path()
		p.guess("%s is the exact number of rows in all pages. Remove it if it is an estimate or has a maximum.", p.total)
		return
	}
	answer, _, _ := r.e.answer()
	for _, name := range ordered(r.d, answer.Headers) {
		if sign(name, "xtotalcount", "xtotal", "totalcount") {
			p.totalHeader = name
			p.guess("the header %s has the exact number of rows in all pages.", name)
			return
		}
	}
}

func (p *pages) guess(format string, args ...any) { p.note("guess", format, args...) }

func (p *pages) note(kind, format string, args ...any) {
	p.notes = append(p.notes, note{kind, fmt.Sprintf(format, args...)})
}
