package live

import (
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/generate"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Limits of what a check of filters asks, besides the budget of requests: questions,
// rows of tables that are passed over, and cells that are named in a finding.
const (
	maxGridQuestions = 900
	maxGridRows      = 6_000_000
	maxBrokenCells   = 12
	// questionsAfterFailure is how many more questions look for what else is wrong.
	questionsAfterFailure = 150
	// filtersOfCell is how many filters with an operator on a field are worth a question of
	// their own.
	filtersOfCell = 4
	// requestsOfWrongAnswer is what a question takes whose answer is wrong: its table is read again, and it
	// is asked again.
	requestsOfWrongAnswer = 3
)

// filterPlan is what the checks of filters share: the tables whose rows are known, and
// every operator on every field of them.
type filterPlan struct {
	*generate.Grid
	subjects []*generate.Subject
	seed     uint64
	// suspects are questions that were answered wrongly although each of their filters may
	// be understood. They are asked again by the check of several filters.
	suspects []*generate.Question
}

// filterPlan returns the plan of the run. Of tables that were not read whole, it is
// about the rows that were.
func (p *liveRun) filterPlan() *filterPlan {
	plan := &p.plan
	if plan.Grid != nil && plan.seed == p.Seed {
		return plan
	}
	var subjects []*generate.Subject
	for _, t := range p.tables {
		rows, whole := p.data(t)
		if len(rows.Rows) == 0 {
			continue
		}
		s := generate.NewSubject(generate.InOrder(rows), t)
		if !whole {
			s.Window = p.window()
		}
		subjects = append(subjects, s)
	}
	plan.subjects, plan.seed = subjects, p.Seed
	plan.Grid = generate.New(p.Seed, "filters", p.Document, subjects).Grid()
	return plan
}

// whole returns the tables of the plan that were read whole and have several rows.
func (plan *filterPlan) whole() []*generate.Subject {
	return slices.DeleteFunc(slices.Clone(plan.subjects), func(s *generate.Subject) bool { return s.Window > 0 || s.Rows() < 2 })
}

// broken reports whether a question has a filter that was answered wrongly on its own.
func (plan *filterPlan) broken(q *generate.Question) bool {
	for f := range q.Filters() {
		if c := plan.Cell(q.Table.Name, f); c != nil && c.Broken {
			return true
		}
	}
	return false
}

// filterRun asks the questions of one check of filters and collects what is wrong.
type filterRun struct {
	*filterPlan
	live   *liveRun
	runner *generate.Runner
	first  *check.Finding // the first failure
	wrong  []string       // the cells that were answered wrongly
	asked  int
	rows   int  // of the tables asked about
	cells  bool // each filter is judged by itself
	end    int  // no more questions than that
}

func (p *liveRun) filterRun() *filterRun {
	plan := p.filterPlan()
	plan.Restart()
	runner := &generate.Runner{Run: p.Run, Live: true}
	return &filterRun{filterPlan: plan, live: p, runner: runner, end: maxGridQuestions}
}

// room returns how many questions may be asked at once, 0 when there have been enough.
func (v *filterRun) room() int {
	if v.rows >= maxGridRows || len(v.wrong) >= maxBrokenCells || v.runner.Ctx.Err() != nil {
		return 0
	}
	room := min(v.runner.Width(), v.end-v.asked)
	if v.runner.Cases > 0 && !v.runner.Affords(requestsOfWrongAnswer) {
		return 0
	}
	return min(room, max(1, v.runner.Allowance()/requestsOfWrongAnswer))
}

// ask asks the questions that next returns until it returns nil, or until there have
// been enough, and returns what the answers come to.
func (v *filterRun) ask(next func() *generate.Question) *check.Finding {
	for {
		var list []*generate.Question
		for range v.room() {
			q := next()
			if q == nil {
				break
			}
			list = append(list, q)
			v.asked++
			v.rows += q.Rows()
		}
		if len(list) == 0 {
			return v.verdict()
		}
		for i, c := range v.runner.Batch(list) {
			if c == nil || v.broken(list[i]) {
				continue
			}
			if f := v.answeredWrongly(list[i], c); f != nil {
				return f
			}
		}
	}
}

// answeredWrongly records a wrong answer. It returns a finding that ends the check.
func (v *filterRun) answeredWrongly(q *generate.Question, c *generate.Complaint) *check.Finding {
	if !c.Failure() {
		return c.Finding
	}
	c, moved, f := v.runner.Confirm(q, c)
	switch {
	case f != nil:
		return f
	case moved:
		v.live.moved = append(v.live.moved, terms.QuoteName(q.Table.Name))
		return nil
	case c == nil:
		return nil
	case !c.Failure():
		return c.Finding
	}
	if v.cells && single(q) == nil {
		return v.eachAlone(q)
	}
	if v.first == nil {
		q, c = v.runner.Smallest(q, c)
		v.first = c.Finding
		v.end = min(v.end, v.asked+questionsAfterFailure)
	}
	if f := single(q); f != nil {
		v.Cell(q.Table.Name, *f).Broken = true
		v.wrong = append(v.wrong, fmt.Sprintf("%s.%s %s", q.Table.Name, f.Field, f.Op))
	}
	return nil
}

// eachAlone asks for each filter of a question that was answered wrongly. If all of them are
// understood, the question is left to the check of several filters.
func (v *filterRun) eachAlone(q *generate.Question) *check.Finding {
	var alone []*generate.Question
	for f := range q.Filters() {
		alone = append(alone, v.Asking(q.Subject, q.Path, wire.Where{And: []wire.Filter{f}}))
	}
	understood := true
	for i, c := range v.runner.Batch(alone) {
		if c == nil {
			continue
		}
		understood = false
		if f := v.answeredWrongly(alone[i], c); f != nil {
			return f
		}
	}
	if understood {
		v.suspects = append(v.suspects, q)
	}
	return nil
}

// single returns the only filter of a question, or nil.
func single(q *generate.Question) *wire.Filter {
	filters := slices.Collect(q.Filters())
	if len(filters) != 1 || len(q.Sort) > 0 {
		return nil
	}
	return &filters[0]
}

// verdict returns what the answers come to.
func (v *filterRun) verdict() *check.Finding {
	beside := v.runner.Beside()
	if v.first == nil {
		return beside
	}
	f := *v.first
	f.Failed = len(v.wrong)
	if len(v.wrong) > 1 {
		f.Detail += fmt.Sprintf("; also wrong: %s", strings.Join(v.wrong[1:], ", "))
	}
	return &f
}

// eachCell returns the judge of every declared operator on every field, each alone, as those of some routes
// understand it that the document lists. Every second question is one that chance does not choose, as long
// as there are some. If the budget is too small for all that each should be asked, two of three questions
// are about several.
func eachCell(paths ...string) func(*liveRun) *check.Finding {
	return func(p *liveRun) *check.Finding {
		routes := slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return session.RouteAt(path).Needs(p.Document) != "" })
		v := p.filterRun()
		v.cells = true
		packing := p.Allowance() < filtersOfCell*v.Cells()
		return v.ask(func() (q *generate.Question) {
			if q := p.askAgain(v.filterPlan, routes); q != nil {
				return q
			}
			if v.Untouched() || v.asked%2 == 0 {
				q = v.Probe(routes...)
			}
			if q == nil && packing && v.first == nil && (v.Untouched() || v.asked%3 > 0) {
				q = v.Pack(routes...)
			}
			if q == nil {
				q = v.Next(routes...)
			}
			return q
		})
	}
}

