package platform

import (
	"context"
	"errors"
	"iter"
	"sync"
	"unsafe"

	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// ahead reads pages before their turn, as many at once as limits.concurrency leaves places,
// and hands them out in order. A page is begun early only where the connector takes an
// offset and the rows before it have come in full pages. The fields up to mu belong to the
// goroutine of the caller.
type ahead struct {
	r      *reading
	ctx    context.Context
	cancel context.CancelFunc
	most   int   // bytes that one page may hold
	full   int   // pages that came full
	passed int64 // rows that were passed on
	open   sync.WaitGroup

	mu    sync.Mutex
	news  *sync.Cond   // something below is different
	pages []*aheadPage // in order
	turn  *aheadPage   // the first of them, while it is passed on
	came  int64        // rows of all pages
	off   bool         // a page held too much before its turn: begin no others
}

// aheadPage is one page, read by a goroutine of its own.
type aheadPage struct {
	req    wire.QueryRequest
	served wire.Served
	chunks []chunk
	bytes  int   // of the chunks
	rows   int64 // that came
	held   bool  // it did not fit, and has to be asked for again
	done   bool
	err    error // of a page that is done
}

// chunk is a number of rows in the order in which they came, with their places.
type chunk struct {
	cells []wire.Value
	at    [][2]int // line, and row in it
	bytes int
}

const (
	maxAhead     = 8 << 20  // bytes that a page may hold before its turn
	minAhead     = 64 << 10 // with less, pages are read one by one
	chunkBytes   = 32 << 10
	bytesOfValue = int(unsafe.Sizeof(wire.Value{}))
)

// errHeld ends a page that holds too much before its turn. It is read again then.
var errHeld = errors.New("a page does not fit into the memory for pages that are read ahead")

// readAhead returns what reads further pages of a reading, or nil if they are read one by one.
// All pages together hold a quarter of the budget at most.
func (r *reading) readAhead(ctx context.Context) *ahead {
	places := cap(r.c.places)
	a := &ahead{r: r, most: maxAhead}
	if r.c.budget >= 0 {
		a.most = int(min(maxAhead, r.c.budget/int64(4*places)))
	}
	if places < 2 || !r.total || a.most < minAhead {
		return nil
	}
	a.news = sync.NewCond(&a.mu)
	a.ctx, a.cancel = context.WithCancel(ctx)
	return a
}

// stop ends the pages that are still read.
func (a *ahead) stop() {
	a.cancel()
	a.mu.Lock()
	a.news.Broadcast()
	a.mu.Unlock()
	a.open.Wait()
	a.r.stats.RowsRead += a.came - a.passed
}

// take returns the rows of the page that is wanted next, or nil if it has to be asked for
// without a page ahead.
func (a *ahead) take(page *wire.QueryRequest) (*aheadRows, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.full++
	if len(a.pages) == 0 && !a.off {
		a.mu.Unlock()
		err := a.r.c.enter(a.ctx)
		a.mu.Lock()
		if err != nil {
			return nil, err
		}
		a.begin(page)
	}
	if len(a.pages) == 0 {
		return nil, nil
	}
	p := a.pages[0]
	if p.held {
		a.pages = a.pages[1:]
		return nil, nil
	}
	a.turn = p
	return &aheadRows{a: a, page: p}, nil
}

// fill begins pages while there are places that nobody waits for.
func (a *ahead) fill() {
	r := a.r
	for !a.off && len(a.pages) < cap(r.c.places) {
		last := a.pages[len(a.pages)-1]
		got := last.req.Offset + last.req.Limit - r.wanted.Offset
		if r.wanted.Limit > 0 && got >= r.wanted.Limit || last.done && last.rows < last.req.Limit {
			return
		}
		page, _, err := r.at(got)
		if err != nil || page == nil || !a.likely(page) {
			return
		}
		select {
		case r.c.places <- struct{}{}:
			a.begin(page)
		default:
			return
		}
	}
}

// likely reports whether a page probably has rows. Where the number of rows is not known,
// fewer pages are read at once than have come, so that fewer than half are in vain, and
// none of a table of four pages.
func (a *ahead) likely(page *wire.QueryRequest) bool {
	count := a.r.pull.table.RowCount
	if count != nil && eachOnce(a.r.c, page.Joins) {
		if page.Offset+1 >= *count { // its first row repeats the page before
			return false
		}
		if !page.HasFilters() {
			return true
		}
	}
	return len(a.pages) < a.full-2
}

// begin reads a page in a place that was taken for it.
func (a *ahead) begin(page *wire.QueryRequest) {
	p := &aheadPage{req: *page}
	a.pages = append(a.pages, p)
	a.r.stats.Requests++
	a.open.Go(func() {
		defer a.r.c.leave()
		err := a.read(p)
		a.mu.Lock()
		p.done, p.err = true, err
		a.news.Broadcast()
		a.mu.Unlock()
	})
}

// read reads a page to its end.
func (a *ahead) read(p *aheadPage) error {
	r := a.r
	rows, err := r.c.client.Query(a.ctx, r.c.credentials, &p.req, r.columns)
	if err != nil {
		return err
	}
	defer rows.Close()
	rows.Expect(r.pull.table)
	rows.unjudged = true // until the rows before it were judged
	var c chunk
	line, kept := 0, 0
	keep := func() { // the texts of cells, but not the line that they came in, which may be much longer
		copy(c.cells[kept:], relation.KeepRow(c.cells[kept:]))
		kept = len(c.cells)
	}
	for row, err := range rows.All() {
		if err != nil {
			return err
		}
		now, at := rows.reader.Position()
		if now != line {
			keep()
			line = now
		}
		c.cells, c.at = append(c.cells, row...), append(c.at, [2]int{line, at})
		c.bytes += len(row)*bytesOfValue + 16
		for _, v := range row {
			if v.Kind() == wire.KindText {
				c.bytes += len(v.Text())
			}
		}
		if c.bytes >= chunkBytes {
			keep()
			if err := a.put(p, c, rows); err != nil {
				return err
			}
			c, kept = chunk{}, 0
		}
	}
	keep()
	return a.put(p, c, rows)
}

// put adds a chunk to a page. In its turn, the page waits until there is room; before,
// nobody may be making any.
func (a *ahead) put(p *aheadPage, c chunk, rows *Rows) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	p.served = rows.Served()
	for p.bytes > 0 && p.bytes+c.bytes > a.most {
		if a.ctx.Err() != nil {
			return a.ctx.Err()
		}
		if p != a.turn {
			a.off, p.held, p.chunks = true, true, nil
			return errHeld
		}
		a.news.Wait()
	}
	p.chunks = append(p.chunks, c)
	p.bytes += c.bytes
	p.rows += int64(len(c.at))
	a.came += int64(len(c.at))
	a.news.Broadcast()
	return nil
}

