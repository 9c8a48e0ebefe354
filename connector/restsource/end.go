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
		return position{}, &formError{r.Name, "the API answered with the status 204 for a page that the page before promises"}
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
		return position{}, &formError{r.Name, "the API says that there are more rows, and not where; check Pages"}
	case more == yes:
	case more == no:
		next = position{}
	case next == position{} && r.Pages.LastRowCursor != "" && received > 0:
		return position{}, &formError{r.Name, fmt.Sprintf("the last row has no value at Pages.LastRowCursor (%q)", r.Pages.LastRowCursor)}
	case next == position{}:
		next.doubt = r.doubtful(received)
		if err := r.continued(p, received, !next.doubt && r.Pages.By != pagingNone); err != nil {
			return position{}, err
		}
	case r.reached():
		if next.beyond = r.full(received); !next.beyond {
			next = position{}
		}
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
	return by == PagingURL || by == PagingLink || by == PagingFunc || by == PagingCursor && r.Pages.LastRowCursor == ""
}

// follow returns the place of the next page as far as the page and its number tell. None
// is the zero position. advanced says that the page leads further than the one before.
func (r *reading) follow(p *page, at position, received int, advanced bool) (position, error) {
	fault := func(format string, args ...any) (position, error) {
		return position{}, &formError{r.Name, fmt.Sprintf(format, args...)}
	}
	by := &r.Pages
	switch {
	case by.By == PagingPage:
		// Only HasMore says that there are pages behind one without rows.
		if received == 0 && p.more.Text != "true" {
			return position{}, nil
		}
		if at == (position{}) && !by.FromZero {
			at.number = 1
		}
		return position{number: at.number + 1}, nil
	case by.By == PagingOffset && !advanced:
		return position{}, nil
	case by.By == PagingOffset && len(r.key) > 0 && received > 1:
		return position{number: r.end - 1}, nil // the last row again, as the mark that no row has moved
	case by.By == PagingOffset:
		return position{number: r.end}, nil
	case by.By == pagingNone && p.next.Text != "":
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
		return unknown, &formError{r.Name, fmt.Sprintf("there is no boolean at Pages.HasMore (%q); check the path, "+
			"and declare no HasMore if the API leaves it out on a first page", r.Pages.HasMore)}
	case r.names() || !r.shown.more:
		return unknown, nil // Next is left to say it, or there are no rows
	}
	return no, nil
}

// doubtful reports whether a page ends the read only because something is not there
// that was never seen.
func (r *reading) doubtful(received int) bool {
	if r.Pages.By == pagingNone {
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
	return &formError{r.Name, fmt.Sprintf("the API states %d rows and has answered %d; check Total, Pages and Key", r.total(), read)}
}

// settle decides a doubt. A full page without a next place is asked for again at half
// its size: if the answer names a next page, leaving that out means the end.
//
// A page that is not full is believed to be the last. An API that caps the size in
// silence gives the same number of rows each time, so a page of a likely one counts as full.
func (x *session) settle(ctx context.Context, r *reading) error {
	if r.Pages.By == pagingNone {
		return &formError{r.Name, "the answer has as many rows as were asked for, so there may be more; " +
			"declare Pages.By, Total or a larger Size"}
	}
	if r.size > 0 {
		if r.most < r.size && !likelyCap(r.most) {
			return nil
		}
		rows, err := x.halved(ctx, r)
		switch ignored := rows > r.most/2 && r.most != r.size; {
		case r.shown.next || err != nil && !rejected(err):
			return err
		case err == nil && !ignored:
			return &formError{r.Name, "neither the first page nor half of it is the last one, and there is " + r.silence()}
		}
	}
	r.unsettled(ctx)
	return nil
}

// likelyCap reports whether APIs cap their pages at such a number of rows, such as 15, 50
// or 64.
func likelyCap(rows int) bool {
	return rows >= 10 && rows%5 == 0 || rows >= 16 && bits.OnesCount(uint(rows)) == 1
}

// unsettled logs that a doubt stays one.
func (r *reading) unsettled(ctx context.Context) {
	r.shown.hidden = true
	hostlog.Warn(ctx, fmt.Sprintf("restsource: table %q: there is %s on the first page, and no smaller page can be asked for "+
		"to see whether there ever is, so the rows behind that page are missing if there are any", r.Name, r.silence()))
}

// halved asks for the first page again at half its size, which cannot be the last one.
// It returns how many rows the answer has.
func (x *session) halved(ctx context.Context, r *reading) (int, error) {
	half := *r.endpoint
	half.size = r.most / 2
	p, err := x.page(ctx, &half, position{})
	if err != nil {
		return 0, err
	}
	r.shown.next = p.next.Text != ""
	return len(p.rows), nil
}

// silence says where the next page is not named.
func (r *reading) silence() string {
	if r.Pages.By == PagingLink {
		return "no header Link"
	}
	return fmt.Sprintf("nothing at Pages.Next (%q)", r.Pages.Next)
}

// missing reports whether the API answered that there is no such page.
func missing(err error) bool {
	var status *statusError
	return errors.As(err, &status) && slices.Contains([]int{http.StatusBadRequest, http.StatusNotFound, http.StatusGone,
		http.StatusRequestedRangeNotSatisfiable, http.StatusUnprocessableEntity}, status.status)
}

// foretell judges what the first page of a table says about the pages behind it. It
// warns where a read would fail, or could end too early.
func (x *session) foretell(ctx context.Context, t *table, parent []wire.Value, first *page, warn func(string, ...any)) error {
	e, err := x.endpoint(t, push{}, parent)
	if err != nil {
		return err
	}
	r := x.reading(e)
	next, err := r.after(first, position{}, len(first.rows))
	if next.doubt && r.Pages.By == pagingNone {
		err = x.settle(ctx, r)
	}
	var form *formError
	if errors.As(err, &form) {
		warn("Table %q cannot be read: %s.", t.Name, form.problem)
		return nil
	}
	if err != nil || !next.doubt || r.size > 0 && r.most < 2 {
		return err
	}
	if r.size > 0 {
		if _, err := x.halved(ctx, r); err != nil && !rejected(err) {
			return untested("pages", t, err, warn)
		}
		if r.shown.next {
			return nil
		}
	} else {
		r.unsettled(ctx)
	}
	warn("Table %q: the first page has %s, so it is read as the last one, and rows may be missing. Its members are %s.",
		t.Name, r.silence(), members(first.text))
	return nil
}

// maxMembers limits the members that a warning names.
const maxMembers = 10

// members returns the paths of the members of an answer, without those of its rows.
func members(text string) string {
	var names []string
	s := checked(text)
	var walk func(path string)
	walk = func(path string) {
		if s.Peek() != '{' {
			if s.Value(1); path != "" {
				names = append(names, terms.QuoteName(path))
			}
			return
		}
		s.Members(func(name string) {
			walk(strings.TrimPrefix(path+"."+strings.ReplaceAll(name, ".", `\.`), "."))
		})
	}
	walk("")
	if len(names) > maxMembers {
		names = append(names[:maxMembers], "others")
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}
