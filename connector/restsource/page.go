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
	want   int64        // how many rows are wanted at most; 0: all
	fixed  url.Values   // that neither pages nor filters change
	parent []wire.Value // the parent's row, and then the value of the partition
	part   *part        // that is read, or nil
	file   *url.URL     // of a Job, once the export is there
	list   *table       // the embedded table that is read, or nil
	within *table       // the one that is in the rows of this endpoint, or nil

	document string            // of GraphQL
	wanted   map[*table][]bool // the columns that it asks for; nil: all
}

// position is the place of a page. The first page has the zero position.
type position struct {
	number int64 // of the page, of the rows before it, or of the requests of a scroll
	text   string
	beyond bool // behind the total: there should be no such page
	probe  bool // by offset, behind a page that seems to be the last, without the mark
	doubt  bool // no page: nothing has shown yet that the first one is the last
}

// page is one answer, read. What it says about the pages behind it is as the answer
// has it: what that means depends on the pages before.
type page struct {
	rows   [][]wire.Value
	total  int64 // -1: none is stated
	sum    uint64
	text   string          // the JSON; "" if there is no content
	more   textvalue.Raw   // the member HasMore
	next   textvalue.Raw   // the cursor, the address or the parameters of the next page
	null   bool            // null in place of the list of rows
	part   string          // the header, or the status, that says that there are more rows
	beside []noted         // the members beside the list, and at the top
	has    []bool          // of each column, whether a row has its member
	lists  []textvalue.Raw // of each row, if an embedded table is read
	none   error           // no row has an embedded list
}

// endpoint returns a table's endpoint, which for an embedded table is its base's. parent
// is the row of the parent, if there is one.
func (x *session) endpoint(of *table, p push, parent []wire.Value) (*endpoint, error) {
	t := of.base()
	path, own, err := x.placed(t, parent, p.part)
	if err != nil {
		return nil, err
	}
	e := &endpoint{table: t, path: path, params: p.params, size: t.Pages.Size, parent: parent, part: own}
	e.few = p.searched || len(p.filters) > 0
	if own != nil {
		e.parent = slices.Concat(parent, own.cell)
	}
	if e.fixed, err = x.fixed(t, parent, own); err != nil {
		return nil, err
	}
	if of != t {
		e.list, e.within = of, of.levels()[0]
	}
	if t.graph != nil {
		e.document, e.wanted = x.document(of, p.names)
	}
	return e, nil
}

// page requests one page.
func (x *session) page(ctx context.Context, e *endpoint, at position) (*page, error) {
	ctx, err := x.export(ctx, e)
	if err != nil {
		return nil, err
	}
	u, body, err := x.request(e, at)
	if err != nil {
		return nil, err
	}
	select {
	case x.slots <- struct{}{}:
		defer func() { <-x.slots }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if e.Pages.By == PagingScroll && at != (position{}) {
		ctx = context.WithValue(ctx, onceKey{}, true) // the same request again would get the page after
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
			return nil, nil, e.fault("the address of the next page is malformed")
		}
		return u, nil, nil
	}
	params := e.all()
	if p.SizeParam != "" {
		params.Set(p.SizeParam, strconv.Itoa(e.size))
	}
	switch {
	case p.By == PagingPage || p.By == PagingOffset:
		params.Set(p.Param, strconv.FormatInt(e.number(at), 10))
	case (p.By == PagingCursor || p.By == PagingScroll) && at.text != "":
		params.Set(p.Param, at.text)
	case p.By == PagingFunc && at.text != "":
		more, err := url.ParseQuery(at.text)
		if err != nil {
			return nil, nil, err
		}
		params = paramsOf(params, more)
	}
	if e.graph != nil {
		body, err := e.graph.body(e.document, params)
		if err != nil {
			return nil, nil, &formError{e.Name, err.Error()}
		}
		return x.at(e.path, nil), body, nil
	}
	if e.file != nil {
		u := *e.file
		if len(params) > 0 {
			u.RawQuery = paramsOf(u.Query(), params).Encode()
		}
		return &u, nil, nil
	}
	if e.Body == nil {
		return x.at(e.path, params), nil, nil
	}
	body, err := e.Body(params)
	return x.at(e.path, nil), append([]byte{}, body...), err
}

