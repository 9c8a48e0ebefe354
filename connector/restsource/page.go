package restsource

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"net/http"
	"net/url"
	"strconv"
	"strings"

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
	start  int64        // rows to skip, by ByOffset
	size   int          // of a page, if there is a SizeParam
	parent []wire.Value // the parent's row
}

// position is the place of a page. The first page has the zero position.
type position struct {
	number int64 // of the page, or of the rows before it
	text   string
}

// page is one answer, read.
type page struct {
	rows  [][]wire.Value
	total int64 // -1: unknown
	sum   uint64
	next  position // the zero position: there is none
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
	return &endpoint{table: t, path: path, params: p.params, size: t.Pages.Size, parent: parent}, err
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
	return e.read(a, at)
}

// request returns the address of a page, and the body of its request if that is a
// POST.
func (x *session) request(e *endpoint, at position) (*url.URL, []byte, error) {
	p := &e.Pages
	if (p.By == ByLink || p.By == ByURL) && at.text != "" {
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
	case p.By == ByPage && at == position{} && !p.FromZero:
		params.Set(p.Param, "1")
	case p.By == ByPage:
		params.Set(p.Param, strconv.FormatInt(at.number, 10))
	case p.By == ByOffset && at == position{}:
		params.Set(p.Param, strconv.FormatInt(e.start, 10))
	case p.By == ByOffset:
		params.Set(p.Param, strconv.FormatInt(at.number, 10))
	case p.By == ByCursor && at.text != "":
		params.Set(p.Param, at.text)
	case p.By == ByFunc && at.text != "":
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
func (e *endpoint) read(a *answer, at position) (*page, error) {
	body := a.body
	if e.Unwrap != nil {
		var err error
		if body, err = e.Unwrap(body); err != nil {
			return nil, &formError{e.Name, "Unwrap: " + err.Error()}
		}
	} else if a.html() {
		return nil, &formError{e.Name, "the API answered with HTML"}
	}
	if a.status == http.StatusNoContent {
		return &page{total: -1}, nil
	}
	found, err := e.envelope.parse(string(body), envelopePlaces)
	if err != nil {
		return nil, &formError{e.Name, "the answer is not JSON: " + err.Error()}
	}
	p := &page{total: -1}
	var after raw
	if p.rows, after, err = e.rowsOf(found[atRows]); err != nil {
		return nil, err
	}
	p.sum = maphash.String(sumSeed, found[atRows].text)
	if e.counts() {
		if p.total = e.stated(a, found[atTotal]); p.total < 0 {
			return nil, &formError{e.Name, "there is no number of rows at Total or in TotalHeader"}
		}
	}
	p.next, err = e.next(a, body, at, p, found, after)
	return p, err
}

// stated returns the number of rows that an answer states; a negative number is none.
func (e *endpoint) stated(a *answer, total raw) int64 {
	n, ok := int64(-1), false
	if e.TotalHeader != "" {
		stated, err := strconv.ParseInt(a.header.Get(e.TotalHeader), 10, 64)
		n, ok = stated, err == nil
	} else if total.kind == rawNumber {
		n, ok = jsontext.ExactInteger(total.text)
	}
	if !ok {
		return -1
	}
	return n
}

// sumSeed is the seed of the sums of pages and keys. Sums are compared within one
// process only.
var sumSeed = maphash.MakeSeed()

// rowsOf reads the list of rows. An endpoint of one page may answer one object in the
// list's place, which is one row.
func (e *endpoint) rowsOf(list raw) (rows [][]wire.Value, after raw, err error) {
	text := list.text
	switch {
	case list.kind == rawObject && e.Pages.By == OnePage && e.Rows != "":
		text = "[" + text + "]"
	case list.kind == rawNull:
		return nil, after, nil
	case list.kind != rawArray:
		return nil, after, &formError{e.Name, "there is no list of rows at Rows"}
	}
	found := make([]raw, len(e.columns)+1)
	err = each(text, func(s *jsontext.Scanner) error {
		if s.Peek() != '{' {
			return &formError{e.Name, "a row is not an object; change it by Unwrap"}
		}
		clear(found)
		e.row.pick(s, found, 1)
		if s.Err() != nil {
			return s.Err()
		}
		row, err := e.cellsOf(found)
		rows = append(rows, row)
		return err
	})
	return rows, found[len(e.columns)], err
}

// cellsOf returns the cells of one row.
func (e *endpoint) cellsOf(found []raw) ([]wire.Value, error) {
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

// next returns the position of the page after an answer.
func (e *endpoint) next(a *answer, body []byte, at position, p *page, found []raw, after raw) (position, error) {
	none := position{}
	by := &e.Pages
	if by.More != "" {
		switch more := found[atMore]; {
		case more.kind != rawBool && !more.none():
			return none, &formError{e.Name, "there is no boolean at Pages.More"}
		case more.text != "true":
			return none, nil
		}
	}
	switch by.By {
	case ByPage:
		number := at.number
		if at == none && !by.FromZero {
			number = 1
		}
		if len(p.rows) == 0 {
			return none, nil
		}
		return position{number: number + 1}, nil
	case ByOffset:
		before := at.number
		if at == none {
			before = e.start
		}
		end := before + int64(len(p.rows))
		if len(p.rows) == 0 || p.total >= 0 && end >= p.total {
			return none, nil
		}
		if len(e.key) > 0 && len(p.rows) > 1 {
			end-- // the last row again, as the mark that no row has moved
		}
		return position{number: end}, nil
	case ByCursor:
		cursor := found[atNext]
		if by.After != "" {
			cursor = after
		}
		if !cursor.none() && !cursor.scalar() {
			return none, &formError{e.Name, "the next cursor is neither a text nor a number"}
		}
		return position{text: cursor.text}, nil
	case ByLink:
		return e.follow(a, nextLink(a.header))
	case ByURL:
		if next := found[atNext]; !next.none() && next.kind != rawText {
			return none, &formError{e.Name, "the address of the next page is not a text"}
		}
		return e.follow(a, found[atNext].text)
	case ByFunc:
		params, more, err := by.Func(body, a.header)
		if err != nil || !more {
			return none, err
		}
		return position{text: params.Encode()}, nil
	}
	return none, nil
}

// follow returns the position of an address in an answer, which may be relative to
// the address of the answer.
func (e *endpoint) follow(a *answer, address string) (position, error) {
	if address == "" {
		return position{}, nil
	}
	u, err := a.url.Parse(address)
	if err != nil {
		return position{}, &formError{e.Name, "the address of the next page is malformed"}
	}
	return position{text: u.String()}, nil
}

// nextLink returns the target of the header Link with rel="next".
func nextLink(h http.Header) string {
	rest := strings.Join(h.Values("Link"), ",")
	for {
		_, link, ok := strings.Cut(rest, "<")
		if !ok {
			return ""
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
					return target
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
