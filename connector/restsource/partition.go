package restsource

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Partitions reads a table by one endpoint for each of a list of values, and all of
// them, or the read fails. Options.Concurrency of them are asked at the same time.
//
//	Partitions: restsource.Partitions{Param: "region", Values: []string{"eu", "us"}},
//
// A row that several partitions answer alike is one row. If they answer other rows with
// the same key, the read fails: the Column then belongs into the Key.
type Partitions struct {
	// Values are the values. One that is a placeholder, such as "{projects}", is the
	// tenant's credential of that key, split at commas. The library skips blanks there, and
	// values that come again.
	Values []string
	// Param is the query parameter that has the value. Paths are the paths of the values
	// in their order, in place of Table.Path: a union of endpoints.
	Param string
	Paths []string
	// Column is the column that says which partition a row is from. A filter on it chooses
	// the partitions that are asked. {Column} stands for the value in Path and Query.
	Column string
}

// part is one of the endpoints from which a table is read.
type part struct {
	value  string       // of the partition
	cell   []wire.Value // the value as Partitions.Column has it, if there is one
	path   string       // "": Table.Path
	params url.Values
	span
	seen map[uint64]origin // the keys of the rows of all parts, if they have to be known
}

// origin is where a row was read.
type origin struct {
	value string
	sum   uint64 // of all its cells
}

// split reports whether the table is read in parts.
func (t *table) split() bool { return len(t.Partitions.Values) > 0 || t.Window.Column != "" }

// parts returns the parts that can have rows with the given filters, those with the newest
// window last. A table that is not split has one, which is nil.
func (x *session) parts(t *table, where wire.Where) ([]*part, error) {
	if !t.split() {
		return []*part{nil}, nil
	}
	values, err := x.partitions(t, where)
	if err != nil {
		return nil, err
	}
	spans := []span{{first: true, last: true}}
	w := &t.Window
	if w.Column != "" {
		if spans = w.spans(where, time.Now()); spans == nil {
			return nil, t.fault("Window.Step makes more than %d windows", maxWindows)
		}
	}
	var all []*part
	for _, s := range spans {
		for _, own := range values {
			own.span = s
			if w.Column != "" {
				from, to, ok := w.ends(s, t.columns[t.place(w.Column)].Type)
				if !ok {
					return nil, t.fault("Window.Spell does not take the end of a window")
				}
				own.params = paramsOf(own.params, url.Values{w.From: {from}, w.To: {to}})
			}
			all = append(all, &own)
		}
	}
	return all, nil
}

// partitions returns the partitions that the filters let through.
func (x *session) partitions(t *table, where wire.Where) ([]part, error) {
	p := &t.Partitions
	if len(p.Values) == 0 {
		return []part{{}}, nil
	}
	var chosen []part
	known := map[string]bool{} // the values of each path
	var on wire.Where          // the filters on the column
	var columns []wire.Column
	if p.Column != "" {
		columns = []wire.Column{t.cells[t.place(p.Column)]}
		for _, f := range where.And {
			if f.Field == p.Column {
				on.And = append(on.And, f)
			}
		}
	}
	match, err := filter.Compile(on, columns)
	if err != nil {
		return nil, err
	}
	for i, value := range p.Values {
		values := []string{value}
		if key := placeholder.FindStringSubmatch(value); key != nil && key[0] == value {
			values = strings.FieldsFunc(x.creds.Get(key[1]), func(r rune) bool { return r == ',' || r == '\n' })
			values = slices.DeleteFunc(values, func(v string) bool { return strings.TrimSpace(v) == "" })
			if len(values) == 0 {
				return nil, missingCredential(key[1])
			}
		}
		for _, v := range values {
			own := part{value: strings.TrimSpace(v)}
			if p.Param != "" {
				own.params = url.Values{p.Param: {own.value}}
			}
			if len(p.Paths) > 0 {
				own.path = p.Paths[i]
			}
			same := own.path + " " + own.value
			if p.Column != "" {
				cell, err := partitionCell(own.value, columns[0].Type)
				if err != nil {
					key := strings.Trim(value, "{}")
					return nil, connector.CheckFailed("A value of the credential %s is not of the kind that is needed there.", key)
				}
				own.cell, same = []wire.Value{cell}, string(filter.AppendKey([]byte(own.path+" "), cell, columns[0].Type))
			}
			if ok, err := match.Match(own.cell); err != nil || !ok || known[same] {
				continue
			}
			known[same] = true
			chosen = append(chosen, own)
		}
	}
	return chosen, nil
}

