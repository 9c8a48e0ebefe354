package live

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/compare"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/internal/exam"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Most checks compare answers with the rows of a whole read, so the whole read comes first: it is compared with every
// other way to read or to count the same table. Where it is the odd one out, [wholeReadsComplete] fails, and the table
// is kept from the other checks. Where another way is, [readsAgree] fails.

// agreement is what came of comparing whole reads with other reads. It is made once, for both checks.
type agreement struct {
	made         bool
	whole, other map[string]*check.Finding // by table: what is wrong with its whole read, or with another
	order        []*wire.Table
	cases        int
	moved        []string
}

// first returns the finding about the first of the tables that have one.
func (a *agreement) first(found map[string]*check.Finding) *check.Finding {
	for _, t := range a.order {
		if f := found[t.Name]; f != nil {
			f.Failed = len(found)
			return f
		}
	}
	return nil
}

// wholeReadsComplete judges that a whole read answers all rows of a table.
func wholeReadsComplete(p *liveRun) *check.Finding {
	a := p.agreement()
	return a.first(a.whole)
}

// readsAgree judges that windows and sorted reads have the rows of a whole read.
func readsAgree(p *liveRun) *check.Finding {
	a := p.agreement()
	return a.first(a.other)
}

// way is another way to learn which rows a table has. Its judge returns what disagrees
// with the whole read, and whether the whole read is to blame.
type way struct {
	requests int
	judge    func(p *liveRun, t *wire.Table, whole *oracle.Table) (f *check.Finding, lost bool)
}

// ways lists the ways, those first that show most for the fewest requests.
func ways() []way {
	return []way{
		{1, readWith(func(n int) (int, int) { return 100, n })}, // the page behind the last row
		{3, (*liveRun).numbersOutvote},
		{1, (*liveRun).readSorted},
		{1, readWith(func(n int) (int, int) { return n + 1, 0 })},
		{1, readWith(func(n int) (int, int) { return n/2 + 1, n / 2 })},
		{1, readWith(func(n int) (int, int) { return 1000, 0 })},
		{2, (*liveRun).readRanges},
		{1, readWith(func(n int) (int, int) { return 100, n / 3 })},
		{1, readWith(func(n int) (int, int) { return 7, max(0, n-5) })},
		{1, readWith(func(n int) (int, int) { return n, 0 })},
	}
}

// agreement compares the whole reads, large tables first: they are cut more often.
func (p *liveRun) agreement() *agreement {
	a := &p.reads
	defer func() { p.Cases, p.moved = a.cases, a.moved }()
	if a.made {
		return a
	}
	a.made, a.whole, a.other = true, map[string]*check.Finding{}, map[string]*check.Finding{}
	tables := p.held(0)
	slices.SortStableFunc(tables, func(x, y *wire.Table) int {
		return cmp.Compare(len(p.Snapshot(y).Rows), len(p.Snapshot(x).Rows))
	})
	for compare := range exam.InTurn(tables, func(t *wire.Table) (list []func()) {
		for _, w := range ways() {
			list = append(list, func() { p.compareReads(a, t, w) })
		}
		return list
	}) {
		compare()
	}
	a.order, a.cases, a.moved = tables, p.Cases, p.moved
	return a
}

// compareReads judges one table by one way, if the check may ask for it.
func (p *liveRun) compareReads(a *agreement, t *wire.Table, w way) {
	if !p.mayRead(w.requests) || p.Snapshot(t).Broken() != nil {
		return
	}
	lost := false
	f := p.unmoved(func() (f *check.Finding) {
		whole, f := p.Table(t)
		if f != nil || whole == nil {
			return f
		}
		f, lost = w.judge(p, t, whole)
		return f
	}, t)
	switch {
	case !f.Failure():
		// It agrees, or another check reports why it cannot be read.
	case lost:
		a.whole[t.Name] = f.From(p.Last)
		delete(a.other, t.Name) // a consequence
		p.Lost[t.Name] = check.Block("L11", "table %s cannot be compared with its rows: %s", terms.QuoteName(t.Name), f.Detail)
	default:
		a.other[t.Name] = cmp.Or(a.other[t.Name], f.From(p.Last))
	}
}

// readWith returns the way that asks for a window, which depends on the number of rows. Without a sort the window may
// hold any rows of the table, but as many as there are for it.
func readWith(
	window func(rows int) (limit, offset int),
) func(*liveRun, *wire.Table, *oracle.Table) (*check.Finding, bool) {
	return func(p *liveRun, t *wire.Table, whole *oracle.Table) (*check.Finding, bool) {
		limit, offset := window(len(whole.Rows))
		limit = p.page(limit)
		req := declared.AllRows(t)
		req.Limit, req.Offset = int64(limit), int64(offset)
		if limit < 1 || !p.Document.Allows(req) {
			return nil, false
		}
		what := fmt.Sprintf("limit %d and offset %d", limit, offset)
		return p.readAs(t, whole, req, what, max(0, min(limit, len(whole.Rows)-offset)))
	}
}