// number returns the number of a page, or of the rows before it.
func (e *endpoint) number(at position) int64 {
	switch {
	case at == position{} && e.Pages.By == PagingOffset:
		return e.start
	case at == position{} && !e.Pages.FromZero:
		return 1
	}
	return at.number
}

// read reads an answer.
func (e *endpoint) read(a *answer) (*page, error) {
	found := make([]textvalue.Raw, places)
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
		rows := e.collect()
		if found, err = e.envelope.parseRows(p.text, places, rows); err != nil {
			return nil, &formError{e.Name, notJSON(p.text, err)}
		}
		p.null = found[atRows].Kind == textvalue.Null
		count := 1
		if p.null {
			count = -1
		} else if found[atRows].Kind == textvalue.Array && len(rows.found) == 0 && rows.odd < 0 {
			count = 0
		}
		if path := e.refusal(rows.beside, count); path != "" && !a.fine {
			return nil, refusedBy(e.Name, path)
		}
		if last, err = e.rowsOf(p, found[atRows], rows); err != nil {
			return nil, err
		}
		p.sum = maphash.String(sumSeed, found[atRows].Text)
		p.beside = rows.beside
		if e.Pages.By == OnePage {
			p.part = e.moreInHeader(a.header, int64(len(p.rows)), e.few)
			if a.isPart(len(p.rows)) {
				p.part = "Content-Range, or the status 206,"
			}
		}
	case http.StatusNoContent:
	default:
		return nil, &statusError{table: e.Name, status: a.status}
	}
	if e.counts() {
		if p.total = e.stated(a, found[atTotal]); p.total < 0 && p.text != "" {
			return nil, e.fault("there is no number of rows at Total or in TotalHeader")
		}
	}
	p.more, p.next = found[atMore], found[atNext]
	if e.Pages.LastRowCursor != "" {
		p.next = last
	}
	return p, e.link(p, a, body)
}

// notJSON returns what is wrong with an answer that cannot be read, and what to do.
func notJSON(text string, err error) string {
	switch said := err.Error(); {
	case strings.HasPrefix(text, "\x1f\x8b"):
		return "the answer is compressed by gzip, and nobody has asked for that; inflate it by Unwrap"
	case strings.Contains(said, "surrogate"):
		return "the answer is not text: " + said + ", which is no character; replace it by Unwrap"
	default:
		return "the answer is not JSON: " + said
	}
}

// unwrapped returns the JSON of an answer.
func (e *endpoint) unwrapped(a *answer) ([]byte, error) {
	if e.Unwrap != nil {
		body, err := e.Unwrap(a.body)
		if err != nil {
			return nil, failing(e.Name, "Unwrap", err)
		}
		return body, nil
	}
	if a.html() {
		return nil, e.fault("the API answered with HTML")
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
	case PagingLink, OnePage:
		var err error
		if p.next, err = nextLink(a.header); err != nil {
			return &formError{e.Name, err.Error()}
		}
		fallthrough
	case PagingURL:
		if p.next.Kind != textvalue.Text || p.next.Text == "" {
			return nil
		}
		u, err := a.url.Parse(p.next.Text) // it may be relative to the address that was asked
		if err != nil {
			return e.fault("the address of the next page is malformed")
		}
		p.next.Text = u.String()
	}
	return nil
}

// empty fails if a page has null for its rows and says that there are more than were
// read before it [rule error-10].
func (e *endpoint) empty(p *page, read int64) error {
	if p.null && (p.next.Text != "" || p.more.Text == "true" || p.total > read) {
		return e.fault("Rows is null, although the answer says that there are more rows")
	}
	return nil
}

// stated returns the number of rows that an answer states, or a negative number if it
// states no total.
func (e *endpoint) stated(a *answer, total textvalue.Raw) int64 {
	if n, err := strconv.ParseInt(a.header.Get(e.TotalHeader), 10, 64); err == nil && e.TotalHeader != "" {
		return n
	}
	if n, ok := jsontext.ExactInteger(total.Text); ok && total.Kind == textvalue.Number && e.TotalHeader == "" {
		return n
	}
	return -1
}

