package live

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/ask"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/internal/exam"
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
	// filtersOfCell is how many filters with an operator on a field are worth a question of their own.
	filtersOfCell = 4
	// requestsOfWrongAnswer is what a question takes whose answer is wrong: its table is read again, and it
	// is asked again.
	requestsOfWrongAnswer = 3
)

// filterPlan is what the checks of filters share: the tables whose rows are known, and
// every operator on every field of them.
type filterPlan struct {
	*exam.Grid
	subjects []*exam.Subject
	seed     uint64
	// suspects are questions that were answered wrongly although each of their filters may
	// be understood. They are asked again by the check of several filters.
	suspects []*exam.Question
}

// filterPlan returns the plan of the run. Of tables that were not read whole, it is about the rows that were.
func (p *liveRun) filterPlan() *filterPlan {
	plan := &p.plan
	if plan.Grid != nil && plan.seed == p.Seed {
		return plan
	}
	var subjects []*exam.Subject
	for _, t := range p.tables {
		rows, whole := p.data(t)
		if len(rows.Rows) == 0 {
			continue
		}
		s := exam.NewSubject(exam.InOrder(rows), t)
		if !whole {
			s.Window = p.window()
		}
		subjects = append(subjects, s)
	}
	plan.subjects, plan.seed = subjects, p.Seed
	plan.Grid = exam.New(p.Seed, &p.Document.Declared, subjects).Grid()
	return plan
}

// broken reports whether a question has a filter that was answered wrongly on its own.
func (plan *filterPlan) broken(q *exam.Question) bool {
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
	runner *ask.Runner
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
	runner := &ask.Runner{Run: p.Run, Live: true}
	return &filterRun{filterPlan: plan, live: p, runner: runner, end: maxGridQuestions}
}

// atOnce returns how many questions may be asked at once, 0 when there have been enough.
func (v *filterRun) atOnce() int {
	enough := v.rows >= maxGridRows || len(v.wrong) >= maxBrokenCells
	if enough || v.runner.Ctx.Err() != nil || v.runner.Spent(requestsOfWrongAnswer) {
		return 0
	}
	return min(v.runner.Width(), v.end-v.asked, max(1, v.runner.Allowance()/requestsOfWrongAnswer))
}

// ask asks the questions that next returns until it returns nil, or until there have
// been enough, and returns what the answers come to.
func (v *filterRun) ask(next func() *exam.Question) *check.Finding {
	for {
		var list []*exam.Question
		for range v.atOnce() {
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
func (v *filterRun) answeredWrongly(q *exam.Question, c *ask.Complaint) *check.Finding {
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
func (v *filterRun) eachAlone(q *exam.Question) *check.Finding {
	var alone []*exam.Question
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
func single(q *exam.Question) *wire.Filter {
	filters := slices.Collect(q.Filters())
	if len(filters) != 1 || len(q.Sort) > 0 {
		return nil
	}
	return &filters[0]
}

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
// understand it that the document lists. Every second question is about nulls, as long as there are such. If the budget
// is too small for all that each cell should be asked, most of the others are about several.
func eachCell(paths ...string) func(*liveRun) *check.Finding {
	return func(p *liveRun) *check.Finding {
		routes := slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return !p.Document.Offers(path) })
		v := p.filterRun()
		v.cells = true
		packing := p.Allowance() < filtersOfCell*v.Cells()
		nulls := v.NullsOnRoutes(routes...)
		return v.ask(func() *exam.Question {
			if q := p.askAgain(v.filterPlan, routes); q != nil {
				return q
			}
			if len(nulls) > 0 && v.asked%2 == 0 && v.first == nil {
				q := nulls[0]
				nulls = nulls[1:]
				return q
			}
			return v.Next(packing && v.first == nil, routes...)
		})
	}
}

// askAgain returns a question about a condition that is doubted, or nil.
func (p *liveRun) askAgain(plan *filterPlan, routes []string) *exam.Question {
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
	routes := slices.DeleteFunc([]string{wire.PathQuery, wire.PathQuery, wire.PathCount, wire.PathQuery, wire.PathAggregate},
		func(path string) bool { return !p.Document.Offers(path) })
	combinations, nulls := v.Combinations(v.broken, routes...), v.NullsInGroups(v.broken)
	return v.askUntilWrong(func(yield func(*exam.Question) bool) {
		n := 0
		ask := func(list []*exam.Question) bool {
			return !slices.ContainsFunc(list, func(q *exam.Question) bool { return !yield(q) })
		}
		if !ask(v.suspects) {
			return
		}
		for q := range combinations {
			if !yield(q) {
				return
			}
			if n++; n%4 == 0 { // every fifth is about nulls
				some := nulls[:min(1, len(nulls))]
				if nulls = nulls[len(some):]; !ask(some) {
					return
				}
			}
		}
		ask(nulls)
	})
}

func windowsOverFilters(p *liveRun) *check.Finding {
	v := p.filterRun()
	return v.askUntilWrong(slices.Values(v.FilteredWindows(v.broken)))
}

// askUntilWrong asks questions that are not about single cells, until one is answered wrongly.
func (v *filterRun) askUntilWrong(questions iter.Seq[*exam.Question]) *check.Finding {
	next, stop := iter.Pull(questions)
	defer stop()
	return v.ask(func() *exam.Question {
		if v.first != nil {
			return nil
		}
		q, _ := next()
		return q
	})
}
