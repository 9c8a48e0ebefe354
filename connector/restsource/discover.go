package restsource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/hostlog"
	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Discover asks every table for its first page, and reads two pages twice. It takes samples,
// and leaves out the tables that cannot be read. It asks once for each filter and each sort
// whether the API applies it. The warnings tell what was found, and name the paths of columns
// that no row of a first page has.
func (s *Source) Discover(ctx context.Context, req *wire.DiscoveryRequest) (_ *wire.Discovery, err error) {
	defer s.explaining(ctx, &err)
	x, err := s.open(ctx, req.Credentials)
	if err != nil {
		return nil, err
	}
	if err := x.own(ctx); err != nil {
		return nil, err
	}
	x.keepShared(x.order)
	d := &wire.Discovery{Tables: []wire.Table{}}
	warn := func(format string, args ...any) { d.Warnings = append(d.Warnings, fmt.Sprintf(format, args...)) }
	var failed error
	leave := func(name, why string, err error) {
		warn("Table %q is left out: %s.", name, why)
		hostlog.Warn(ctx, fmt.Sprintf("table %q is left out of the discovery: %s", name, err))
		failed = cmp.Or(failed, err)
	}
	for _, f := range x.left {
		leave(f.table, f.problem, f)
	}
	for _, known := range x.order {
		described, err := x.probe(ctx, known.Name, warn)
		if err == nil {
			d.Tables = append(d.Tables, *described)
			continue
		}
		why := leftOut(err)
		if why == "" || ctx.Err() != nil {
			return nil, err
		}
		leave(known.Name, why, err)
	}
	if len(d.Tables) == 0 && failed != nil {
		return nil, failed
	}
	dropLinks(d)
	return d, nil
}

// leftOut returns why a table cannot be described, without a value, or "" if that concerns the
// API as a whole.
func leftOut(err error) string {
	var form *formError
	var said *refusedError
	switch status := statusOf(err); {
	case status == http.StatusForbidden:
		return "these credentials may not read it"
	case status == http.StatusNotFound || status == http.StatusGone:
		return "the API does not have it for these credentials"
	case status == http.StatusUnauthorized || status == http.StatusTooManyRequests:
		return ""
	case status != 0:
		return fmt.Sprintf("the API answered with the status %d", status)
	case errors.As(err, &form):
		return form.problem
	case errors.As(err, &said):
		return said.why
	case is[*limitError](err), is[*unreachable](err), is[*wire.Error](err):
		return ""
	}
	return "a function of the connector fails; the log has the cause"
}

// dropLinks removes the foreign keys to tables that are left out [rule tenant-6a].
func dropLinks(d *wire.Discovery) {
	for i := range d.Tables {
		d.Tables[i].ForeignKeys = slices.DeleteFunc(slices.Clone(d.Tables[i].ForeignKeys), func(k wire.ForeignKey) bool {
			return !slices.ContainsFunc(d.Tables, func(t wire.Table) bool { return t.Name == k.TargetTable })
		})
	}
}

// probe describes one table with the help of its first page.
func (x *session) probe(ctx context.Context, name string, warn func(string, ...any)) (*wire.Table, error) {
	t, err := x.table(ctx, name)
	if err != nil {
		return nil, err
	}
	described := t.described
	if t.base().Job.Create != "" {
		return &described, nil
	}
	described.Fields = slices.Clone(t.described.Fields)
	parent, err := x.firstParent(ctx, t)
	if err != nil {
		return nil, err
	}
	if t.base().parent != nil && parent == nil {
		return &described, nil // no endpoint to ask
	}
	first, err := x.firstPage(ctx, t)
	if err != nil {
		if t.parent != nil && statusOf(err) == http.StatusNotFound {
			return &described, nil // other rows of the parent may have an endpoint
		}
		return nil, err
	}
	if first.total >= 0 && !t.embedded() && !t.split() {
		described.RowCount = &first.total
	}
	for i := range described.Fields {
		described.Fields[i].Samples = samples(first.rows, i, t.columns[i].Type)
	}
	if t.embedded() {
		var form *formError
		if errors.As(first.none, &form) {
			warn("Table %q: %s.", form.table, form.problem)
		} else if len(first.rows) > 0 {
			t.warnOfPaths(first, warn)
		}
		return &described, nil // its pages, filters and sorts are the parent's
	}
	if err := x.foretell(ctx, t, parent, first, warn); err != nil {
		return nil, err
	}
	if len(first.rows) == 0 {
		return &described, nil // nothing that a filter or a sort could change
	}
	t.warnOfPaths(first, warn)
	if err := x.compareParts(ctx, t, parent, warn); err != nil {
		return nil, err
	}
	return &described, x.control(ctx, t, parent, warn)
}