func (p *liveRun) readSorted(t *wire.Table, whole *oracle.Table) (*check.Finding, bool) {
	by := p.dividing(t, whole)
	if by < 0 || p.Document.SortKeys() == 0 {
		return nil, false
	}
	req := declared.AllRows(t)
	req.Sort = []wire.SortKey{{Field: t.Fields[by].Name, Dir: wire.Desc}}
	return p.readAs(t, whole, req, "sort by "+describeSort(req.Sort), len(whole.Rows))
}

// readRanges asks for the rows below a value, and for those from it on. Whether they are the right ones is for the
// checks about filters, which ask again: here they count only if the whole read lacks one.
func (p *liveRun) readRanges(t *wire.Table, whole *oracle.Table) (*check.Finding, bool) {
	field, values := p.ascending(t, whole)
	if len(values) == 0 {
		return nil, false
	}
	value := values[len(values)/2]
	for _, op := range []wire.Op{wire.OpLt, wire.OpGte, wire.OpLte, wire.OpGt} {
		if value.IsNull() || !p.Document.Declares(op) || !p.mayRead(1) {
			continue
		}
		req := rowsWith(t, and(filterOf(field, op, value)))
		_, rows, f := p.ask(t, req)
		if f != nil || rows == nil {
			return nil, false // another check reports it
		}
		p.Cases++
		if unknown := p.unknownRow(whole, rows.Rows); unknown >= 0 {
			return lacks(t, rows, unknown, fmt.Sprintf("the rows with %s %s", terms.QuoteName(field), op), len(whole.Rows)), true
		}
		if compare.Leniently.Rows(oracle.Tables{t.Name: whole}, req, rows.Rows) != nil {
			p.doubted = append(p.doubted, doubt{t.Name, req.And[0]})
		}
	}
	return nil, false
}

// ascending returns the column that [liveRun.dividing] chooses, if filters may name it, and its cells, least first.
func (p *liveRun) ascending(t *wire.Table, data *oracle.Table) (field string, cells []wire.Value) {
	by := p.dividing(t, data)
	if by < 0 || !terms.Allowed(t.Fields[by].Filterable) {
		return "", nil
	}
	field = t.Fields[by].Name
	sorted, err := oracle.Sort(data, []wire.SortKey{{Field: field, Dir: wire.Asc}}, nil)
	if err != nil {
		return "", nil
	}
	for _, row := range sorted.Rows {
		cells = append(cells, row[by])
	}
	return field, cells
}

// dividing returns the index of a column whose values differ and are ordered alike by
// all readings, a key if there is one; otherwise -1.
func (p *liveRun) dividing(t *wire.Table, data *oracle.Table) int {
	best, points := -1, 0
	for i, f := range t.Fields {
		if terms.IsDocument(f.Type) || f.Type == wire.TypeBoolean || !exam.OrderSettled(data, i) ||
			oracle.Unsettled(data, []wire.SortKey{{Field: f.Name, Dir: wire.Desc}}, nil) != "" {
			continue
		}
		score := 0
		switch counts, err := oracle.Cardinality(data, f.Name); {
		case err != nil, counts.Distinct < 2:
		case f.Unique, slices.Equal(t.PrimaryKey, []string{f.Name}):
			score = 3
		case counts.NonNull == int64(len(data.Rows)):
			score = 2
		default:
			score = 1
		}
		if score > points {
			best, points = i, score
		}
	}
	return best
}

// readAs asks for rows in another way and compares them with the whole read, of which it must answer n.
func (p *liveRun) readAs(
	t *wire.Table, whole *oracle.Table, req *wire.QueryRequest, how string, n int,
) (*check.Finding, bool) {
	_, rows, f := p.ask(t, req)
	if f != nil || rows == nil {
		return f, false
	}
	p.Cases++
	p.Covered.AddRequest(req)
	unknown := p.unknownRow(whole, rows.Rows)
	if unknown >= 0 && (n == 0 || p.knowsOne(whole, rows.Rows)) {
		return lacks(t, rows, unknown, "a read with "+how, len(whole.Rows)), true
	}
	what := fmt.Sprintf("%s: a read with %s", ofTable(t), how)
	switch {
	case len(rows.Rows) != n:
		return check.Differs(fmt.Sprintf("%d of the %d rows that a whole read answers", n, len(whole.Rows)),
			fmt.Sprintf("%d rows", len(rows.Rows)), "%s has another number of rows", what), false
	case unknown >= 0:
		return check.Differs("rows that a whole read answers", message.Row(rows.Columns, rows.Rows[unknown]),
			"%s has none of its rows", what), false
	}
	if again := p.additional(whole, rows); again >= 0 && (n < len(whole.Rows) || !compare.SameRows(whole, rows)) {
		return check.Differs("each row as often as a whole read answers it", message.Row(rows.Columns, rows.Rows[again]),
			"%s repeats row %d", what, again), false
	}
	return nil, false
}

