package killtest

import (
	"net/http"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// misread returns a connector over the corpus that answers another request than
// the one it was sent: edit changes it.
func misread(edit func(wire.Request)) func() http.Handler {
	return over(usual, asked(func(m wire.Request) layer {
		edit(m)
		return nil
	}))
}

// asked passes every request for rows, counts and groups through edit, which may
// change it, and wrap the handler that answers it.
func asked(edit func(wire.Request) layer) layer {
	return func(h http.Handler) http.Handler {
		return between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
			m := request(r.URL.Path)
			if !slices.Contains([]string{wire.PathQuery, wire.PathCount, wire.PathAggregate}, r.URL.Path) || wire.Decode(*body, m) != nil {
				return false
			}
			wrap := edit(m)
			var err error
			if *body, err = wire.EncodeRequest(m); err != nil {
				panic(err)
			}
			if wrap != nil {
				wrap(h).ServeHTTP(w, withBody(r, *body))
			}
			return wrap != nil
		})(h)
	}
}

// inRows edits the queries among the requests.
func inRows(edit func(*wire.QueryRequest)) func(wire.Request) {
	return func(m wire.Request) {
		if q, ok := m.(*wire.QueryRequest); ok {
			edit(q)
		}
	}
}

// inFilters passes every filter of a query through edit.
func inFilters(edit func(*wire.Filter)) func(wire.Request) {
	return inRows(func(q *wire.QueryRequest) {
		for _, group := range append([][]wire.Filter{q.And}, q.Or...) {
			for i := range group {
				edit(&group[i])
			}
		}
	})
}

// generatedFaults returns faults that hide from requests somebody would write down:
// they need three keys, four members, or two things at once.
func generatedFaults() []fault {
	return []fault{
		{name: "the third group of or is forgotten", why: "`or` is an array of groups: each of them counts",
			kills: []string{"P2.17: filters"},
			first: "P2.4: groups of or", because: "a fixed case has three groups, and comes before generated ones",
			build: misread(inRows(func(q *wire.QueryRequest) {
				if len(q.Or) > 2 {
					q.Or = slices.Delete(q.Or, 2, 3)
				}
			}))},
		{name: "in looks at three members", why: "in finds every member of the list",
			kills: []string{"P2.17: filters", "P2.17: sorts and windows"},
			first: "P2.3: lte", because: "its cases name the rows beside by in, with five members",
			build: misread(inFilters(func(f *wire.Filter) {
				if f.Op == wire.OpIn && len(f.Values) > 3 {
					f.Values = f.Values[:3]
				}
			}))},
		{name: "includes looks at four characters", why: "includes is a substring, however long", kills: []string{"P2.17: filters"},
			first: "P2.3: includes", because: "a fixed case has a longer text, and comes before generated ones", client: "stream-11",
			build: misread(inFilters(func(f *wire.Filter) {
				if text := []rune(f.Value.String()); f.Op == wire.OpIncludes && len(text) > 4 {
					f.Value = wire.Text(string(text[:4]))
				}
			}))},
		{name: "the third sort key is turned around", why: "every key of a sort has a direction of its own",
			kills: []string{"P2.17: sorts and windows"},
			first: "P2.6: several keys", because: "a fixed case has three keys, and comes before generated ones",
			build: misread(inRows(func(q *wire.QueryRequest) {
				if len(q.Sort) > 2 {
					q.Sort[2].Dir = map[wire.Direction]wire.Direction{wire.Asc: wire.Desc, wire.Desc: wire.Asc}[q.Sort[2].Dir]
				}
			}))},
		{name: "an offset beside or is one short", why: "offset is how many of the matching rows are passed over",
			kills: []string{"P2.17: sorts and windows"},
			build: misread(inRows(func(q *wire.QueryRequest) {
				if len(q.Or) > 0 && q.Offset > 1 {
					q.Offset--
				}
			}))},
		{name: "a count forgets the second filter of a group", why: "all filters of a group must hold", kills: []string{"P2.17: counts"},
			first: "P2.10: or", because: "a fixed case has such a group, and comes before generated ones",
			build: misread(func(m wire.Request) {
				if c, ok := m.(*wire.CountRequest); ok {
					for i, group := range c.Or {
						c.Or[i] = group[:min(len(group), 1)]
					}
				}
			})},
		{name: "two groups forget or", why: "a wrong number is never legal", kills: []string{"P2.17: aggregates"},
			build: misread(func(m wire.Request) {
				if a, ok := m.(*wire.AggregateRequest); ok && len(a.GroupBy) > 1 {
					a.Or = nil
				}
			})},
		{name: "a third minimum is a maximum", why: "a wrong number is never legal", kills: []string{"P2.17: aggregates"},
			first: "P2.11: several groups and measures", because: "a fixed case has three measures, and comes before generated ones",
			build: misread(func(m wire.Request) {
				if a, ok := m.(*wire.AggregateRequest); ok && len(a.Measures) > 2 {
					for i := range a.Measures[2:] {
						if n := &a.Measures[2+i]; n.Fn == wire.AggMin {
							n.Fn = wire.AggMax
						}
					}
				}
			})},
		{name: "conjuncts beside or are left to the platform",
			why:   "every row answered must satisfy every filter for which the connector declared an operator, claimed or not",
			kills: []string{"P2.17: combined filters"},
			first: "P2.9: filters with declared operators", because: "it is watched on every stream",
			build: func() http.Handler {
				return asked(func(m wire.Request) layer {
					q, ok := m.(*wire.QueryRequest)
					if !ok || len(q.Or) == 0 || q.Limit+q.Offset > 0 {
						return nil
					}
					q.And, q.Sort = nil, nil
					return unclaimed
				})(usual())
			}},
		{name: "an offset beside or is applied and not claimed", why: "what is not claimed is done again over the rows that come",
			kills: []string{"P2.17: sorts and windows"},
			first: "P2.7: a window behind filters and a sort", because: "a fixed case has both, and comes before generated ones",
			build: func() http.Handler {
				return asked(func(m wire.Request) layer {
					if q, ok := m.(*wire.QueryRequest); ok && len(q.Or) > 0 && q.Offset > 0 {
						return unclaimed
					}
					return nil
				})(usual())
			}},
		{name: "all but the first group of or are forgotten, live", why: "`or` is an array of groups: each of them counts",
			kills: []string{"M11"}, first: "P3.4: an or group", because: "an unknown field in a forgotten group is not refused",
			options: func(g *grading) { g.Mode = conformance.ModeLive },
			build: misread(inRows(func(q *wire.QueryRequest) {
				if len(q.Or) > 1 {
					q.Or = q.Or[:1]
				}
			}))},
	}
}

// unclaimed drops the served line.
func unclaimed(h http.Handler) http.Handler {
	return lines(func(line []byte, emit func(...string)) {
		if kind(line) != "served" {
			emit(string(line))
		}
	})(h)
}
