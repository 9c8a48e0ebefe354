package restsource

import (
	"context"
	"math"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// overlaps reports whether a page begins with the last row of the page before.
func (r *reading) overlaps(at position) bool {
	return r.Pages.By == PagingOffset && len(r.key) > 0 && max(at.number, r.start) < r.end
}

func (r *reading) has(row []wire.Value) bool {
	_, ok := r.seen[r.sumOf(row)]
	return ok
}

// unseen is the place of a row that no page had before.
const unseen = math.MinInt64

// dropKnown removes the rows that an earlier page had, if added rows explain it. A row that
// comes again for another reason has taken the place of one that never came: a fault, like
// a key that one page has twice.
func (r *reading) dropKnown(ctx context.Context, p *page, at position) error {
	if r.seen == nil {
		return nil
	}
	sums, places := make([]uint64, len(p.rows)), make([]int64, len(p.rows))
	known := 0
	for i, row := range p.rows {
		sums[i], places[i] = r.sumOf(row), unseen
		if place, ok := r.seen[sums[i]]; ok {
			if place == unseen {
				return r.fault("two rows of one page have the same key; the Key does not tell rows apart")
			}
			places[i] = place
			known++
			continue
		}
		r.seen[sums[i]] = unseen
	}
	if known > 0 && !r.Pages.Resends {
		if err := r.explained(ctx, places, at, p.total >= 0 && !r.few); err != nil {
			return err
		}
	}
	ahead := slices.IndexFunc(places, func(place int64) bool { return place != unseen }) // rows in front of all others
	r.low -= int64(max(0, ahead))
	p.retain(func(i int) bool {
		switch {
		case places[i] != unseen:
			return false
		case i < ahead:
			places[i] = r.low + int64(i)
		default:
			places[i] = r.high
			r.high++
		}
		r.seen[sums[i]] = places[i]
		return true
	})
	if len(places) > 0 {
		r.tail = places[len(places)-1]
	}
	return nil
}

// explained fails unless the rows that come again do so because rows were added before them.
// They are then a run: a whole page, or one that goes on where the page before ended, or ends
// with the last row that was read, or, behind new rows, begins with the first. The page before is
// asked for again, and must have moved with them, unless a total will tell.
func (r *reading) explained(ctx context.Context, places []int64, at position, counted bool) error {
	first := slices.IndexFunc(places, func(place int64) bool { return place != unseen })
	end := first
	for end < len(places) && places[end] == places[first]+int64(end-first) {
		end++
	}
	begins, ends := places[first], places[end-1]
	switch {
	case slices.ContainsFunc(places[end:], func(place int64) bool { return place != unseen }),
		first > 0 && begins != r.low,
		first == 0 && end < len(places) && begins != r.tail && begins != r.tail+1 && ends != r.high-1:
		return r.unstable()
	case first == 0 && end == len(places) || counted: // the next page tells, or the total
		return nil
	case first == 0 && end == 1 && (r.overlaps(at) || r.Pages.LastRowCursor != ""):
		return nil
	case r.Pages.By == PagingScroll:
		return r.unstable()
	}
	fresh := *r.session
	fresh.kept = nil
	again, err := fresh.page(ctx, r.endpoint, r.before)
	if err != nil {
		return err
	}
	for i, row := range again.rows {
		place, ok := r.seen[r.sumOf(row)]
		if ok && place >= begins && place <= ends && !(r.Pages.By == PagingOffset && i == len(again.rows)-1) {
			return r.unstable()
		}
	}
	return nil
}

func (r *reading) unstable() error {
	cure := "declare a Sort on a unique column, or send one by Query"
	if r.names() || r.Pages.LastRowCursor != "" {
		cure += "; or declare Pages.Resends if the API sends rows again that have changed, and its cursors miss none"
	} else {
		cure += ", or page by a cursor"
	}
	return &formError{r.Name, "rows come again, so the API's order is not stable and others may have been missed; " + cure}
}

// fits fails if a page by number is larger than one can be: then the API counts the rows
// before it in pages of that size, and those between were in none.
func (r *reading) fits(received int) error {
	switch {
	case r.Pages.By != PagingPage:
	case r.size > 0 && received > r.size:
		return r.fault("a page has %d rows, and %d were asked for; check SizeParam and Size", received, r.size)
	case r.pages > 0 && received > r.first:
		return r.fault("a page has %d rows, and the first had %d, so rows between them may be missing; "+
			"declare SizeParam and a Size that the API takes", received, r.first)
	}
	return nil
}

// clamped judges a page by number that came three times. An API that answers the last page
// again behind the end is read to that end. It looks like one that does not know Param, unless
// there was another page, or the second half of the page can be asked for.
func (r *reading) clamped(ctx context.Context) error {
	if r.distinct < 2 {
		unknown := r.fault("the API answers the same page again; check Pages.Param")
		if r.size == 0 || r.first < 2 {
			return unknown
		}
		half := *r.endpoint
		half.size = (r.first + 1) / 2
		number := int64(2)
		if r.Pages.FromZero {
			number = 1
		}
		p, err := r.session.page(ctx, &half, position{number: number})
		if err != nil {
			return err
		}
		if len(p.rows) == 0 || len(p.rows) != r.first-half.size || r.seen == nil || !r.has(p.rows[0]) ||
			r.seen[r.sumOf(p.rows[0])] != int64(half.size) {
			return unknown
		}
	}
	return r.whole(position{})
}

// ends reports whether an error is the status by which the API tells the end.
func (r *reading) ends(err error) bool {
	return err != nil && r.Pages.EndStatus != 0 && r.received > 0 && statusOf(err) == r.Pages.EndStatus
}

// behind reports whether the first page failed because the table ends before its offset, which is no
// error [rule query-15]. Without the offset the table must answer, and state no rows behind it.
func (x *session) behind(ctx context.Context, e *endpoint, err error) bool {
	declared := statusOf(err) != 0 && statusOf(err) == e.Pages.EndStatus
	if e.start == 0 || !declared && (!missing(err) || e.Total == "" && e.TotalHeader == "") {
		return false
	}
	whole := *e
	whole.start = 0
	p, err := x.page(ctx, &whole, position{})
	return err == nil && (p.total >= 0 && p.total <= e.start || p.total < 0 && declared)
}
