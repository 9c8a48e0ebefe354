package sqlsourcetest

import (
	"slices"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/internal/exam"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// question is a generated request: one of package exam, or a link.
type question struct {
	*exam.Question
	link  *wire.LinkHitRateRequest
	paged bool // the answer is put together from pages
	tells bool // the filters keep some rows and drop others
}

// message returns the request of the question.
func (q question) message() wire.Request {
	if q.link != nil {
		return q.link
	}
	return q.Message()
}

// questions are what a test asks: the same for the same rows and seed, however many askers take turns.
type questions struct {
	f    *fixture
	mu   sync.Mutex
	seed uint64 // of the next round
	made []question
}

// at returns the question at an index. There is always one more.
func (p *questions) at(i int) question {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.made) <= i {
		p.made = append(p.made, p.f.round(p.seed)...)
		p.seed++
	}
	return p.made[i]
}

// declared is what every flavor can be asked for: the library does what an engine cannot.
var declared = exam.Declared{Document: wire.Document{Capabilities: wire.Capabilities{
	Operators: terms.Operators[wire.Op](), Sort: wire.SortMulti, Offset: true, Join: true, DateBucket: true,
}}}

// otherwise is one of how many questions is asked in another way: filters for a count, a window as all pages.
const otherwise = 4

// gridQuestions is how many questions of a round are about one operator on one column, or few of them, with the
// operands that tell most. To plan them takes longer than to plan the others.
const gridQuestions = 200

// round returns the questions that a seed makes, of all kinds by turns.
func (f *fixture) round(seed uint64) []question {
	var subjects []*exam.Subject
	for _, name := range f.names {
		subjects = append(subjects, exam.NewStrictSubject(f.known[name]))
	}
	g := exam.New(seed, &declared, subjects)
	var kinds [][]question
	add := func(list []*exam.Question, change func(i int, q *question)) {
		kind := make([]question, len(list))
		for i := range list {
			kind[i] = question{Question: list[i]}
			change(i, &kind[i])
			kind[i].tells = kind[i].Tells()
		}
		kinds = append(kinds, kind)
	}
	asIs := func(int, *question) {}
	grid, singles := g.Grid(), []*exam.Question{}
	for range gridQuestions {
		if q := grid.Next(true, wire.PathQuery, wire.PathCount); q != nil {
			singles = append(singles, q)
		}
	}
	add(singles, asIs)
	add(g.Packed(), func(i int, q *question) {
		if i%otherwise == 0 {
			q.Path = wire.PathCount
		}
	})
	add(slices.Collect(g.Combinations(exam.KeepAll, wire.PathQuery, wire.PathCount)), asIs)
	add(g.FilteredWindows(exam.KeepAll), func(i int, q *question) {
		if q.paged = i%otherwise == 0; q.paged {
			q.Fields = fields(q.Table) // so that different rows are not alike
		}
	})
	if f.has(partAggregates) {
		add(slices.Collect(g.Combinations(exam.KeepAll, wire.PathAggregate)), func(i int, q *question) {
			if i%2 == 0 {
				q.Where = wire.Where{}
			}
			if extremes := slices.DeleteFunc(slices.Clone(q.Measures), func(m wire.Measure) bool {
				return m.Fn != wire.AggMin && m.Fn != wire.AggMax
			}); i%otherwise == 0 && len(extremes) > 0 { // alone, an index may answer them
				q.Groups, q.StringFields, q.Measures = nil, nil, extremes
			}
		})
	}
	if f.has(partJoins) {
		add(g.Joined(), asIs)
	}
	if f.has(partLinks) {
		var links []question
		for _, link := range g.Links() {
			links = append(links, question{link: link})
		}
		kinds = append(kinds, links)
	}
	return byTurns(kinds)
}

// byTurns returns the members of all lists, such that each list is spread over the whole.
func byTurns(lists [][]question) (all []question) {
	taken, n := make([]int, len(lists)), 0
	for _, list := range lists {
		n += len(list)
	}
	for i := range n {
		for k, list := range lists {
			for taken[k] < (i+1)*len(list)/n {
				all = append(all, list[taken[k]])
				taken[k]++
			}
		}
	}
	return all
}
