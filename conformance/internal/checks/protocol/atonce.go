package protocol

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/compare"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// How many rows a table may have that is read beside others, and one that is asked about while its rows are streamed.
const (
	maxAtOnceRows = 2_000
	maxHeldRows   = 20_000
)

// largerFirst returns the tables of at most maxHeldRows rows: the larger ones first, which take more
// than one page of an upstream, and then those of unknown size.
func largerFirst(smallestFirst []*wire.Table) (list []*wire.Table) {
	for _, t := range slices.Backward(smallestFirst) {
		if t.RowCount != nil && 0 < *t.RowCount && *t.RowCount <= maxHeldRows && len(t.Fields) > 0 {
			list = append(list, t)
		}
	}
	for _, t := range smallestFirst {
		if t.RowCount == nil && len(t.Fields) > 0 {
			list = append(list, t)
		}
	}
	return list
}

// concurrencyHolds reads as many tables at once as the document allows, and compares
// them with what was read of them alone. Then it asks different things about the largest table, whose answers are
// under way together, and at last for as many pages of a table at once.
func concurrencyHolds(run *session.Run) *check.Finding {
	if _, f := run.Discovery(0); f != nil {
		return f
	}
	most := min(int(run.Document.Capabilities.Limits.Concurrency), max(2, run.Allowance()))
	var held, tables []beside
	for _, t := range largerFirst(run.SmallestFirst()) {
		small := t.RowCount == nil || *t.RowCount <= maxAtOnceRows
		if len(held) > 0 && (!small || len(tables) == most) {
			continue
		}
		b, f := wholeRead(run, t)
		if f != nil {
			return f
		}
		if b == nil {
			continue
		}
		if len(held) == 0 {
			held = meanwhile(run, *b)
		}
		if len(b.alone.Rows) <= maxAtOnceRows {
			tables = append(tables, *b)
		}
	}
	if len(held) == 0 {
		return check.Skip(check.NoData, "no table of at most %d rows", maxHeldRows)
	}
	var whole []beside
	for i := range most * min(len(tables), 1) {
		whole = append(whole, tables[i%len(tables)])
	}
	if f := sameAtOnce(run, whole, "beside other requests"); f != nil {
		return f
	}
	if f := sameMeanwhile(run, held, most); f != nil {
		return f
	}
	for _, b := range tables {
		if rows := len(b.alone.Rows); len(b.table.PrimaryKey) == 1 && rows >= most && !run.Spent(1) {
			return sameAtOnce(run, pagesOf(run, b.table, rows, most), "beside its other pages")
		}
	}
	return nil
}

// beside is one of several requests at once, and the rows that it is answered alone.
type beside struct {
	what  string
	table *wire.Table
	req   *wire.QueryRequest
	alone *oracle.Table
}

// wholeRead returns the read of a table whose rows are held, or nil if none are.
func wholeRead(run *session.Run, t *wire.Table) (*beside, *check.Finding) {
	rows, f := run.Table(t)
	if f != nil || rows == nil || len(rows.Rows) == 0 {
		return nil, f
	}
	return &beside{"table " + terms.QuoteName(t.Name), t, declared.AllRows(t), rows}, nil
}

// pagesOf asks for the pages of a table, one after the other. It returns none if the connector serves no such pages.
func pagesOf(run *session.Run, t *wire.Table, rows, most int) (pages []beside) {
	if declared.Needs("sort")(run.Document) != "" || !run.Document.Capabilities.Offset {
		return nil
	}
	for i := range most {
		page := declared.AllRows(t)
		page.Sort = []wire.SortKey{{Field: t.PrimaryKey[0], Dir: wire.Asc}}
		page.Limit, page.Offset = int64(rows/most), int64(i*(rows/most))
		st := run.Post(wire.PathQuery, page).Stream
		if st.Problem() != nil || !st.Served.Window {
			return nil // for the checks of pages
		}
		st.Table.Columns = t.Columns()
		what := fmt.Sprintf("the page of table %s at offset %d", terms.QuoteName(t.Name), page.Offset)
		pages = append(pages, beside{what, t, page, st.Table})
	}
	return pages
}