// partitionCell returns the cell of a partition's value.
func partitionCell(value string, t wire.Type) (wire.Value, error) {
	return textvalue.APIs.Value(textvalue.Raw{Text: value, Kind: textvalue.Text}, t, textvalue.OwnWidth)
}

// newest reports whether this is the last of several windows, which is asked for when the
// others have been read: what a change has moved there meanwhile is then found.
func (own *part) newest() bool { return own != nil && own.last && !own.first }

// keep removes the rows of a page that another part has.
func (own *part) keep(t *table, p *page) error {
	if own == nil {
		return nil
	}
	var failed error
	p.retain(func(i int) bool {
		row := p.rows[i]
		if t.Window.Column != "" {
			at, _ := filter.Instant(row[t.place(t.Window.Column)])
			if !own.first && at.Before(own.from) || !own.last && !at.Before(own.to) {
				return false
			}
		}
		if own.seen == nil {
			return true
		}
		key, now := t.sumOf(row), origin{own.value, t.sumOfAll(row)}
		before, known := own.seen[key]
		if known && before.value != now.value && before.sum != now.sum {
			failed = t.fault("two partitions have rows with the same key and other values; " +
				"add Partitions.Column to the Key, or read again if the row changed meanwhile")
		}
		if !known {
			own.seen[key] = now
		}
		return !known
	})
	return failed
}

// sumOfAll returns a sum of all cells of a row.
func (t *table) sumOfAll(row []wire.Value) uint64 {
	var text []byte
	for i, v := range row {
		text = filter.AppendKey(text, v, t.columns[i].Type)
	}
	return maphash.Bytes(sumSeed, text)
}

// remember returns what is known of the rows of all parts of a table, at first nothing. It
// returns nil if no row can come from two of them.
func (t *table) remember() map[uint64]origin {
	if len(t.key) == 0 || t.Window.Column == "" && slices.Contains(t.Key, t.Partitions.Column) {
		return nil
	}
	return map[uint64]origin{}
}

