package restsource

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// endpoint is one list of rows that is read: a table's, or that of one row of its
// parent.
type endpoint struct {
	*table
	path   string       // expanded
	params url.Values   // of the filters and the sort that are pushed
	few    bool         // filters are pushed, so a total may be that of more rows
	start  int64        // rows to skip, by PagingOffset
	size   int          // of a page, if there is a SizeParam
	parent []wire.Value // the parent's row
}

// position is the place of a page. The first page has the zero position.
type position struct {
	number int64 // of the page, or of the rows before it
	text   string
	beyond bool // behind the total: there should be no such page
	doubt  bool // no page: nothing has shown yet that the first one is the last
}

// page is one answer, read. What it says about the pages behind it is as the answer
// has it: what that means depends on the pages before.
type page struct {
	rows  [][]wire.Value
	total int64 // -1: none is stated
	sum   uint64
	text  string        // the JSON; "" if there is no content
	more  textvalue.Raw // the member HasMore
	next  textvalue.Raw // the cursor, the address or the parameters of the next page
	null  bool          // null in place of the list of rows
	has   []bool        // of each column, whether a row has its member
}

// endpoint returns a table's endpoint. parent is the row of the parent, if there is
// one.
func (x *session) endpoint(t *table, p push, parent []wire.Value) (*endpoint, error) {
	path, err := template(t.Path).expand(func(name string) (string, error) {
		if t.parent != nil {
			if at := t.parent.place(name); at >= 0 && parent[at].IsNull() {
				return "", &formError{t.Name, fmt.Sprintf("a row of the parent has no value in column %q", name)}
			} else if at >= 0 {
				return segment(parent[at].String())
			}
		}
		return x.credentialed(name)
	})
	return &endpoint{table: t, path: path, params: p.params, few: len(p.filters) > 0, size: t.Pages.Size, parent: parent}, err
}

// page requests one page.
func (x *session) page(ctx context.Context, e *endpoint, at position) (*page, error) {
	u, body, err := x.request(e, at)
	if err != nil {
		return nil, err
	}
	a, err := x.send(ctx, e.Name, u, body)
	if err != nil {
		return nil, err
	}
	p, err := e.read(a)
	if err == nil && at == (position{}) {
		err = e.empty(p, e.start)
	}
	return p, err
}

// request returns the address of a page, and the body of its request if that is a
// POST.
func (x *session) request(e *endpoint, at position) (*url.URL, []byte, error) {
	p := &e.Pages
	if (p.By == PagingLink || p.By == PagingURL) && at.text != "" {
		u, err := url.Parse(at.text)
		if err != nil {
			return nil, nil, &formError{e.Name, "the address of the next page is malformed"}
		}
		return u, nil, nil
	}
	params := paramsOf(e.query, e.params)
	if p.SizeParam != "" {
		params.Set(p.SizeParam, strconv.Itoa(e.size))
	}
	switch {
	case p.By == PagingPage && at == position{} && !p.FromZero:
		params.Set(p.Param, "1")
	case p.By == PagingPage:
		params.Set(p.Param, strconv.FormatInt(at.number, 10))
	case p.By == PagingOffset && at == position{}:
		params.Set(p.Param, strconv.FormatInt(e.start, 10))
	case p.By == PagingOffset:
		params.Set(p.Param, strconv.FormatInt(at.number, 10))
	case p.By == PagingCursor && at.text != "":
		params.Set(p.Param, at.text)
	case p.By == PagingFunc && at.text != "":
		more, err := url.ParseQuery(at.text)
		if err != nil {
			return nil, nil, err
		}
		params = paramsOf(params, more)
	}
	if e.Body == nil {
		return x.at(e.path, params), nil, nil
	}
	body, err := e.Body(params)
	return x.at(e.path, nil), append([]byte{}, body...), err
}

// read reads an answer.
func (e *endpoint) read(a *answer) (*page, error) {
	found := make([]textvalue.Raw, envelopePlaces)
	p := &page{total: -1, has: make([]bool, len(e.columns))}
	var body []byte
	var last textvalue.Raw // of LastRowCursor
	switch a.status {
	case http.StatusOK, http.StatusCreated, http.StatusNonAuthoritativeInfo, http.StatusPartialContent:
		var err error
		if body, err = e.unwrapped(a); err != nil {
			return nil, err
		}
		p.text = string(body)
		if found, err = e.envelope.parse(p.text, envelopePlaces); err != nil {
			return nil, &formError{e.Name, "the answer is not JSON: " + err.Error()}
		}
		p.null = found[atRows].Kind == textvalue.Null
		if slices.ContainsFunc(found[atErrors:], func(r textvalue.Raw) bool { return !tellsNothing(r) || p.null && !r.None() }) {
			return nil, &refusedError{e.Name}
		}
		if last, err = e.rowsOf(p, found[atRows]); err != nil {
			return nil, err
		}
		p.sum = maphash.String(sumSeed, found[atRows].Text)
	case http.StatusNoContent:
	default:
		return nil, &statusError{e.Name, a.status}
	}
	if e.counts() {
		if p.total = e.stated(a, found[atTotal]); p.total < 0 && p.text != "" {
			return nil, &formError{e.Name, "there is no number of rows at Total or in TotalHeader"}
		}
	}
	p.more, p.next = found[atMore], found[atNext]
	if e.Pages.LastRowCursor != "" {
		p.next = last
	}
	return p, e.link(p, a, body)
}

// unwrapped returns the JSON of an answer.
func (e *endpoint) unwrapped(a *answer) ([]byte, error) {
	if e.Unwrap != nil {
		body, err := e.Unwrap(a.body)
		if err != nil {
			return nil, &formError{e.Name, "Unwrap: " + err.Error()}
		}
		return body, nil
	}
	if a.html() {
		return nil, &formError{e.Name, "the API answered with HTML"}
	}
	return a.body, nil
}

