package restsource

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// reading is what a read knows about the rows that it has read.
type reading struct {
	*endpoint
	session *session
	shown   *shown
	shape   shape
	seen    map[uint64]int64 // the keys' sums, with the place of the row
	order   *filter.Order    // of the sorted column, or nil
	by      int              // the place of that column

	last     []wire.Value // of the sorted column
	sum      uint64       // of the page before
	totals   []int64      // that were stated, without repetitions
	fresh    int64        // rows offered
	end      int64        // by PagingOffset, the rows up to the end of the page before
	low      int64        // the place of the first row, which rows that are added move down
	high     int64        // the place of the next row
	tail     int64        // the place of the last row of the last page
	before   position     // of the last page
	first    int          // rows of the first page
	received int          // rows of the last page, known ones too
	distinct int          // pages that had new rows
	most     int          // rows of the largest page
	largest  int          // bytes of the largest page
	promised bool         // the page before says that there is another
	stale    int          // pages in a row without a new row
	pages    int
}

// maxStale is how many pages in a row may have no new row.
const maxStale = 100

// reading returns a read of an endpoint that has read nothing.
func (x *session) reading(e *endpoint) *reading {
	r := &reading{endpoint: e, session: x, shown: x.shown[e.Name], end: e.start}
	if r.shown == nil {
		r.shown = &shown{}
		x.shown[e.Name] = r.shown
	}
	if len(e.key) > 0 {
		r.seen = map[uint64]int64{}
	}
	return r
}

