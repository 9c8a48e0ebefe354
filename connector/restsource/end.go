package restsource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"net/http"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/hostlog"
	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// shown is what the answers for one table have shown in one request. A member that an
// answer has had is declared rightly, and may be left out at the end.
type shown struct {
	more, next bool
	hidden     bool // it cannot be found out whether the API names next pages at Next
}

// after decides what follows a page: another page, the end, or an error. It does so
// for every way of paging, and nothing else ends a read [rule error-10].
//
// A page is the last one if the API says so: by HasMore, by no next place where one was
// seen before or where there is null, by a page without rows, by a total on a page
// that is not full. A page that is promised and not named is an error, and so is a
// total that does not fit the rows. Where nothing says anything, the place is a doubt.
func (r *reading) after(p *page, at position, received int) (position, error) {
	if p.text == "" && r.promised {
		return position{}, r.fault("the API answered with the status 204 for a page that the page before promises")
	}
	before := r.end
	r.end = max(at.number, r.start) + int64(received)
	r.fresh += int64(len(p.rows))
	if p.total >= 0 && p.total != r.total() {
		r.totals = append(r.totals, p.total)
	}
	next, err := r.follow(p, at, received, r.end > before)
	if err != nil {
		return position{}, err
	}
	more, err := r.says(p, received)
	switch {
	case err != nil:
		return position{}, err
	case more == yes && next == position{}:
		return position{}, r.fault("the API says that there are more rows, and not where; check Pages")
	case more == yes:
	case more == no:
		next = position{}
	case next == position{} && r.Pages.LastRowCursor != "" && received > 0:
		return position{}, r.fault("the last row has no value at Pages.LastRowCursor (%q)", r.Pages.LastRowCursor)
	case next == position{}:
		next.doubt = r.doubtful(received)
		if err := r.continued(p, received, !next.doubt && r.Pages.By != OnePage); err != nil {
			return position{}, err
		}
	case r.reached():
		if next.beyond = r.full(received); !next.beyond {
			next = position{}
		}
	}
	if err := r.shapely(p, received, next); err != nil {
		return position{}, err
	}
	if r.pages == 0 {
		r.first = received
	}
	r.promised = more == yes || r.names() && next != position{}
	r.most = max(r.most, received)
	r.sum = p.sum
	r.pages++
	return next, r.whole(next)
}

// names reports whether the API itself names the next page, and not the source.
func (r *reading) names() bool {
	by := r.Pages.By
	return by == PagingURL || by == PagingLink || by == PagingFunc || by == PagingScroll ||
		by == PagingCursor && r.Pages.LastRowCursor == ""
}

// shapely fails if a page that ends the read is not of the shape of those before.
func (r *reading) shapely(p *page, received int, next position) error {
	if p.text == "" {
		return nil
	}
	members := r.flatten(p.beside)
	if next == (position{}) && r.shape.pages > 0 && (received == 0 || r.names()) {
		if said := r.shape.differs(members, r.declared); said != "" {
			return &formError{r.Name, "the page that ends the read " + said + ", so it may be no page; " +
				"name the members in Pages.Ignore if they mean nothing"}
		}
	}
	r.shape.add(members)
	return nil
}

// continued fails if the last answer of a read says that there are more rows. known says
// that what Pages declares tells the end, so that only booleans contradict it.
func (r *reading) continued(p *page, received int, known bool) error {
	what := fmt.Sprintf("the header %s", p.part)
	if p.part == "" {
		what = r.more(p.beside, int64(received), known, r.few)
		if what == "" {
			return nil
		}
		what = fmt.Sprintf("the member %q", what)
	}
	return &formError{r.Name, what + " says that there are more rows, and Pages does not; " +
		"say how the rows are paged, or name the member in Pages.Ignore if it means something else"}
}