// askAgain returns a question about a condition that is doubted, or nil.
func (p *liveRun) askAgain(plan *filterPlan, routes []string) *generate.Question {
	for len(p.doubted) > 0 && slices.Contains(routes, wire.PathQuery) {
		d := p.doubted[0]
		p.doubted = p.doubted[1:]
		for _, s := range plan.subjects {
			if s.Table.Name == d.table {
				return plan.Asking(s, wire.PathQuery, wire.Where{And: []wire.Filter{d.filter}})
			}
		}
	}
	return nil
}

// filtersCombine judges several filters in one request, of which each matters.
func filtersCombine(p *liveRun) *check.Finding {
	v := p.filterRun()
	list := append(v.suspects, v.Combinations(v.broken)...)
	for i, q := range list {
		if p.Document.Has(wire.EndpointCount) && i%4 == 3 && q.Window == 0 {
			q.Path, q.Fields = wire.PathCount, nil
		}
	}
	return v.askList(list)
}

// windowsOverFilters judges sorts and windows over filters.
func windowsOverFilters(p *liveRun) *check.Finding {
	v := p.filterRun()
	return v.askList(v.FilteredWindows(v.broken))
}

// askList asks questions that are not about single cells, until one is answered
// wrongly.
func (v *filterRun) askList(list []*generate.Question) *check.Finding {
	return v.ask(func() (q *generate.Question) {
		if len(list) > 0 && v.first == nil {
			q, list = list[0], list[1:]
		}
		return q
	})
}
