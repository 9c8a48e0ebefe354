package restsource

import (
	"context"
	"errors"
	"sync"
)

// maxAhead limits the bytes of the pages that are held before their rows are taken.
const maxAhead = 8 << 20

// ahead requests the pages of a read before their rows are wanted: the next one, and those
// behind it where their places are known. They are accepted in their order, each at the place
// to which the page before has led, so that a read in advance is judged as any other: a page
// that leads elsewhere than planned drops what was requested, and the rest is read in sequence.
type ahead struct {
	*session
	reading  *reading
	whole    context.Context // of the read
	ctx      context.Context // of what is requested now
	stop     context.CancelFunc
	running  sync.WaitGroup
	coming   []*coming // pages that are requested, in their order
	width    int       // how many may be
	refusals int64     // of the API, when the width was last set
}

// coming is a page that is requested.
type coming struct {
	at       position
	done     chan struct{}
	page     *page
	err      error
	panicked any
}

func (x *session) ahead(ctx context.Context, r *reading) *ahead {
	a := &ahead{session: x, reading: r, whole: ctx, width: x.options.Concurrency, refusals: x.transport.pace.refused.Load()}
	a.ctx, a.stop = context.WithCancel(ctx)
	return a
}

// close ends the requests that nobody waits for.
func (a *ahead) close() {
	a.stop()
	a.running.Wait()
}

// page returns the page at a place.
func (a *ahead) page(at position) (*page, error) {
	if len(a.coming) == 0 {
		a.start(at)
	}
	next := a.coming[0]
	a.coming = a.coming[1:]
	<-next.done
	if next.panicked != nil {
		panic(next.panicked) // in the goroutine of the request, whose panics are reported
	}
	return next.page, next.err
}

// start requests a page.
func (a *ahead) start(at position) {
	c := &coming{at: at, done: make(chan struct{}), err: errors.New("restsource: the request ended without an answer")}
	a.coming = append(a.coming, c)
	ctx := a.ctx
	a.running.Go(func() {
		defer close(c.done)
		defer func() { c.panicked = recover() }()
		c.page, c.err = a.session.page(ctx, a.reading.endpoint, at)
	})
}

// plan requests the next page, and those behind it, as far as the limits allow: of
// concurrency, of bytes, and of the rows that are wanted.
func (a *ahead) plan(next position, p *page) {
	r := a.reading
	if len(a.coming) > 0 && a.coming[0].at != next { // a page has led elsewhere
		a.stop()
		a.ctx, a.stop = context.WithCancel(a.whole)
		a.coming, a.width = nil, 1
	}
	if next == (position{}) || next.doubt {
		return
	}
	if refused := a.transport.pace.refused.Load(); refused > a.refusals {
		a.refusals, a.width = refused, max(1, a.width/2)
	}
	r.largest = max(r.largest, len(p.text))
	rows := r.fresh + int64(len(a.coming)*r.first)
	for len(a.coming) < a.width && (len(a.coming)+1)*r.largest <= maxAhead && (r.want == 0 || rows < r.want) {
		at, ok := next, true
		if n := len(a.coming); n > 0 {
			at, ok = r.behind(a.coming[n-1].at)
		}
		if !ok {
			return
		}
		a.start(at)
		rows += int64(r.first)
	}
}

// behind returns the place of the page behind one that is not read yet, if the pages so far
// had the same number of rows and a total, or the author, says that there is one.
func (r *reading) behind(at position) (position, bool) {
	step := int64(r.first)
	if r.Pages.By == PagingOffset && len(r.key) > 0 {
		step--
	}
	if step < 1 || r.received != r.first || at.beyond || at.probe || r.total() < 0 && !r.Pages.Ahead {
		return at, false
	}
	begins := at.number + step // rows before the page, by offset
	switch r.Pages.By {
	case PagingOffset:
		at.number = begins
		if len(r.key) > 0 {
			begins++ // it begins with a row that the page before has
		}
	case PagingPage:
		at.number++
		begins = at.number * step
		if !r.Pages.FromZero {
			begins -= step
		}
	default:
		return at, false
	}
	at.beyond = begins == r.total() // the last page is full, and it will be asked what is behind it
	return at, r.total() < 0 || begins <= r.total()
}
