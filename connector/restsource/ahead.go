package restsource

import (
	"context"
	"errors"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
)

// maxAhead limits the bytes of the pages that are held before their rows are taken.
const maxAhead = 8 << 20

// ahead requests the pages of a read before their rows are wanted: the next one, and those
// behind it where their places are known. They are accepted in their order, each at the place
// to which the page before has led, so that a read in advance is judged as any other: a page
// that leads elsewhere than planned drops what was requested, and the rest is read in sequence.
type ahead struct {
	*session
	reading *reading
	whole   context.Context // of the read
	running sync.WaitGroup

	mu       sync.Mutex
	ctx      context.Context // of what is requested now
	stop     context.CancelFunc
	next     position  // of the page behind the last one that was accepted
	coming   []*coming // pages that are requested, in their order
	last     *coming   // the last one that was requested since the plan began, or nil
	rows     int64     // that these pages will have led to
	width    int       // how many may be requested
	refusals int64     // of the API, when the width was last set
}

// errUnanswered is the error of a request whose goroutine ended before it had an answer.
var errUnanswered = errors.New("restsource: the request ended without an answer")

// coming is a page that is requested.
type coming struct {
	at       position
	done     chan struct{}
	arrived  bool // without an error
	page     *page
	err      error
	panicked any
}

func (x *session) ahead(ctx context.Context, r *reading) *ahead {
	a := &ahead{session: x, reading: r, whole: ctx, width: x.options.Concurrency}
	a.refusals = x.transport.pace.refused.Load()
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
	a.mu.Lock()
	if len(a.coming) == 0 {
		a.start(at)
	}
	next := a.coming[0]
	a.coming = a.coming[1:]
	a.mu.Unlock()
	<-next.done
	if next.panicked != nil {
		panic(next.panicked) // in the goroutine of the request, whose panics are reported
	}
	return next.page, next.err
}

// start requests a page. The caller holds the lock.
func (a *ahead) start(at position) {
	c := &coming{at: at, done: make(chan struct{}), err: errUnanswered}
	a.coming, a.last = append(a.coming, c), c
	a.rows += int64(a.reading.first)
	ctx := a.ctx
	a.running.Go(func() {
		defer close(c.done)
		defer func() { c.panicked = recover() }()
		if c.page, c.err = a.session.page(ctx, a.reading.endpoint, at); c.err == nil {
			a.arrive(ctx, c)
		}
	})
}

// arrive requests the page that one names which has arrived, while the rows of the page before
// are taken. A page that is waited for is judged first, which may take requests of its own.
func (a *ahead) arrive(ctx context.Context, c *coming) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c.arrived = true; a.last == c && len(a.coming) > 0 && a.reading.named() && ctx.Err() == nil {
		a.fill()
	}
}

// plan requests the next page, and those behind it.
func (a *ahead) plan(next position, p *page) {
	a.mu.Lock()
	defer a.mu.Unlock()
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
	a.rows = r.fresh + int64(len(a.coming)*r.first)
	if len(a.coming) == 0 {
		a.next, a.last = next, nil
	}
	a.fill()
}

// fill requests pages as far as the limits allow: of concurrency, of bytes, and of the rows
// that are wanted. The caller holds the lock.
func (a *ahead) fill() {
	r := a.reading
	for len(a.coming) < a.width && (len(a.coming)+1)*r.largest <= maxAhead && (r.want == 0 || a.rows < r.want) {
		at, ok := a.next, true
		switch {
		case a.last == nil:
		case r.named():
			at, ok = a.last.behind()
			ok = ok && len(a.coming) < 2 && r.first > 0
		default:
			at, ok = r.behind(a.last.at)
		}
		if !ok {
			return
		}
		a.start(at)
	}
}

// named reports whether each page names the next one, which may be asked for at any time.
func (r *reading) named() bool {
	return r.Pages.By != PagingPage && r.Pages.By != PagingOffset && r.Pages.By != PagingScroll
}

// behind returns the place that a page names, if it has arrived and names one.
func (c *coming) behind() (position, bool) {
	if !c.arrived {
		return position{}, false
	}
	next := c.page.next
	return position{text: next.Text}, next.Text != "" && next.Text != c.at.text && c.page.more.Text != "false" &&
		(next.Kind == textvalue.Text || next.Kind == textvalue.Number)
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