// sameAtOnce sends requests at once, and compares the rows with those that each has alone.
func sameAtOnce(run *session.Run, list []beside, when string) *check.Finding {
	streams := make([]*session.Stream, len(list))
	check.AtOnce(len(list), func(i int) { streams[i] = list[i].ask(run, nil) })
	return judgeBeside(run, list, streams, when)
}

// ask sends the request; began may be called after the first rows.
func (b *beside) ask(run *session.Run, began func()) *session.Stream {
	c := run.Ask(wire.PathQuery, b.req, 0)
	c.Began = began
	return run.ExchangeWith(run.Ctx, c).Stream
}

// judgeBeside compares the rows of streams, of those that there are, with what each request has alone.
func judgeBeside(run *session.Run, list []beside, streams []*session.Stream, when string) *check.Finding {
	for i, st := range streams {
		if st == nil {
			continue
		}
		run.Cases++
		run.Last = st.Request
		b := list[i]
		if st.Problem() == nil && b.has(st) {
			continue
		}
		if f := b.steady(run); f != nil {
			return f
		}
		return b.otherRows(st, "has alone", when)
	}
	return nil
}

// otherRows returns the finding about a stream without the rows that the request has, as said, in other circumstances.
func (b *beside) otherRows(st *session.Stream, has, when string) *check.Finding {
	if f := st.Problem(); f != nil {
		return f.In("%s, %s: %s", b.what, when).From(st.Request)
	}
	return check.Differs(fmt.Sprintf("the %d rows that it %s", len(b.alone.Rows), has), fmt.Sprintf("%d other rows", len(st.Table.Rows)),
		"%s has other rows %s", b.what, when).From(st.Request)
}

// finished returns the rows of a stream after the platform has done what was not served, or nil if it cannot.
func (b *beside) finished(st *session.Stream) *oracle.Table {
	rows := compare.Typed(b.req, st.Table.Rows, func(_ string, f wire.JoinField) wire.Type { return b.table.Field(f.Field).Type })
	final, err := oracle.Finish(rows, b.req, st.Served)
	if err != nil {
		return nil
	}
	return final
}

// has reports whether a stream has the rows that the request has alone.
func (b *beside) has(st *session.Stream) bool {
	rows := b.finished(st)
	return rows != nil && compare.SameRows(b.alone, rows)
}

// steady asks a request alone a few times. It returns why what it is answered beside others cannot
// be judged: the table has changed, or its answers vary without them.
func (b *beside) steady(run *session.Run) *check.Finding {
	name, same := terms.QuoteName(b.table.Name), 0
	var last *oracle.Table
	const times = 3
	for range times {
		st := run.Post(wire.PathQuery, b.req).Stream
		if f := st.Problem(); f != nil {
			return f
		}
		rows := b.finished(st)
		if rows == nil {
			continue
		}
		if compare.SameRows(b.alone, rows) {
			same++
		}
		if last != nil && b.req.Limit == 0 && !compare.SameRows(last, rows) {
			return check.Block("L11", "table %s is answered with %d rows and then, asked alone again, with other %d",
				name, len(last.Rows), len(rows.Rows))
		}
		last = rows
	}
	if same < times {
		return check.Skip(check.DataChanged, "table %s", name)
	}
	return nil
}

// maxHeld is how long an answer is not read on at most: a connector may let other requests wait for its end.
const maxHeld = time.Second

// sameMeanwhile asks several things about a table whose answers are under way together, and compares the rows of each
// with those that it has alone. A connector that keeps the filters, the window or the columns of a request where
// others find them answers one of them wrongly.
func sameMeanwhile(run *session.Run, list []beside, most int) *check.Finding {
	if len(list) < 2 {
		return nil // the table leaves nothing else to ask
	}
	for round, first := range []int{0, 1, 0, 2, 0, 3} {
		if run.Spent(1) {
			break
		}
		first %= len(list)
		others := slices.Concat(list[:first], list[first+1:])
		by := round * (most - 1) % len(others)
		some := slices.Concat(list[first:first+1], others[by:], others[:by])
		some = some[:min(len(some), most)]
		if f := judgeBeside(run, some, hold(run, some), "beside other requests about it"); f != nil {
			return f
		}
	}
	return nil
}