func lacks(t *wire.Table, rows *oracle.Table, at int, how string, n int) *check.Finding {
	return check.Differs("all rows of the table, among them "+message.Row(rows.Columns, rows.Rows[at]),
		fmt.Sprintf("%d rows without it", n),
		"%s: a whole read loses rows: it answers %d rows, and %s has one that is not among them", ofTable(t), n, how)
}

// maxUnknown is how many rows that are spelled like no known one are compared with all known rows.
const maxUnknown = 20

// unknownRow returns the index of a row that a whole read has not answered, or -1.
func (p *liveRun) unknownRow(whole *oracle.Table, rows [][]wire.Value) int {
	p.compared += len(whole.Rows)
	return compare.Missing(whole.Columns, rows, whole.Rows, maxUnknown)
}

// additional returns the index of a row of some that is not in all, or is there less often; otherwise -1.
func (p *liveRun) additional(all, some *oracle.Table) int {
	p.compared += len(all.Rows)
	known := compare.Tally(all.Rows)
	seen := make(map[string]int, len(some.Rows))
	for i, row := range some.Rows {
		key := compare.RowKey(row)
		if seen[key]++; known[key] > 0 && seen[key] > known[key] {
			return i
		}
	}
	return p.unknownRow(all, some.Rows)
}

// knowsOne reports whether one of the rows is in a whole read.
func (p *liveRun) knowsOne(whole *oracle.Table, rows [][]wire.Value) bool {
	known := compare.Tally(whole.Rows)
	return slices.ContainsFunc(rows, func(row []wire.Value) bool { return known[compare.RowKey(row)] > 0 })
}

// numbersOutvote compares the number of rows with the exact size, the count and the aggregate's count. Two of them that
// agree outvote the whole read, if no other has its number. A single one that differs has a check of its own.
func (p *liveRun) numbersOutvote(t *wire.Table, whole *oracle.Table) (*check.Finding, bool) {
	votes := p.rowCounts(t)
	rows := int64(len(whole.Rows))
	if len(votes) > 0 {
		p.Cases++
	}
	for n, voters := range votes {
		// Rows that were answered once each exist, whatever is counted.
		if n == rows || len(voters) < 2 || len(votes[rows]) > 0 || n < rows && !repeats(t, whole) {
			continue
		}
		problem := "loses rows"
		if n < rows {
			problem = "repeats rows"
		}
		req := declared.AllRows(t)
		f := check.Differs(fmt.Sprintf("%d rows, as %s say", n, strings.Join(voters, " and ")), fmt.Sprintf("%d rows", rows),
			"%s: a whole read %s", ofTable(t), problem)
		return f.From(p.Shown(p.Ask(wire.PathQuery, req, 0))), true
	}
	return nil, false
}

// rowCounts returns the numbers of rows that routes state of a table exactly, each with these routes.
func (p *liveRun) rowCounts(t *wire.Table) map[int64][]string {
	stated := map[int64][]string{}
	for _, q := range []struct {
		path string
		m    wire.Request
	}{
		{wire.PathSize, &wire.SizeRequest{Table: t.Name}},
		{wire.PathCount, &wire.CountRequest{Table: t.Name}},
		{wire.PathAggregate, aggregate(t, nil, countOfRows)},
	} {
		if !p.Document.Offers(q.path) {
			continue
		}
		answer, f := p.post(q.path, q.m).Decode()
		if f != nil {
			continue // another check reports it
		}
		n := int64(-1)
		switch answer := answer.(type) {
		case *wire.SizeAnswer:
			if answer.Size != nil && answer.Size.Exact {
				n = answer.Size.Rows
			}
		case *wire.CountAnswer:
			n = answer.Count
		case *wire.AggregateAnswer:
			if len(answer.Rows) != 1 {
				continue
			}
			var err error
			if n, err = strconv.ParseInt(answer.Rows[0][countAlias].String(), 10, 64); err != nil {
				continue
			}
		}
		if n >= 0 {
			stated[n] = append(stated[n], q.path)
		}
	}
	return stated
}

// repeats reports whether a table's rows are not distinct by its primary key or, if it has none, in all cells.
func repeats(t *wire.Table, data *oracle.Table) bool {
	rows := data.Rows
	if key := compare.Project(data, t.PrimaryKey); len(t.PrimaryKey) > 0 && key != nil {
		rows = key
	}
	return len(compare.Tally(rows)) < len(rows)
}
