package live

import (
	"cmp"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/compare"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/defaults"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/exam"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// What one check may cost besides its share of the requests: live data belongs to somebody, and may be large.
const (
	maxRequests = 200
	fewTables   = 8 // are read whatever the budget is
	maxBudgets  = 4 // rows read and compared, as a multiple of the row budget
)

// liveRun asks the requests of one check, within what a check may cost.
type liveRun struct {
	*session.Run
	*memory
	discovery   *session.Discovery
	tables      []*wire.Table // that can be read, the most useful first
	requests    int
	declined    int      // answers in a row that decline, as long as nothing was judged
	compared    int      // rows read and compared
	moved       []string // the tables that changed while they were judged
	onNulls     *exam.OnNulls
	filtered    int                        // joins that were asked for with filters
	keysOfJoins map[*oracle.Table][]string // by which joins are grouped, by the table that they lead to
	overNulls   int                        // tables from which a join over columns with nulls begins
}

// memory is what the checks of a run learn for each other.
type memory struct {
	plan      filterPlan
	reads     agreement
	linksFrom map[string][]link // by the table that they begin at
	sorted    map[judgedSort]bool
	doubted   []doubt // the check of single filters asks for them first

	unmeasured map[tableMeasure]bool // the measures that were declined alone
	declared   bool                  // what there is to ask was noted
	counted    bool                  // values were counted, or grouped
}

// doubt is a condition whose answer was wrong where something else was judged.
type doubt struct {
	table  string
	filter wire.Filter
}

// within returns the judge of a check that is about the tables which discovery lists.
func (m *memory) within(judge func(*liveRun) *check.Finding, lacks string) func(*session.Run) *check.Finding {
	return m.judging(func(p *liveRun) (f *check.Finding) {
		if p.discovery, f = p.Discovery(0); f != nil {
			return f
		}
		if p.tables, f = p.readable(); f != nil {
			return f
		}
		p.declare()
		return judge(p)
	}, lacks)
}

// judging returns the judge of a check. It passes when something was judged, and otherwise says what is lacking.
func (m *memory) judging(judge func(*liveRun) *check.Finding, lacks string) func(*session.Run) *check.Finding {
	return func(run *session.Run) *check.Finding {
		p := &liveRun{Run: run, memory: m, keysOfJoins: map[*oracle.Table][]string{}}
		if f := judge(p); f != nil {
			return f
		}
		if len(p.moved) > 0 {
			return check.Skip(check.DataChanged, "table %s changed while it was judged", p.moved[0])
		}
		return p.Judged("%s", lacks)
	}
}

// mayAskWindows reports whether the check may send n more requests for a window
// each. A check that has judged nothing yet may always send them.
func (p *liveRun) mayAskWindows(n int) bool {
	return p.requests+n <= maxRequests && !p.Spent(n)
}

// mayRead reports whether the check may send n more requests for whole tables.
func (p *liveRun) mayRead(n int) bool {
	return p.mayAskWindows(n) && p.compared < max(maxBudgets*p.Rows, maxRequests*defaults.WindowRows)
}

// unmoved judges a part of the check that is about some tables. It repeats the part if they changed meanwhile, and
// skips tables that already changed during this check.
func (p *liveRun) unmoved(part func() *check.Finding, tables ...*wire.Table) *check.Finding {
	for _, t := range tables {
		if slices.Contains(p.moved, terms.QuoteName(t.Name)) {
			return nil
		}
	}
	moved, f := p.RetryIfChanged(part, func() (string, *check.Finding) { return p.readAgain(tables) })
	if moved != "" {
		p.moved = append(p.moved, moved)
	}
	return f
}

// readAgain reads tables anew and names the first that has changed.
func (p *liveRun) readAgain(tables []*wire.Table) (moved string, f *check.Finding) {
	for _, t := range tables {
		held := p.Snapshot(t)
		now, changed, f := p.ReadAgain(t, cmp.Or(held.Table, held.Window), held.Table == nil)
		if f != nil {
			return "", f
		}
		if now != nil {
			p.compared += len(now.Rows)
		}
		if changed && moved == "" {
			moved = terms.QuoteName(t.Name)
		}
	}
	return moved, nil
}

// readingShare is the part of the budget of requests that may be spent on reading tables.
const readingShare = 8

// readable returns the tables that live checks use, most useful and cheapest first:
// with keys, with many types, small. It leaves out tables that cannot be read,
// which another check reports, and those for whose reading the budget is too small.
func (p *liveRun) readable() (list []*wire.Table, f *check.Finding) {
	all := p.discovery.Readable()
	score := func(t *wire.Table) int {
		types := map[wire.Type]bool{}
		for _, f := range t.Fields {
			types[f.Type] = true
		}
		points := 2*len(types) + 2*min(len(t.ForeignKeys), 2)
		if len(t.PrimaryKey) > 0 {
			points += 4
		}
		if t.RowCount != nil && *t.RowCount > int64(p.Rows)/10 {
			points -= 8
		}
		return points
	}
	slices.SortStableFunc(all, func(a, b *wire.Table) int { return cmp.Compare(score(b), score(a)) })
	most := len(all)
	if p.Requests > 0 {
		most = max(fewTables, p.Requests/readingShare)
	}
	var broken *check.Finding
	for _, t := range all {
		if len(t.Fields) == 0 {
			continue
		}
		if most--; most < 0 {
			break
		}
		if f := p.Snapshot(t).Broken(); f != nil {
			broken = cmp.Or(broken, f)
			continue
		}
		list = append(list, t)
	}
	if len(list) == 0 {
		return nil, broken
	}
	return list, nil
}

// held returns those of the tables that were read whole and have at least so many rows.
func (p *liveRun) held(least int) (list []*wire.Table) {
	for _, t := range p.tables {
		if data := p.Snapshot(t).Table; data != nil && len(data.Rows) >= least {
			list = append(list, t)
		}
	}
	return list
}

// data returns a table's rows: all or, if it is too large, some. It returns none if they cannot be read
// any more, which [liveRun.rowsOf] reports.
func (p *liveRun) data(t *wire.Table) (rows *oracle.Table, whole bool) {
	if all := p.Snapshot(t).Table; all != nil {
		return all, true
	}
	if rows, f := p.Window(t); f == nil && rows != nil {
		return rows, false
	}
	return declared.Shape(t), false
}

// post sends a request to a route that measures, and counts it.
func (p *liveRun) post(path string, m wire.Request) *session.Answer {
	p.requests++
	return p.Post(path, m)
}

// ask sends a query that must be answered, and returns what the platform makes of the answer: it does what is not
// served. The rows are nil if there are more than are read.
func (p *liveRun) ask(t *wire.Table, req *wire.QueryRequest) (*session.Stream, *oracle.Table, *check.Finding) {
	st, rows, f := p.read(t, req, p.Rows)
	if f != nil || st.Over {
		return st, nil, f
	}
	unanswered := func(k wire.SortKey) bool { return !slices.Contains(req.Fields, k.Field) }
	if !st.Served.Sort && slices.ContainsFunc(req.Sort, unanswered) {
		return st, nil, nil // nobody can sort by what is not answered
	}
	final, err := oracle.Finish(rows, req, st.Served)
	if err != nil {
		return st, nil, check.Fail("the rows cannot be finished: %v", err)
	}
	return st, final, nil
}

// read sends a query that must be answered, and returns at most so many rows of the answer as they came,
// under the types that discovery declares.
func (p *liveRun) read(t *wire.Table, req *wire.QueryRequest, most int) (*session.Stream, *oracle.Table, *check.Finding) {
	p.requests++
	p.Covered.AddFilters(declared.Shape(t), req.Where)
	call := p.Ask(wire.PathQuery, req, 0)
	call.Most = most
	st := p.Exchange(call).Stream
	if f := st.Problem(); f != nil {
		return st, nil, f
	}
	p.compared += len(st.Table.Rows)
	rows := compare.Typed(req, st.Table.Rows, func(_ string, f wire.JoinField) wire.Type {
		if field := t.Field(f.Field); f.As == "" && field != nil {
			return field.Type
		}
		return f.Type
	})
	rows.PrimaryKey = t.PrimaryKey
	return st, rows, nil
}

// window returns how many rows of a large table are asked for.
func (p *liveRun) window() int64 { return int64(p.page(defaults.WindowRows)) }

// page returns a number of rows, or as many of them as the document allows on a page.
func (p *liveRun) page(rows int) int {
	n, _ := p.Document.Window(int64(rows), 0)
	return int(n)
}