// rows reads an endpoint page by page, each row once. first is its first page, if it
// has been requested already; order the order in which the rows have to be.
//
// Every row is offered once, whatever moves while the pages are read. A row that
// comes again is skipped. Where rows may have been missed, the read fails.
func (x *session) rows(ctx context.Context, e *endpoint, first *page, order []wire.SortKey) relation.Rows {
	return func(yield func([]wire.Value, error) bool) {
		r := x.reading(e)
		if err := r.sortedBy(order); err != nil {
			yield(nil, err)
			return
		}
		var lists *expansion
		if e.list != nil {
			lists = newExpansion(e)
		}
		ahead := x.ahead(ctx, r)
		defer ahead.close()
		pages := memsource.Pages(ctx, func(ctx context.Context, at position) ([][]wire.Value, position, error) {
			p := first
			if at.doubt {
				return nil, position{}, x.settle(ctx, r)
			}
			if at != (position{}) || p == nil {
				var err error
				if p, err = ahead.page(at); at == (position{}) && e.enlarges(err) {
					p, err = x.page(ctx, e, at)
				}
				if at.beyond && missing(err) {
					return nil, position{}, nil
				} else if r.ends(err) || at == (position{}) && x.behind(ctx, e, err) {
					return nil, position{}, r.whole(position{})
				} else if err != nil {
					return nil, position{}, err
				}
			}
			next, err := r.accept(ctx, p, at)
			if err == nil {
				err = e.part.keep(e.table, p)
			}
			if err != nil {
				return p.rows, next, err
			}
			if next != at { // pages that repeat end with an error, and are not asked for once more
				ahead.plan(next, p)
			}
			if lists == nil {
				return p.rows, next, nil
			}
			rows, err := lists.take(p)
			if err == nil && next == (position{}) {
				err = lists.end()
			}
			return rows, next, err
		})
		for row, err := range pages {
			if errors.Is(err, memsource.ErrCursorRepeats) {
				err = e.fault("the API repeats a cursor or an address, so its pages would never end")
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// sortedBy prepares the check of the order.
func (r *reading) sortedBy(keys []wire.SortKey) (err error) {
	if len(keys) == 0 {
		return nil
	}
	r.by = r.place(keys[0].Field)
	r.order, err = filter.CompileOrder(keys[:1], r.cells[r.by:r.by+1], nil, nil)
	return err
}

// accept drops the rows of a page that have been read before, and fails if rows have
// been missed or if the pages do not go on. It returns the place of the next page.
func (r *reading) accept(ctx context.Context, p *page, at position) (position, error) {
	if at.probe && len(p.rows) > 0 { // there are rows behind that page, so the mark must be seen
		p.rows = nil
		return position{number: r.end - 1}, nil
	}
	overlaps := r.overlaps(at)
	received := len(p.rows)
	// A page begins with the last row of the page before. Behind added rows it comes
	// later. Where it is missing, rows before it have gone, and the rows behind it have
	// moved into a page that is read already.
	if overlaps && !slices.ContainsFunc(p.rows, r.has) {
		return position{}, r.moved()
	}
	// Without a mark, only a shrinking total shows that rows before the page have gone
	// and others have moved up.
	unmarked := r.Pages.By == PagingPage || r.Pages.By == PagingOffset && len(r.key) == 0
	if unmarked && p.total >= 0 && p.total < r.total() {
		return position{}, r.moved()
	}
	if err := r.fits(received); err != nil {
		return position{}, err
	}
	if r.seen == nil && received > 0 && p.sum == r.sum && !at.beyond {
		return position{}, r.fault("the API answers the same page again; check Pages, and state the Key")
	}
	if err := r.dropKnown(ctx, p, at); err != nil {
		return position{}, err
	}
	if err := r.inOrder(p.rows); err != nil {
		return position{}, err
	}
	if r.stale++; len(p.rows) > 0 {
		r.stale = 0
		r.distinct++
	}
	switch {
	case overlaps && received == 1: // there is nothing behind the last row
	case at.beyond && len(p.rows) == 0: // the last page again, or none
		return position{}, r.whole(position{})
	case received > 0 && r.stale >= 2:
		if r.Pages.By == PagingPage && p.sum == r.sum {
			return position{}, r.clamped(ctx)
		}
		return position{}, r.fault("the API answers rows that it has answered before, page after page; check Pages and Key")
	case r.stale >= maxStale:
		return position{}, r.fault("the API answers %d pages without a row, one after the other", maxStale)
	}
	if err := r.empty(p, r.start+r.fresh); err != nil {
		return position{}, err
	}
	next, err := r.after(p, at, received)
	r.before, r.received = at, received
	return next, err
}

func (r *reading) moved() error {
	return r.fault("rows have moved between the pages while they were read, and some may have been missed; " +
		"read the table again, or have the API sort it by a column that does not change")
}

// inOrder fails if a row comes before one that was read earlier.
func (r *reading) inOrder(rows [][]wire.Value) error {
	if r.order == nil {
		return nil
	}
	for _, row := range rows {
		own := row[r.by : r.by+1]
		if r.last != nil && r.order.Compare(r.last, own) > 0 {
			return r.fault("the API does not sort by column %q as the protocol does; remove that Sort", r.cells[r.by].Name)
		}
		r.last = own
	}
	return nil
}

// all reads a table, narrowed by what can be pushed. The rows are not filtered. names
// are the columns that are needed; nil means all.
func (x *session) all(ctx context.Context, t *table, where wire.Where, names []string) relation.Rows {
	return func(yield func([]wire.Value, error) bool) {
		base := t.base()
		where := t.lifted(where)
		p := base.push(where, nil)
		p.names = names
		if base.parent != nil || base.split() {
			x.children(ctx, t, p, where)(yield)
			return
		}
		e, first, err := x.begin(ctx, t, p, nil)
		if err != nil {
			yield(nil, err)
			return
		}
		x.rows(ctx, e, first, nil)(yield)
	}
}

// begin requests the first page of an endpoint. If the API refuses what was pushed,
// such as a value that it does not know, begin asks again without: the filters are
// applied to the rows in any case.
func (x *session) begin(ctx context.Context, t *table, p push, parent []wire.Value) (*endpoint, *page, error) {
	e, err := x.endpoint(t, p, parent)
	if err != nil {
		return nil, nil, err
	}
	first, err := x.page(ctx, e, position{})
	if len(p.params) > 0 && rejected(err) {
		e.params, e.few = nil, false
		first, err = x.page(ctx, e, position{})
	}
	return e, first, err
}

// enlarges reports whether the API may have refused a first page because it is smaller than one can
// be, and makes it as large as declared.
func (e *endpoint) enlarges(err error) bool {
	if !rejected(err) || e.size >= e.Pages.Size {
		return false
	}
	e.size = e.Pages.Size
	return true
}

// rejected reports whether the API refused a request, perhaps for its parameters.
func rejected(err error) bool {
	status := statusOf(err)
	return is[*refusedError](err) || status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
}

// firstPage requests the first page of a table: of a child table, that of the first
// row of its parent. It returns nil if the parent has no row.
func (x *session) firstPage(ctx context.Context, t *table) (*page, error) {
	parent, err := x.firstParent(ctx, t)
	if err != nil || t.base().parent != nil && parent == nil {
		return nil, err
	}
	e, first, err := x.begin(ctx, t, push{}, parent)
	if err == nil && t.embedded() {
		lists := newExpansion(e)
		first.rows, err = lists.take(first)
		first.none = lists.end()
	}
	return first, err
}

// firstParent returns the first row of the parent, each of whose rows has an endpoint of the
// table, or nil if the parent is empty.
func (x *session) firstParent(ctx context.Context, t *table) ([]wire.Value, error) {
	t = t.base()
	if t.parent == nil {
		return nil, nil
	}
	p, err := x.firstPage(ctx, t.parent)
	if err != nil || p == nil || len(p.rows) == 0 {
		return nil, err
	}
	return p.rows[0], nil
}

// children reads a child table, or one that is embedded in its rows: the rows of the
// parent that the filters let through, and the endpoint of each. The first pages of some endpoints
// are requested at the same time; the rows come in the order of the parent's.
func (x *session) children(ctx context.Context, t *table, p push, where wire.Where) relation.Rows {
	return func(yield func([]wire.Value, error) bool) {
		base := t.base()
		parents := relation.RowsOf([]wire.Value(nil))
		if base.parent != nil {
			parents = x.parents(ctx, base, where)
		}
		parts, err := x.parts(base, where)
		if err != nil {
			yield(nil, err)
			return
		}
		q := &queue{session: x, table: t, push: p}
		var stop context.CancelFunc
		q.ctx, stop = context.WithCancel(ctx)
		defer q.running.Wait()
		defer stop()
		for parent, err := range parents {
			if err != nil {
				yield(nil, err)
				return
			}
			seen := base.remember()
			for _, own := range parts {
				if own != nil {
					mine := *own
					mine.seen, own = seen, &mine
				}
				if own.newest() && !q.drain(yield) {
					return
				}
				q.add(parent, own)
				if len(q.waiting) >= x.options.Concurrency && !q.emit(yield) {
					return
				}
			}
		}
		if !q.drain(yield) {
			return
		}
		if q.missing > 0 && q.found == 0 && !base.narrows(where) {
			yield(nil, &statusError{table: t.Name, status: http.StatusNotFound})
		}
	}
}

// narrows reports whether filters choose which of the table's endpoints are asked. That none of those
// is there then says nothing about the table.
func (t *table) narrows(where wire.Where) bool {
	return len(t.ofParent(where).And) > 0 || slices.ContainsFunc(where.And, func(f wire.Filter) bool {
		return f.Field == t.Partitions.Column || f.Field == t.Window.Column
	})
}

// parents returns the rows of a table's parent that the filters let through.
func (x *session) parents(ctx context.Context, t *table, where wire.Where) relation.Rows {
	return func(yield func([]wire.Value, error) bool) {
		from, above := t.parent, t.ofParent(where)
		match, err := filter.Compile(above, from.cells)
		if err != nil {
			yield(nil, err)
			return
		}
		for parent, err := range x.all(ctx, from, above, nil) {
			ok := err == nil
			if ok {
				if ok, err = match.Match(parent); err != nil {
					err = fmt.Errorf("restsource: table %q: %w", from.Name, err)
				}
			}
			if (ok || err != nil) && !yield(parent, err) || err != nil {
				return
			}
		}
	}
}

// queue is the endpoints of a child table whose first pages are under way.
type queue struct {
	*session
	ctx     context.Context
	table   *table
	push    push
	waiting []*beginning
	running sync.WaitGroup
	found   int // endpoints that answered
	missing int // endpoints that answered 404
}

// beginning is an endpoint whose first page is under way.
type beginning struct {
	done     chan struct{}
	endpoint *endpoint
	first    *page
	err      error
	panicked any
}

// add requests the first page of a parent's row.
func (q *queue) add(parent []wire.Value, own *part) {
	b := &beginning{done: make(chan struct{}), err: errUnanswered}
	q.waiting = append(q.waiting, b)
	push := q.push
	push.part = own
	q.running.Go(func() {
		defer close(b.done)
		defer func() { b.panicked = recover() }()
		b.endpoint, b.first, b.err = q.begin(q.ctx, q.table, push, parent)
	})
}

// drain offers the rows of all endpoints that were added. It reports false if no more are
// wanted.
func (q *queue) drain(yield func([]wire.Value, error) bool) bool {
	for len(q.waiting) > 0 {
		if !q.emit(yield) {
			return false
		}
	}
	return true
}

// emit offers the rows of the endpoint that was added first. It reports false if no
// more are wanted.
func (q *queue) emit(yield func([]wire.Value, error) bool) bool {
	b := q.waiting[0]
	q.waiting = q.waiting[1:]
	<-b.done
	if b.panicked != nil {
		panic(b.panicked) // as in ahead.page
	}
	status, base := statusOf(b.err), q.table.base()
	switch {
	case base.parent != nil && base.Job.Create == "" && (status == http.StatusNotFound || status == http.StatusGone):
		q.missing++ // the parent's row is gone, or has no such rows
		return true
	case b.err != nil:
		yield(nil, b.err)
		return false
	}
	q.found++
	for row, err := range q.rows(q.ctx, b.endpoint, b.first, nil) {
		if !yield(row, err) || err != nil {
			return false
		}
	}
	return true
}