// maxNamed is how many paths one warning names.
const maxNamed = 10

// warnOfPaths names the paths of columns that no row of a page has.
func (t *table) warnOfPaths(first *page, warn func(string, ...any)) {
	var absent []string
	for i, c := range t.columns {
		if c.inRow() && !first.has[i] {
			absent = append(absent, strconv.Quote(c.Path))
		}
	}
	if len(absent) == 0 {
		return
	}
	named := strings.Join(absent[:min(len(absent), maxNamed)], ", ")
	if more := len(absent) - maxNamed; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	warn("Table %q: no row of the first page has %s, so these columns may be null everywhere; check Path.", t.Name, named)
}

// control asks the API whether it applies what the table declares.
func (x *session) control(ctx context.Context, t *table, parent []wire.Value, warn func(string, ...any)) error {
	filters := make([]*Param, 0, len(t.Filters)+1)
	for i := range t.Filters {
		filters = append(filters, &t.Filters[i])
	}
	if t.Search != nil {
		filters = append(filters, t.searched())
	}
	for _, f := range filters {
		if f == nil {
			continue
		}
		applied, err := x.applies(ctx, t, f, parent)
		if err != nil {
			return untested("filters", t, err, warn)
		}
		if applied == no {
			warn("Table %q: the API does not apply the parameter %q, so filters on %q are applied after reading all rows.",
				t.Name, f.Name, f.Column)
		}
	}
	for i := range t.Sorts {
		sorted, err := x.sorted(ctx, t, &t.Sorts[i])
		if err != nil {
			return untested("sorts", t, err, warn)
		}
		if !sorted {
			warn("Table %q: the API does not sort by %q as it should, so rows are sorted after reading all of them.",
				t.Name, t.Sorts[i].Column)
		}
	}
	return nil
}

// untested warns that a discovery has not tested all of what a table declares, if that is
// because the API takes no more requests. It returns any other error.
func untested(what string, t *table, err error, warn func(string, ...any)) error {
	if !is[*limitError](err) {
		return err
	}
	warn("The %s of table %q were not all tested: the API takes no more requests at the moment.", what, t.Name)
	return nil
}

// verdict says whether the API applies a filter.
type verdict int

const (
	unknown verdict = iota
	yes
	no
)

// applies asks for rows that cannot be, or that exclude each other. An API that
// ignores the filter answers rows that do not match. One that filters its rows alone states
// a total beside none, or the same one twice, and then applies returns unknown.
func (x *session) applies(ctx context.Context, t *table, f *Param, parent []wire.Value) (verdict, error) {
	typ := t.columns[t.place(f.Column)].Type
	var totals []int64
	for _, condition := range impossible(f, typ) {
		values, ok := f.spell(condition)
		if !ok {
			return unknown, nil // Spell does not take it; a ProbeValue would help
		}
		e, err := x.endpoint(t, push{}, parent)
		if err != nil {
			return unknown, err
		}
		e.params = map[string][]string{f.Name: values}
		p, err := x.page(ctx, e, position{})
		switch {
		case is[*refusedError](err):
			return unknown, nil // an error may be about anything
		case rejected(err):
			continue // to refuse a value is to read it
		}
		if err != nil {
			return unknown, err
		}
		match, err := filter.Compile(wire.Where{And: []wire.Filter{condition}}, t.cells)
		if err != nil {
			return unknown, err
		}
		if slices.ContainsFunc(p.rows, func(row []wire.Value) bool {
			ok, err := match.Match(row)
			return err != nil || !ok
		}) {
			return no, nil
		}
		if p.total > 0 && (len(p.rows) == 0 || slices.Contains(totals, p.total)) {
			return unknown, nil
		}
		totals = append(totals, p.total)
	}
	return yes, nil
}

// sorted asks for the first page in each declared direction and looks at its order.
func (x *session) sorted(ctx context.Context, t *table, s *Sort) (bool, error) {
	for _, dir := range []wire.Direction{wire.Desc, wire.Asc} {
		keys := []wire.SortKey{{Field: s.Column, Dir: dir}}
		p := t.push(wire.Where{}, keys)
		if !p.sorted {
			continue
		}
		e, err := x.endpoint(t, p, nil)
		if err != nil {
			return false, err
		}
		first, err := x.page(ctx, e, position{})
		if rejected(err) || err == nil && !t.inOrder(first.rows, keys) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// samples returns some distinct values of a column.
func samples(rows [][]wire.Value, at int, t wire.Type) []wire.Value {
	var found textvalue.Samples
	var key []byte
	for _, row := range rows {
		key = filter.AppendKey(key[:0], row[at], t)
		found.Add(row[at], key)
	}
	return found.Values()
}
