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
	// filter returns what the rows are to satisfy, or nothing where the subject has no such filter; nil: all rows.
	filter func(s *subject) wire.Where
	joins  bool // with those that they refer to
	page   bool // one page of the rows
	sorts  int  // by how many columns they are sorted
	// group is the kind of groups of an aggregate, and measures what is measured.
	group    int
	measures func(s *subject, w wording) []wire.Measure
	// first returns the tenant who asks first, as what is kept then shows in the other's answer; nil: either.
	first func(s *subject) int
}

// questions has a row for each way to ask about a table. The most telling come first.
var questions = slices.Concat(plain, further)

// plain has a question for each route that every table allows.
var plain = []*question{
	{path: wire.PathQuery}, {path: wire.PathCount}, {path: wire.PathSize}, {path: wire.PathCardinality},
	{path: wire.PathAggregate, measures: counted("rows%d")}, {path: wire.PathLinkHitRate},
}

// joined is the question about the rows with those that they refer to.
var joined = &question{path: wire.PathQuery, what: " with a join", joins: true}

// ofAlone is the question about the number of rows with a value that one tenant alone has: what values there are may be kept when
// the first tenant asks.
var ofAlone = &question{path: wire.PathCount, what: " with a value that one tenant alone has",
	filter: func(s *subject) wire.Where { return filtered(s.alone) }, first: func(s *subject) int { return 1 - s.owner }}

// referring is the question about the rows that refer to one key, with the row of that key.
var referring = &question{path: wire.PathQuery, what: " that refer to one key, with a join", joins: true,
	filter: func(s *subject) wire.Where { return filtered(s.refers) }}

// evenly filters as many rows of each tenant.
func evenly(s *subject) wire.Where { return filtered(s.evenly) }

// ofEither returns a question for each tenant, of whom the other asks it first.
func ofEither(questions ...*question) []*question {
	for tenant, q := range questions {
		q.first = func(*subject) int { return 1 - tenant }
	}
	return questions
}

var further = slices.Concat([]*question{
	joined,
	{path: wire.PathQuery, what: " with a filter", filter: func(s *subject) wire.Where { return filtered(s.value) }},
	{path: wire.PathQuery, what: " for one key", filter: func(s *subject) wire.Where { return filtered(s.key) }},
	{path: wire.PathQuery, what: " with a limit", page: true},
	{path: wire.PathQuery, what: " sorted, with a limit", page: true, sorts: 1},
	{path: wire.PathQuery, what: " sorted by two columns, with a limit", page: true, sorts: 2},
	referring,
	{path: wire.PathQuery, what: " with a join and a limit", page: true, joins: true},
	{path: wire.PathAggregate, what: " by groups of numbers", group: byNumber, measures: counted("n%d")},
	{path: wire.PathAggregate, what: " by groups of texts", group: byText, measures: counted("n%d")},
	{path: wire.PathAggregate, what: " by periods", group: byPeriod, measures: counted("n%d")},
	measuring(wire.AggMin), measuring(wire.AggMax), measuring(wire.AggSum), measuring(wire.AggCountDistinct),
	{path: wire.PathCount, what: " with a filter", filter: func(s *subject) wire.Where { return filtered(s.value) }},
	ofAlone,
	{path: wire.PathQuery, what: " sorted, as many rows of each tenant", filter: evenly, sorts: 1},
	{path: wire.PathAggregate, what: ", sum of as many rows of each tenant", filter: evenly,
		measures: func(s *subject, _ wording) (list []wire.Measure) {
			for _, name := range s.numbers[:min(len(s.numbers), 1)] {
				list = append(list, wire.Measure{Fn: wire.AggSum, Field: name, As: "sum"})
			}
			return list
		}},
	{path: wire.PathCount, what: " with a list", filter: func(s *subject) wire.Where { return filtered(s.list) }},
	{path: wire.PathCount, what: " with an element", filter: func(s *subject) wire.Where { return filtered(s.element) }},
	{path: wire.PathCount, what: " with groups of or", filter: func(s *subject) wire.Where { return wire.Where{Or: s.alikeGroups()} }},
}, ofEither(
	&question{path: wire.PathQuery, what: " for a key that the first tenant alone has",
		filter: func(s *subject) wire.Where { return filtered(s.absent[0]) }},
	&question{path: wire.PathQuery, what: " for a key that the second tenant alone has",
		filter: func(s *subject) wire.Where { return filtered(s.absent[1]) }},
), ofEither(
	&question{path: wire.PathQuery, what: " beyond the second tenant's values",
		filter: func(s *subject) wire.Where { return filtered(s.beyond[0]) }},
	&question{path: wire.PathQuery, what: " beyond the first tenant's values",
		filter: func(s *subject) wire.Where { return filtered(s.beyond[1]) }},
))