// named is a placeholder in a query. Other braces there are what they are.
var named = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_-]*)\}`)

// above returns what {name} stands for beside the credentials: a column of the parent's
// row, or the value of the partition.
func (x *session) above(t *table, parent []wire.Value, own *part, name string) (value string, found bool, err error) {
	if t.parent != nil {
		if at := t.parent.place(name); at >= 0 {
			if parent[at].IsNull() {
				return "", true, t.fault("a row of the parent has no value in column %q", name)
			}
			return parent[at].String(), true, nil
		}
	}
	if own != nil && name == t.Partitions.Column {
		return own.value, true, nil
	}
	return "", false, nil
}

// expanded returns the parameters of Query.
func (x *session) expanded(t *table, parent []wire.Value, own *part) (url.Values, error) {
	params := url.Values{}
	var failed error
	for name, values := range t.query {
		for _, text := range values {
			params.Add(name, named.ReplaceAllStringFunc(text, func(placeholder string) string {
				key := placeholder[1 : len(placeholder)-1]
				v, found, err := x.above(t, parent, own, key)
				if !found {
					if v = x.creds.Get(key); v == "" {
						err = missingCredential(key)
					}
				}
				failed = errors.Join(failed, err)
				return v
			}))
		}
	}
	return params, failed
}

func missingCredential(key string) error {
	return connector.CheckFailed("The credential %s is missing.", key)
}

// partFaults checks Partitions and Window.
func (t *table) partFaults(fault func(string, ...any)) {
	p, w := &t.Partitions, &t.Window
	if !t.split() {
		return
	}
	at := t.place(p.Column)
	switch {
	case t.embedded():
		fault("partitions: without a Path its rows come with the parent's, and so do its parts")
	case len(t.Sorts) > 0:
		fault("sorts: a table in parts has none, because each part has an order of its own")
	case p.Column != "" && at < 0:
		fault("partitions: there is no column %q", p.Column)
	case len(p.Paths) > 0 && (len(p.Paths) != len(p.Values) || t.Path != ""):
		fault("partitions: Paths has one path for each of Values, and Path is empty then")
	case len(p.Values) > 0 && p.Param == "" && len(p.Paths) == 0 && !slices.Contains(t.placeholders(), p.Column):
		fault("partitions: say what the values change: Param, Paths, or {%s} in Path or Query", p.Column)
	}
	known := map[string]bool{}
	for i, value := range p.Values {
		if at >= 0 && !placeholder.MatchString(value) {
			cell, err := partitionCell(value, t.columns[at].Type)
			if err != nil {
				fault("partitions: the value at Values[%d] does not fit the column", i)
				continue
			}
			value = string(filter.AppendKey(nil, cell, t.columns[at].Type))
		}
		if known[value] {
			fault("partitions: the value at Values[%d] is there twice", i)
		}
		known[value] = true
	}
	if w.Column != "" {
		at := t.place(w.Column)
		if at < 0 || t.columns[at].Type != wire.TypeDatetime && t.columns[at].Type != wire.TypeDate {
			fault("window: Column must be a column of type datetime or date")
			return
		}
		const day = 24 * time.Hour
		days := t.columns[at].Type != wire.TypeDate || w.Step%day == 0 && w.Since.Equal(w.Since.Truncate(day))
		if w.From == "" || w.To == "" || w.Since.IsZero() || w.Step <= 0 || !days {
			fault("window: it needs From, To, Since and a positive Step; for a date, Since and Step are whole days in UTC")
		}
		t.columns[at].NotNull = true
	}
	for _, name := range []string{p.Param, w.From, w.To} {
		if name != "" && (t.query.Has(name) || slices.ContainsFunc(t.Filters, func(f Param) bool { return f.Name == name })) {
			fault("partitions: the parameter %q is also that of a filter or of Query", name)
		}
	}
}

// placeholders returns the names that stand for values in paths and in Query.
func (t *table) placeholders() (names []string) {
	j := &t.Job
	for _, path := range append([]string{t.Path, j.Create, j.Status, j.Download}, t.Partitions.Paths...) {
		names = append(names, template(path).names()...)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "job" && j.Create != "" })
	for _, values := range t.query {
		for _, text := range values {
			for _, match := range named.FindAllStringSubmatch(text, -1) {
				names = append(names, match[1])
			}
		}
	}
	return names
}

// placed returns the path of an endpoint, and which part of the table that is: of a
// table in parts the last one, if none is given.
func (x *session) placed(t *table, parent []wire.Value, own *part) (string, *part, error) {
	if own == nil && t.split() {
		all, err := x.parts(t, wire.Where{})
		if err != nil {
			return "", nil, err
		}
		own = all[len(all)-1]
	}
	path := t.Path
	if own != nil && own.path != "" {
		path = own.path
	}
	path, err := template(path).expand(func(name string) (string, error) { return x.inPath(t, parent, own, name) })
	return path, own, err
}

// inPath returns what {name} stands for in a path.
func (x *session) inPath(t *table, parent []wire.Value, own *part, name string) (string, error) {
	switch v, found, err := x.above(t, parent, own, name); {
	case err != nil:
		return "", err
	case found:
		return segment(v)
	}
	return x.credentialed(name)
}

// fixed returns the parameters that are the same for all pages of an endpoint.
func (x *session) fixed(t *table, parent []wire.Value, own *part) (url.Values, error) {
	params, err := x.expanded(t, parent, own)
	if t.graph != nil {
		params = paramsOf(params, x.variables(t, parent, own))
	}
	if own != nil {
		params = paramsOf(params, own.params)
	}
	return params, err
}

// compareParts warns of rows before the first window, and of values that make no
// difference.
func (x *session) compareParts(ctx context.Context, t *table, parent []wire.Value, warn func(string, ...any)) error {
	if !t.split() {
		return nil
	}
	all, err := x.parts(t, wire.Where{})
	if err != nil {
		return err
	}
	ask := func(own part) *page {
		e, failed := x.endpoint(t, push{part: &own}, parent)
		var p *page
		if failed == nil {
			p, failed = x.page(ctx, e, position{})
		}
		if failed != nil && !rejected(failed) {
			err = failed
		}
		return cmp.Or(p, &page{})
	}
	last, other := all[len(all)-1], all[max(0, len(all)-2)]
	if w := &t.Window; w.Column != "" {
		old, at := *last, t.place(w.Column)
		from, to, _ := w.ends(span{from: w.Since.AddDate(-1, 0, 0), to: w.Since}, t.columns[at].Type)
		old.params = paramsOf(last.params, url.Values{w.From: {from}, w.To: {to}})
		if slices.ContainsFunc(ask(old).rows, func(row []wire.Value) bool {
			read, _ := filter.Instant(row[at])
			return read.Before(w.Since)
		}) {
			warn("Table %q: the API has rows before Window.Since, which are not read.", t.Name)
		}
	}
	if t.Partitions.Param != "" && last.value != other.value { // a path cannot be ignored
		if a, b := ask(*last), ask(*other); len(a.rows) > 0 && a.sum == b.sum {
			warn("Table %q: the API answers the same rows for two of Partitions.Values; check whether it knows the parameter.",
				t.Name)
		}
	}
	return untested("parts", t, err, warn)
}