// sumSeed is the seed of the sums of pages and keys. Sums are compared within one
// process only.
var sumSeed = maphash.MakeSeed()

// collect returns what collects the rows of the endpoint's list.
func (e *endpoint) collect() *collected {
	if e.within != nil {
		return &collected{row: e.within.within, places: e.within.withinPlaces, odd: -1}
	}
	return &collected{row: e.row, places: len(e.columns) + 1, odd: -1}
}

// rowsOf adds the rows that were collected from a list to a page. An endpoint of one page
// may answer one object in the list's place, which is one row.
func (e *endpoint) rowsOf(p *page, list textvalue.Raw, rows *collected) (after textvalue.Raw, err error) {
	switch {
	case list.Kind == textvalue.Null:
		return after, nil
	case list.Kind == textvalue.Object && e.Pages.By == OnePage && e.Rows != "":
		rows.found = make([]textvalue.Raw, rows.places)
		rows.row.pick(checked(list.Text), rows.found, 1)
		if !slices.ContainsFunc(rows.found, isPresent) {
			return after, e.fault("the object at Rows has no member of a row; Rows must lead to the list, or to one row")
		}
	case list.Kind != textvalue.Array:
		return after, e.fault("there is no list of rows at Rows")
	case !rows.done:
		rows.list(checked(list.Text), 1)
	}
	err = rows.each(func(found []textvalue.Raw) error {
		for i := range p.has {
			p.has[i] = p.has[i] || isPresent(found[i])
		}
		cells, err := e.cellsOf(found, e.parent, 0, e.wanted[e.table])
		p.rows = append(p.rows, cells)
		if e.within != nil && err == nil {
			var list textvalue.Raw
			list, err = e.within.listOf(found)
			p.lists = append(p.lists, list)
		}
		after = found[len(e.columns)]
		return err
	})
	if err == nil && rows.odd >= 0 {
		err = e.fault("a row is not an object; change it by Unwrap")
	}
	return after, err
}

// retain removes the rows for which keep reports false.
func (p *page) retain(keep func(i int) bool) {
	rows, lists := p.rows[:0], p.lists[:0]
	for i := range p.rows {
		if !keep(i) {
			continue
		}
		rows = append(rows, p.rows[i])
		if p.lists != nil {
			lists = append(lists, p.lists[i])
		}
	}
	p.rows, p.lists = rows, lists
}

func isPresent(r textvalue.Raw) bool { return r.Kind != textvalue.Absent }

// cellsOf returns the cells of one row. parent is the parent's row, and position the
// place in its list. Columns that are not wanted, if only some are, are null.
func (t *table) cellsOf(found []textvalue.Raw, parent []wire.Value, position int, wanted []bool) ([]wire.Value, error) {
	row := make([]wire.Value, len(t.columns))
	for i := range t.columns {
		c := &t.columns[i]
		if c.fromParent >= 0 {
			row[i] = parent[c.fromParent]
			continue
		}
		if c.Position {
			row[i] = wire.Int(int64(position))
			continue
		}
		v, err := c.cell(found[i])
		if err != nil && c.Convert != nil {
			return nil, failing(t.Name, fmt.Sprintf("column %q: Convert", c.Name), err)
		}
		if err == nil {
			err = v.Err()
		}
		if err == nil && v.IsNull() && c.NotNull && (wanted == nil || wanted[i]) {
			err = errors.New("a row has no value")
		}
		if err != nil {
			return nil, t.fault("column %q: %s", c.Name, err)
		}
		row[i] = v
	}
	return row, nil
}

// sumOf returns a sum of a row's key.
func (t *table) sumOf(row []wire.Value) uint64 {
	var key []byte
	for _, at := range t.key {
		key = filter.AppendKey(key, row[at], t.columns[at].Type)
	}
	return maphash.Bytes(sumSeed, key)
}