// link sets what an answer says about the next page beyond its members.
func (e *endpoint) link(p *page, a *answer, body []byte) error {
	switch e.Pages.By {
	case PagingFunc:
		if p.text == "" {
			return nil
		}
		params, more, err := e.Pages.Func(body, a.header)
		if err != nil {
			return err
		}
		if p.next = (textvalue.Raw{Kind: textvalue.Null}); more {
			p.next = textvalue.Raw{Text: params.Encode(), Kind: textvalue.Text}
		}
	case PagingLink, PagingNone:
		p.next = nextLink(a.header)
		fallthrough
	case PagingURL:
		if p.next.Kind != textvalue.Text || p.next.Text == "" {
			return nil
		}
		u, err := a.url.Parse(p.next.Text) // it may be relative to the address that was asked
		if err != nil {
			return &formError{e.Name, "the address of the next page is malformed"}
		}
		p.next.Text = u.String()
	}
	return nil
}

// empty fails if a page has null for its rows and says that there are more than were
// read before it [rule error-10].
func (e *endpoint) empty(p *page, read int64) error {
	if p.null && (p.next.Text != "" || p.more.Text == "true" || p.total > read) {
		return &formError{e.Name, "Rows is null, although the answer says that there are more rows"}
	}
	return nil
}

// stated returns the number of rows that an answer states, or a negative number if it
// states no total.
func (e *endpoint) stated(a *answer, total textvalue.Raw) int64 {
	n, ok := int64(-1), false
	if e.TotalHeader != "" {
		stated, err := strconv.ParseInt(a.header.Get(e.TotalHeader), 10, 64)
		n, ok = stated, err == nil
	} else if total.Kind == textvalue.Number {
		n, ok = jsontext.ExactInteger(total.Text)
	}
	if !ok {
		return -1
	}
	return n
}

// sumSeed is the seed of the sums of pages and keys. Sums are compared within one
// process only.
var sumSeed = maphash.MakeSeed()

// rowsOf reads the list of rows into a page. An endpoint of one page may answer one object in the
// list's place, which is one row.
func (e *endpoint) rowsOf(p *page, list textvalue.Raw) (after textvalue.Raw, err error) {
	text := list.Text
	switch {
	case list.Kind == textvalue.Object && e.Pages.By == PagingNone && e.Rows != "":
		text = "[" + text + "]"
	case list.Kind == textvalue.Null:
		return after, nil
	case list.Kind != textvalue.Array:
		return after, &formError{e.Name, "there is no list of rows at Rows"}
	}
	found := make([]textvalue.Raw, len(e.columns)+1)
	err = each(text, func(s *textvalue.Reader) error {
		if s.Peek() != '{' {
			return &formError{e.Name, "a row is not an object; change it by Unwrap"}
		}
		clear(found)
		e.row.pick(s, found, 1)
		if s.Err() != nil {
			return s.Err()
		}
		if list.Kind == textvalue.Object && !slices.ContainsFunc(found, func(r textvalue.Raw) bool { return r.Kind != textvalue.Absent }) {
			return &formError{e.Name, "the object at Rows has no member of a row; Rows must lead to the list, or to one row"}
		}
		for i := range p.has {
			p.has[i] = p.has[i] || found[i].Kind != textvalue.Absent
		}
		row, err := e.cellsOf(found)
		p.rows = append(p.rows, row)
		return err
	})
	return found[len(e.columns)], err
}

// cellsOf returns the cells of one row.
func (e *endpoint) cellsOf(found []textvalue.Raw) ([]wire.Value, error) {
	row := make([]wire.Value, len(e.columns))
	for i := range e.columns {
		c := &e.columns[i]
		if c.fromParent >= 0 {
			row[i] = e.parent[c.fromParent]
			continue
		}
		v, err := c.cell(found[i])
		if err == nil {
			err = v.Err()
		}
		if err == nil && v.IsNull() && c.NotNull {
			err = errors.New("a row has no value")
		}
		if err != nil {
			return nil, &formError{e.Name, fmt.Sprintf("column %q: %s", c.Name, err)}
		}
		row[i] = v
	}
	return row, nil
}

// nextLink returns the target of the header Link with rel="next": null if there are
// other links only, and absent if there is none.
func nextLink(h http.Header) textvalue.Raw {
	rest := strings.Join(h.Values("Link"), ",")
	none := textvalue.Raw{}
	if strings.Contains(rest, "<") {
		none.Kind = textvalue.Null
	}
	for {
		_, link, ok := strings.Cut(rest, "<")
		if !ok {
			return none
		}
		target, after, _ := strings.Cut(link, ">")
		params, _, _ := strings.Cut(after, "<") // up to the next link
		for param := range strings.SplitSeq(params, ";") {
			name, value, _ := strings.Cut(strings.Trim(strings.TrimSpace(param), ","), "=")
			value = strings.Trim(strings.TrimSpace(strings.TrimRight(strings.TrimSpace(value), ",")), `"`)
			if !strings.EqualFold(strings.TrimSpace(name), "rel") {
				continue
			}
			for _, rel := range strings.Fields(value) {
				if strings.EqualFold(rel, "next") {
					return textvalue.Raw{Text: target, Kind: textvalue.Text}
				}
			}
		}
		rest = after
	}
}

// sumOf returns a sum of a row's key.
func (t *table) sumOf(row []wire.Value) uint64 {
	var key []byte
	for _, at := range t.key {
		key = filter.AppendKey(key, row[at], t.columns[at].Type)
	}
	return maphash.Bytes(sumSeed, key)
}