// follow returns the place of the next page as far as the page and its number tell. None
// is the zero position. advanced says that the page leads further than the one before.
func (r *reading) follow(p *page, at position, received int, advanced bool) (position, error) {
	fault := func(problem string) (position, error) { return position{}, r.fault("%s", problem) }
	by := &r.Pages
	switch {
	case by.By == PagingPage:
		// Only HasMore says that there are pages behind one without rows.
		if received == 0 && p.more.Text != "true" {
			return position{}, nil
		}
		return position{number: r.number(at) + 1}, nil
	case by.By == PagingOffset && !advanced && received == 1 && r.overlaps(at):
		return position{number: r.end}, nil // again without the mark, for which this API may have no room
	case by.By == PagingOffset && !advanced:
		return position{}, nil
	case by.By == PagingOffset && len(r.key) > 0 && received > 1 && r.short(received):
		return position{number: r.end, probe: true}, nil
	case by.By == PagingOffset && len(r.key) > 0 && received > 1:
		return position{number: r.end - 1}, nil // the last row again, as the mark that no row has moved
	case by.By == PagingOffset:
		return position{number: r.end}, nil
	case by.By == OnePage && p.next.Text != "":
		return fault("the header Link names a next page, and the table is declared as one page; declare Pages")
	case (by.By == PagingFunc || by.By == PagingLink) && p.next.Kind == textvalue.Text && p.next.Text == "":
		return fault("a next page is named without its place")
	case by.By == PagingURL && !p.next.None() && p.next.Kind != textvalue.Text:
		return fault("the address of the next page is not a text")
	case !p.next.None() && p.next.Kind != textvalue.Text && p.next.Kind != textvalue.Number:
		return fault("the next cursor is neither a text nor a number")
	}
	if r.names() && p.next.Kind != textvalue.Absent {
		r.shown.next = true
	}
	if by.By == PagingScroll {
		switch {
		case received == 0:
			return position{}, nil
		case p.next.Kind == textvalue.Absent && at.text != "": // it was named once
			return position{text: at.text, number: at.number + 1}, nil
		case p.next.Text != "":
			return position{text: p.next.Text, number: at.number + 1}, nil
		}
	}
	return position{text: p.next.Text}, nil
}

// says returns what HasMore says.
func (r *reading) says(p *page, received int) (verdict, error) {
	more := p.more
	switch {
	case r.Pages.HasMore == "":
		return unknown, nil
	case more.Kind == textvalue.Bool:
		r.shown.more = true
		if more.Text == "true" {
			return yes, nil
		}
		return no, nil
	case !more.None() || !r.shown.more && received > 0 || r.graph != nil && p.text != "": // a query has asked for it
		return unknown, r.fault("there is no boolean at Pages.HasMore (%q); check the path, "+
			"and declare no HasMore if the API leaves it out on a first page", r.Pages.HasMore)
	case r.names() || !r.shown.more:
		return unknown, nil // Next is left to say it, or there are no rows
	}
	return no, nil
}

// doubtful reports whether a page ends the read only because something is not there
// that was never seen.
func (r *reading) doubtful(received int) bool {
	if r.Pages.By == OnePage {
		return r.size > 0 && received == r.size && r.total() < 0
	}
	return r.names() && !r.shown.next && !r.shown.hidden && received > 0
}

// total returns the number of rows that was stated last, or -1.
func (r *reading) total() int64 {
	if len(r.totals) == 0 {
		return -1
	}
	return r.totals[len(r.totals)-1]
}

// reached reports whether the pages by number or offset have reached the total.
func (r *reading) reached() bool {
	read := r.fresh
	if r.Pages.By == PagingOffset {
		read = r.end
	}
	return (r.Pages.By == PagingOffset || r.Pages.By == PagingPage) && r.total() >= 0 && read >= r.total()
}

// full reports whether a page has as many rows as the API gives at once, which may be
// fewer than it is asked for.
func (r *reading) full(received int) bool {
	if r.pages > 0 {
		return received >= r.most
	}
	return received >= r.size
}

// short reports whether a page has so few rows that it seems to be the last.
func (r *reading) short(received int) bool {
	if r.pages > 0 {
		return received < r.most
	}
	return received < r.size && !likelyCap(received)
}

// whole fails if more rows have come than any answer states, or if there is no next
// page and no answer states as many rows as there were.
func (r *reading) whole(next position) error {
	read := r.start + r.fresh
	switch {
	case len(r.totals) == 0 || slices.Contains(r.totals, read) || r.fresh == 0 && slices.Min(r.totals) <= r.start:
		return nil
	case r.fresh > 0 && read > slices.Max(r.totals):
	case next.doubt || next == position{}:
		if r.few {
			return nil
		}
	default:
		return nil
	}
	return r.fault("the API states %d rows and has answered %d; check Total, Pages and Key", r.total(), read)
}

// settle decides a doubt. A full page without a next place is asked for again at half its
// size, which cannot be the last page: if it names a next one, leaving that out means the end.
// That one is read, and must have the other half and be the last.
//
// A page that is not full is believed to be the last. An API that caps the size in
// silence gives the same number of rows each time, so a page of a likely one counts as full.
func (x *session) settle(ctx context.Context, r *reading) error {
	if r.Pages.By == OnePage {
		return r.fault("the answer has as many rows as were asked for, so there may be more; " +
			"declare how it pages, Total or a larger Size")
	}
	if r.size > 0 {
		if r.most < r.size && !likelyCap(r.most) {
			return nil
		}
		half, next, err := x.halved(ctx, r)
		switch ignored := half > r.most-r.most/2 && r.most != r.size; {
		case r.shown.next && err == nil:
			return x.rest(ctx, r, half, next)
		case err != nil && !rejected(err):
			return err
		case err == nil && !ignored:
			return &formError{r.Name, "neither the first page nor half of it is the last one, and there is " + r.silence()}
		}
	}
	r.unsettled(ctx)
	return nil
}