// counted returns the measure that counts rows, under a name made of the wording.
func counted(as string) func(*subject, wording) []wire.Measure {
	return func(_ *subject, w wording) []wire.Measure {
		return []wire.Measure{{Fn: wire.AggCount, As: fmt.Sprintf(as, w.n)}}
	}
}

// measuring returns the question about one function of columns of numbers.
func measuring(fn wire.AggFunc) *question {
	return &question{path: wire.PathAggregate, what: ", " + string(fn), measures: func(s *subject, w wording) (list []wire.Measure) {
		for i, name := range s.numbers {
			list = append(list, wire.Measure{Fn: fn, Field: name, As: fmt.Sprintf("m%d_%d", w.n, i)})
		}
		return list
	}}
}

// filtered returns the condition of one filter, if there is one.
func filtered(f *wire.Filter) (where wire.Where) {
	if f != nil {
		where.And = []wire.Filter{*f}
	}
	return where
}

const maxColumns = 3

// firstOf returns the first question of a route, or nil.
func firstOf(path string) *question {
	if i := slices.IndexFunc(plain, func(q *question) bool { return q.path == path }); i >= 0 {
		return plain[i]
	}
	return nil
}

// ask returns the request, or nil if the table does not allow it. Filters are asked for where the subject is its whole
// table, and counted where both tenants have it: who lacks it is refused before filters are looked at.
func (q *question) ask(s *subject, w wording) wire.Request {
	where := s.everything(w)
	if q.filter != nil {
		some := q.filter(s)
		if len(some.And)+len(some.Or) == 0 || s.only != nil || q.path == wire.PathCount && (s.lacked[0] || s.lacked[1]) {
			return nil
		}
		where.And, where.Or = append(where.And, some.And...), some.Or
	}
	switch q.path {
	case wire.PathQuery:
		if q.joins && (s.hop == nil || !s.joins) || len(s.sorts) < q.sorts {
			return nil
		}
		return q.rows(s, where, w)
	case wire.PathCount:
		return &wire.CountRequest{Table: s.name, Where: where, Envelope: w.envelope()}
	case wire.PathAggregate:
		req := &wire.AggregateRequest{
			Table: s.name, Where: where, Measures: q.measures(s, w), Limit: wire.AggregateLimit, Envelope: w.envelope(),
		}
		key := s.groups[q.group]
		if len(req.Measures) == 0 || q.group != allRows && key == nil {
			return nil
		}
		if key != nil {
			req.GroupBy = []wire.GroupKey{*key}
			if terms.IsText(s.tables[0].Field(key.Field).Type) {
				req.StringFields = []string{key.Field}
			}
		}
		return req
	}
	if s.only != nil {
		return nil // these routes take no filter
	}
	switch q.path {
	case wire.PathSize:
		return &wire.SizeRequest{Table: s.name, Envelope: w.envelope()}
	case wire.PathCardinality:
		some := turned(s.fields[:min(len(s.fields), maxColumns)], w)
		return &wire.CardinalityRequest{Table: s.name, Columns: some, Envelope: w.envelope()}
	}
	req := &wire.LinkHitRateRequest{
		FromTable: s.name, FromColumn: s.fields[0], ToTable: s.name, ToColumn: s.fields[0], Envelope: w.envelope(),
	}
	if s.hop != nil {
		req.FromColumn, req.ToTable, req.ToColumn = s.hop.FromField, s.hop.ToTable, s.hop.ToField
	}
	return req
}

// rows returns the request for rows. Those that a filter keeps are few, and asked for without a limit.
func (q *question) rows(s *subject, where wire.Where, w wording) *wire.QueryRequest {
	req := s.rowsIn(w)
	req.Where = where
	switch {
	case q.page:
		req.Limit = int64(3 + w.n%3)
		req.Offset = int64(w.page) * req.Limit
	case q.filter != nil:
		req.Limit = 0
	}
	if q.joins {
		req.Joins = []wire.JoinHop{*s.hop}
	}
	for i, name := range s.sorts[:q.sorts] {
		dir := wire.Desc
		if q.page {
			dir = []wire.Direction{wire.Asc, wire.Desc}[(w.n+i)%2]
		}
		req.Sort = append(req.Sort, wire.SortKey{Field: name, Dir: dir})
	}
	return req
}

// rowsIn returns a request for all rows of the subject and the columns that both tenants have.
func (s *subject) rowsIn(w wording) *wire.QueryRequest {
	req := &wire.QueryRequest{Table: s.name, Where: s.everything(w), Fields: turned(s.fields, w), Envelope: w.envelope()}
	if s.mayLimit && w.n%3 > 0 {
		req.Limit = int64(most) + 1 + int64(w.n)
	}
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
