package tenants

import (
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/defaults"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A cache answers a request that it has seen. So every question has any number of wordings: requests with different
// bytes and the same answer. A wording that is asked for the first time cannot be answered from what was kept for the
// other tenant, unless the key of the cache is less than the request.

// wording tells the wordings of a run apart.
type wording struct {
	run  uint32 // random, because a connector may remember an earlier run
	n    int
	page int // of a list that is asked for page by page: 0 is the first
	// bare goes without a filter, as a cache may keep those requests alone.
	bare bool
}

// fresh returns a wording that was not used before.
func fresh(run *pairRun) wording {
	run.wording.n++
	run.wording.bare = run.wording.n%2 > 0
	return run.wording
}

// unused returns a text that no data hold, one for each wording.
func (w wording) unused() string { return fmt.Sprintf("conformance-%d-%d", w.run, w.n) }

func (w wording) envelope() wire.Envelope {
	return wire.Envelope{TimeoutMS: defaults.QueryTimeout.Milliseconds() - int64(w.n%5000)}
}

// turned returns a list that begins at another place.
func turned[T any](list []T, w wording) []T {
	by := w.n % max(len(list), 1)
	return slices.Concat(list[by:], list[:by])
}

// question is a row of the matrix: what is asked about a table for one tenant and the
// other. What the answer must be follows from the tenant's rows, see [reply.holds].
type question struct {
	path string
	what string // sets it apart from the first question on its route
	// ask returns the request, or nil if the table does not allow it.
	ask func(s *subject, w wording) wire.Request
	// first returns the tenant who asks first, as what is kept then shows in the other's answer; nil: either.
	first func(s *subject) int
}

// questions has a row for each way to ask about a table. The most telling come first.
var questions = slices.Concat(plain, further)

// plain has a question for each route that every table allows.
var plain = []*question{
	{path: wire.PathQuery, ask: func(s *subject, w wording) wire.Request { return s.rowsIn(w) }},
	{path: wire.PathCount, ask: func(s *subject, w wording) wire.Request {
		return &wire.CountRequest{Table: s.name, Where: s.everything(w), Envelope: w.envelope()}
	}},
	{path: wire.PathSize, ask: func(s *subject, w wording) wire.Request {
		return s.unlessPartial(&wire.SizeRequest{Table: s.name, Envelope: w.envelope()})
	}},
	{path: wire.PathCardinality, ask: func(s *subject, w wording) wire.Request {
		some := turned(s.fields[:min(len(s.fields), maxColumns)], w)
		return s.unlessPartial(&wire.CardinalityRequest{Table: s.name, Columns: some, Envelope: w.envelope()})
	}},
	{path: wire.PathAggregate, ask: func(s *subject, w wording) wire.Request {
		rows := wire.Measure{Fn: wire.AggCount, As: fmt.Sprintf("rows%d", w.n)}
		return s.aggregate(w, nil, rows)
	}},
	{path: wire.PathLinkHitRate, ask: func(s *subject, w wording) wire.Request {
		req := &wire.LinkHitRateRequest{
			FromTable: s.name, FromColumn: s.fields[0], ToTable: s.name, ToColumn: s.fields[0], Envelope: w.envelope(),
		}
		if s.hop != nil {
			req.FromColumn, req.ToTable, req.ToColumn = s.hop.FromField, s.hop.ToTable, s.hop.ToField
		}
		return s.unlessPartial(req)
	}},
}

// joined is the question about the rows with those that they refer to.
var joined = &question{path: wire.PathQuery, what: " with a join", ask: func(s *subject, w wording) wire.Request {
	if s.hop == nil || !s.joins {
		return nil
	}
	req := s.rowsIn(w)
	req.Joins = []wire.JoinHop{*s.hop}
	return req
}}

// ofAlone is the question about the number of rows with a value that one tenant alone has: what values there are may be kept when
// the first tenant asks.
var ofAlone = counting(" with a value that one tenant alone has", func(s *subject) wire.Where { return filtered(s.alone) }).
	begunBy(func(s *subject) int { return 1 - s.owner })

func (q *question) begunBy(first func(s *subject) int) *question {
	q.first = first
	return q
}

// filtering returns the question about the rows that satisfy a filter, with those that they refer to or without.
func filtering(what string, joins bool, filter func(s *subject) *wire.Filter) *question {
	return &question{path: wire.PathQuery, what: what, ask: func(s *subject, w wording) wire.Request {
		f := filter(s)
		if f == nil || s.only != nil || joins && (s.hop == nil || !s.joins) {
			return nil
		}
		req := s.rowsIn(w)
		req.And, req.Limit = append(req.And, *f), 0
		if joins {
			req.Joins = []wire.JoinHop{*s.hop}
		}
		return req
	}}
}

// ofEach is the question about as many rows of each tenant.
var ofEach = filtering("", false, func(s *subject) *wire.Filter { return s.evenly })

// referring is the question about the rows that refer to one key, with the row of that key.
var referring = filtering(" that refer to one key, with a join", true, func(s *subject) *wire.Filter { return s.refers })

// ofEither returns a question for each tenant, of whom the other asks it first.
func ofEither(questions ...*question) []*question {
	for tenant, q := range questions {
		q.first = func(*subject) int { return 1 - tenant }
	}
	return questions
}

var further = slices.Concat([]*question{
	joined,
	filtering(" with a filter", false, func(s *subject) *wire.Filter { return s.value }),
	filtering(" for one key", false, func(s *subject) *wire.Filter { return s.key }),
	{path: wire.PathQuery, what: " with a limit", ask: func(s *subject, w wording) wire.Request { return s.pageIn(w) }},
	sorting(" sorted, with a limit", 1), sorting(" sorted by two columns, with a limit", 2),
	referring,
	{path: wire.PathQuery, what: " with a join and a limit", ask: func(s *subject, w wording) wire.Request {
		if s.hop == nil || !s.joins {
			return nil
		}
		req := s.pageIn(w)
		req.Joins = []wire.JoinHop{*s.hop}
		return req
	}},
	by(" by groups of numbers", byNumber), by(" by groups of texts", byText), by(" by periods", byPeriod),
	measuring(wire.AggMin), measuring(wire.AggMax), measuring(wire.AggSum), measuring(wire.AggCountDistinct),
	counting(" with a filter", func(s *subject) wire.Where { return filtered(s.value) }),
	ofAlone,
	{path: wire.PathQuery, what: " sorted, as many rows of each tenant", ask: func(s *subject, w wording) wire.Request {
		req, ok := ofEach.ask(s, w).(*wire.QueryRequest)
		if !ok || len(s.sorts) == 0 {
			return nil
		}
		req.Sort = []wire.SortKey{{Field: s.sorts[0], Dir: wire.Desc}}
		return req
	}},
	{path: wire.PathAggregate, what: ", sum of as many rows of each tenant", ask: func(s *subject, w wording) wire.Request {
		if s.evenly == nil || len(s.numbers) == 0 || s.only != nil {
			return nil
		}
		req := s.aggregate(w, nil, wire.Measure{Fn: wire.AggSum, Field: s.numbers[0], As: "sum"}).(*wire.AggregateRequest)
		req.And = append(req.And, *s.evenly)
		return req
	}},
	counting(" with a list", func(s *subject) wire.Where { return filtered(s.list) }),
	counting(" with an element", func(s *subject) wire.Where { return filtered(s.element) }),
	counting(" with groups of or", func(s *subject) wire.Where { return wire.Where{Or: s.alikeGroups()} }),
}, ofEither(
	filtering(" for a key that the first tenant alone has", false, func(s *subject) *wire.Filter { return s.absent[0] }),
	filtering(" for a key that the second tenant alone has", false, func(s *subject) *wire.Filter { return s.absent[1] }),
), ofEither(
	filtering(" beyond the second tenant's values", false, func(s *subject) *wire.Filter { return s.beyond[0] }),
	filtering(" beyond the first tenant's values", false, func(s *subject) *wire.Filter { return s.beyond[1] }),
))

// sorting returns the question about a page of rows that are sorted by so many columns.
func sorting(what string, keys int) *question {
	return &question{path: wire.PathQuery, what: what, ask: func(s *subject, w wording) wire.Request {
		if len(s.sorts) < keys {
			return nil
		}
		req := s.pageIn(w)
		for i, name := range s.sorts[:keys] {
			req.Sort = append(req.Sort, wire.SortKey{Field: name, Dir: []wire.Direction{wire.Asc, wire.Desc}[(w.n+i)%2]})
		}
		return req
	}}
}

// counting returns the question about the number of rows that satisfy filters, of a table that both tenants have: who lacks
// it is refused before filters are looked at.
func counting(what string, filters func(s *subject) wire.Where) *question {
	return &question{path: wire.PathCount, what: what, ask: func(s *subject, w wording) wire.Request {
		where, some := s.everything(w), filters(s)
		if len(some.And)+len(some.Or) == 0 || s.only != nil || s.lacked[0] || s.lacked[1] {
			return nil
		}
		where.And, where.Or = append(where.And, some.And...), some.Or
		return &wire.CountRequest{Table: s.name, Where: where, Envelope: w.envelope()}
	}}
}

// filtered returns the condition of one filter, if there is one.
func filtered(f *wire.Filter) (where wire.Where) {
	if f != nil {
		where.And = []wire.Filter{*f}
	}
	return where
}

// by returns the question about the number of rows of groups of one kind.
func by(what string, kind int) *question {
	return &question{path: wire.PathAggregate, what: what, ask: func(s *subject, w wording) wire.Request {
		key := s.groups[kind]
		if key == nil {
			return nil
		}
		return s.aggregate(w, []wire.GroupKey{*key}, wire.Measure{Fn: wire.AggCount, As: fmt.Sprintf("n%d", w.n)})
	}}
}

// measuring returns the question about one function of columns of numbers.
func measuring(fn wire.AggFunc) *question {
	return &question{path: wire.PathAggregate, what: ", " + string(fn), ask: func(s *subject, w wording) wire.Request {
		var list []wire.Measure
		for i, name := range s.numbers {
			list = append(list, wire.Measure{Fn: fn, Field: name, As: fmt.Sprintf("m%d_%d", w.n, i)})
		}
		if list == nil {
			return nil
		}
		return s.aggregate(w, nil, list...)
	}}
}

const maxColumns = 3

// firstOf returns the first question of a route, or nil.
func firstOf(path string) *question {
	if i := slices.IndexFunc(plain, func(q *question) bool { return q.path == path }); i >= 0 {
		return plain[i]
	}
	return nil
}

// rowsIn returns a request for all rows of the subject and the columns that both tenants have.
func (s *subject) rowsIn(w wording) *wire.QueryRequest {
	req := &wire.QueryRequest{Table: s.name, Where: s.everything(w), Fields: turned(s.fields, w), Envelope: w.envelope()}
	if s.mayLimit && w.n%3 > 0 {
		req.Limit = int64(most) + 1 + int64(w.n)
	}
	return req
}

// pageIn returns a request for a page of the subject's rows.
func (s *subject) pageIn(w wording) *wire.QueryRequest {
	req := s.rowsIn(w)
	req.Limit = int64(3 + w.n%3)
	req.Offset = int64(w.page) * req.Limit
	return req
}

// hasPage reports whether a question asks for a page, which the document allows and a tenant has.
func (s *subject) hasPage(run *pairRun, q *question, w wording) bool {
	req, ok := q.ask(s, w).(*wire.QueryRequest)
	if !ok || req.Offset == 0 || !run.Document.Allows(req) {
		return false
	}
	return slices.ContainsFunc([]int{0, 1}, func(tenant int) bool {
		own := s.own(tenant)
		return own != nil && int64(len(own.Rows)) > req.Offset
	})
}

func (s *subject) aggregate(w wording, by []wire.GroupKey, measures ...wire.Measure) wire.Request {
	req := &wire.AggregateRequest{
		Table: s.name, Where: s.everything(w), GroupBy: by, Measures: measures, Limit: wire.AggregateLimit, Envelope: w.envelope(),
	}
	for _, key := range by {
		if terms.IsText(s.tables[0].Field(key.Field).Type) {
			req.StringFields = append(req.StringFields, key.Field)
		}
	}
	return req
}

// everything returns filters that keep every row of the subject: nin with a text that differs from wording to wording,
// which keeps null cells too. Wordings go without only once the rows of both tenants are known.
func (s *subject) everything(w wording) (where wire.Where) {
	learning := s.rows[0] == nil || s.rows[1] == nil
	if s.text != "" && (learning || !w.bare) {
		values := []wire.Value{wire.Text(w.unused())}
		where.And = []wire.Filter{{Field: s.text, Op: wire.OpNin, Values: values}}
	}
	where.And = append(where.And, s.only...)
	return where
}

// unlessPartial returns the request, or nil if the subject is a part of its table: the route takes no filter.
func (s *subject) unlessPartial(m wire.Request) wire.Request {
	if s.only != nil {
		return nil
	}
	return m
}