// rest follows the next place of half a page, and fails unless it leads to the rest of the
// page and to nothing behind it.
func (x *session) rest(ctx context.Context, r *reading, half int, next position) error {
	own := *r.endpoint
	own.size = r.most - r.most/2
	for read := half; ; {
		p, err := x.page(ctx, &own, next)
		if err != nil {
			return err
		}
		if r.seen != nil && read < r.most && (len(p.rows) == 0 || r.seen[r.sumOf(p.rows[0])] != int64(read)) {
			return r.fault("the next place of half a page does not lead to the other half; check Next")
		}
		if read += len(p.rows); read > r.most {
			return r.fault("there is %s on a full page, and there are rows behind it; declare a smaller Size", r.silence())
		}
		if p.next.Text == "" || len(p.rows) == 0 {
			return nil
		}
		next = position{text: p.next.Text}
	}
}

// likelyCap reports whether APIs cap their pages at such a number of rows, such as 15, 50
// or 64.
func likelyCap(rows int) bool {
	return rows >= 10 && rows%5 == 0 || rows >= 16 && bits.OnesCount(uint(rows)) == 1
}

// unsettled logs that a doubt stays one.
func (r *reading) unsettled(ctx context.Context) {
	r.shown.hidden = true
	hostlog.Warn(ctx, fmt.Sprintf("restsource: table %q: there is %s on the first page, and no smaller page can be "+
		"asked for to see whether there ever is, so the rows behind that page are missing if there are any",
		r.Name, r.silence()))
}

// halved asks for the first page again at half its size, which cannot be the last one.
// It returns how many rows the answer has, and the next place that it names.
func (x *session) halved(ctx context.Context, r *reading) (int, position, error) {
	half := *r.endpoint
	half.size = r.most - r.most/2
	p, err := x.page(ctx, &half, position{})
	if err != nil {
		return 0, position{}, err
	}
	r.shown.next = p.next.Text != ""
	return len(p.rows), position{text: p.next.Text}, nil
}

// silence returns the place in the answer where the next page is not named.
func (r *reading) silence() string {
	if r.Pages.By == PagingLink {
		return "no header Link"
	}
	return fmt.Sprintf("nothing at Pages.Next (%q)", r.Pages.Next)
}

// statusOf returns the status of an answer that is an error, or 0.
func statusOf(err error) int {
	if status, ok := errors.AsType[*statusError](err); ok {
		return status.status
	}
	return 0
}

// missing reports whether the API answered that there is no such page.
func missing(err error) bool {
	return slices.Contains([]int{http.StatusBadRequest, http.StatusNotFound, http.StatusGone,
		http.StatusRequestedRangeNotSatisfiable, http.StatusUnprocessableEntity}, statusOf(err))
}

// foretell judges what the first page of a table says about the pages behind it. It
// warns where a read would fail, or could end too early.
func (x *session) foretell(
	ctx context.Context, t *table, parent []wire.Value, first *page, warn func(string, ...any),
) error {
	e, err := x.endpoint(t, push{}, parent)
	if err != nil {
		return err
	}
	r := x.reading(e)
	next, err := r.after(first, position{}, len(first.rows))
	if next.doubt && r.Pages.By == OnePage {
		err = x.settle(ctx, r)
	}
	var form *formError
	if errors.As(err, &form) {
		warn("Table %q cannot be read: %s.", t.Name, form.problem)
		return nil
	}
	if err == nil && !next.doubt && next != (position{}) {
		return x.steady(ctx, r, first, next, warn)
	}
	if err != nil || !next.doubt || r.size > 0 && r.most < 2 {
		return err
	}
	if r.size > 0 {
		if _, _, err := x.halved(ctx, r); err != nil && !rejected(err) {
			return untested("pages", t, err, warn)
		}
		if r.shown.next {
			return nil
		}
	} else {
		r.unsettled(ctx)
	}
	warn("Table %q: the first page has %s, so it is read as the last one, and rows may be missing. Its members are %s.",
		t.Name, r.silence(), t.members(first))
	return nil
}

// maxMembers limits the members that a warning names.
const maxMembers = 10

// members returns the paths of the members of an answer.
func (t *table) members(p *page) string {
	var names []string
	if t.Rows != "" {
		names = append(names, terms.QuoteName(t.Rows))
	}
	for _, m := range t.flatten(p.beside) {
		if m.value.Kind != textvalue.Object {
			names = append(names, terms.QuoteName(joinPath(m.path)))
		}
	}
	if len(names) > maxMembers {
		names = append(names[:maxMembers], "others")
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}