// failed returns the error of a page that is certain to be needed, because all pages
// before it have come in full.
func (a *ahead) failed() error {
	for _, p := range a.pages {
		switch {
		case !p.done || p.held:
			return nil
		case p.err != nil:
			return p.err
		case p.rows < p.req.Limit:
			return nil
		}
	}
	return nil
}

// next returns the next chunk of the page whose turn it is. It has no rows at the end.
func (a *ahead) next(p *aheadPage) (chunk, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for {
		a.fill()
		switch err := a.failed(); {
		case err != nil:
			return chunk{}, err
		case len(p.chunks) > 0:
			c := p.chunks[0]
			p.chunks = p.chunks[1:]
			p.bytes -= c.bytes
			a.news.Broadcast()
			return c, nil
		case p.done:
			return chunk{}, nil
		}
		a.news.Wait()
	}
}

// end drops the page whose turn is over.
func (a *ahead) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pages, a.turn = a.pages[1:], nil
	a.news.Broadcast()
}

// aheadRows are the rows of a page that is read ahead.
type aheadRows struct {
	a      *ahead
	page   *aheadPage
	claims *claims
}

// Served returns what the connector says of the page. The first row has been passed on.
func (r *aheadRows) Served() wire.Served {
	r.a.mu.Lock()
	defer r.a.mu.Unlock()
	return r.page.served
}

// all yields the rows, which are held against what the connector says of them here, where
// the rows of the page before are known.
func (r *aheadRows) all(before *claims) iter.Seq2[[]wire.Value, error] {
	return func(yield func([]wire.Value, error) bool) {
		a, width, begun := r.a, len(r.a.r.columns), false
		defer a.end()
		for {
			c, err := a.next(r.page)
			if err != nil {
				yield(nil, err)
				return
			}
			if len(c.at) == 0 {
				return
			}
			if !begun {
				begun = true
				r.claims = claimsAfter(before, &r.page.req, a.r.columns, r.Served(), a.r.pull.table)
			}
			for i, at := range c.at {
				row := c.cells[i*width : (i+1)*width : (i+1)*width]
				a.passed++
				if r.claims != nil {
					if err := r.claims.check(row, at[0], at[1]); err != nil {
						yield(nil, err)
						return
					}
				}
				if !yield(row, nil) {
					return
				}
			}
		}
	}
}
