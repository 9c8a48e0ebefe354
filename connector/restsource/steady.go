package restsource

import (
	"context"
	"errors"
	"slices"
)

// steady reads the second page of a table, and both pages again. It warns where a read would
// fail at the second page, and where rows do not keep their order.
func (x *session) steady(ctx context.Context, r *reading, first *page, next position, warn func(string, ...any)) error {
	own := *x
	own.kept = nil // which would answer what it has answered before
	own.shown = map[string]*shown{}
	pages := [2][]uint64{r.sums(first), nil}
	second, err := own.page(ctx, r.endpoint, next)
	if err == nil {
		pages[1] = r.sums(second)
		try := own.reading(r.endpoint)
		copied := *first
		copied.rows = slices.Clone(first.rows)
		if _, err = try.accept(ctx, &copied, position{}); err == nil {
			_, err = try.accept(ctx, second, next)
		}
	}
	if r.ends(err) || next.beyond && missing(err) {
		return nil
	}
	var form *formError
	switch {
	case errors.As(err, &form):
		warn("Table %q cannot be read: %s.", r.Name, form.problem)
		return nil
	case missing(err):
		warn("Table %q cannot be read: the API answers the status %d for the second page; "+
			"if that is the end, declare Pages.EndStatus.", r.Name, statusOf(err))
		return nil
	case err != nil:
		return untested("pages", r.table, err, warn)
	case len(r.key) == 0 || r.Pages.Resends || r.Pages.By == PagingScroll || len(pages[1]) == 0:
		return nil
	}
	again := pages
	for i, at := range []position{{}, next} {
		p, err := own.page(ctx, r.endpoint, at)
		if err != nil {
			return untested("pages", r.table, err, warn)
		}
		again[i] = r.sums(p)
	}
	if !sameOrder(slices.Concat(pages[0], pages[1]), slices.Concat(again[0], again[1])) {
		warn("Table %q: the API's order is not stable, because two pages have their rows in another order when they are "+
			"read again, so a read will fail or miss rows; declare a Sort on a unique column, or send one by Query.", r.Name)
	}
	return nil
}

// sums returns the sums of the keys of a page's rows.
func (r *reading) sums(p *page) []uint64 {
	sums := make([]uint64, len(p.rows))
	for i, row := range p.rows {
		sums[i] = r.sumOf(row)
	}
	return sums
}

// sameOrder reports whether the rows that two readings have in common come in the same order.
// Where no row was added, the readings have the same rows.
func sameOrder(a, b []uint64) bool {
	common := func(of, in []uint64) []uint64 {
		return slices.DeleteFunc(slices.Clone(of), func(sum uint64) bool { return !slices.Contains(in, sum) })
	}
	return slices.Equal(common(a, b), common(b, a)) && (len(common(a, b)) == len(a) || len(common(b, a)) < len(b))
}