// hold asks the first request and, once its first rows have come, the others at once. It reads the first answer on when
// the first rows of all have come, and those of the others when the first answer is complete.
func hold(run *session.Run, list []beside) []*session.Stream {
	streams := make([]*session.Stream, len(list))
	var waiting sync.WaitGroup
	waiting.Add(len(list))
	first, all, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		waiting.Wait()
		close(all)
	}()
	check.AtOnce(len(list), func(i int) {
		until := ended
		begin := sync.OnceFunc(waiting.Done)
		if i == 0 {
			until = all
			begin = sync.OnceFunc(func() {
				close(first)
				waiting.Done()
			})
			defer close(ended)
		} else {
			<-first
		}
		defer begin() // an answer may have no rows
		streams[i] = list[i].ask(run, func() {
			begin()
			select {
			case <-until:
			case <-time.After(maxHeld):
			}
		})
	})
	return streams
}

// meanwhile returns requests about a table that differ in what a connector may keep of them, each with what it is answered
// alone: the given one for all rows, two for some of them, for fewer columns, and for a page. It leaves out what cannot be asked.
func meanwhile(run *session.Run, whole beside) []beside {
	t, list := whole.table, []beside{whole}
	add := func(what string, change func(req *wire.QueryRequest)) {
		req := declared.AllRows(t)
		change(req)
		if !run.Document.Allows(req) {
			return
		}
		b := beside{what: what + " of table " + terms.QuoteName(t.Name), table: t, req: req}
		if st := b.ask(run, nil); st.Problem() == nil { // others are for other checks
			b.alone = b.finished(st)
		}
		if b.alone != nil {
			list = append(list, b)
		}
	}
	for _, filter := range twoFilters(run, t, whole.alone) {
		add("a filtered read", func(req *wire.QueryRequest) { req.And = []wire.Filter{filter} })
	}
	if n := len(t.Fields); n > 1 {
		add("a read of some columns", func(req *wire.QueryRequest) { req.Fields = req.Fields[:n/2] })
	}
	if len(t.PrimaryKey) == 1 {
		add("a page", func(req *wire.QueryRequest) {
			req.Sort = []wire.SortKey{{Field: t.PrimaryKey[0], Dir: wire.Desc}}
			req.Limit = int64(len(whole.alone.Rows)/3 + 1)
		})
	}
	return list
}

// twoFilters returns two filters on columns of a table that keep about half of its rows, as far as there are such. What
// they keep exactly does not matter: their answers are compared with each other.
func twoFilters(run *session.Run, t *wire.Table, all *oracle.Table) (filters []wire.Filter) {
	const sampled = 300
	rows := all.Rows[:min(len(all.Rows), sampled)]
	off := map[*wire.Filter]int{} // how far from half
	var list []*wire.Filter
	for at, field := range t.Fields {
		if !terms.Allowed(field.Filterable) || terms.IsDocument(field.Type) {
			continue
		}
		for _, op := range []wire.Op{wire.OpNeq, wire.OpGte, wire.OpLte, wire.OpEq} {
			for _, row := range []int{0, len(rows) / 2} {
				f := &wire.Filter{Field: field.Name, Op: op, Value: all.Rows[row][at]}
				if !run.Document.Declares(op) || f.Value.IsNull() {
					continue
				}
				kept, matches := 0, oracle.Reading{}.Matcher(*f, field.Type)
				for _, row := range rows {
					if matches(row[at]) {
						kept++
					}
				}
				if 0 < kept && kept < len(rows) {
					off[f] = max(2*kept-len(rows), len(rows)-2*kept)
					list = append(list, f)
				}
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *wire.Filter) int { return cmp.Compare(off[a], off[b]) })
	for _, f := range list[:min(len(list), 2)] {
		filters = append(filters, *f)
	}
	return filters
}
