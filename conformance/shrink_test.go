package conformance

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// bulky is a generated question about orders with something of everything.
func bulky(t *testing.T) *question {
	t.Helper()
	g := ofCorpus(3, "shrink")
	g.subjects = slices.DeleteFunc(g.subjects, func(s *subject) bool { return s.table.Name != "orders" })
	for _, q := range g.claims(1000) {
		if len(q.and) > 0 && len(q.or) > 1 && len(q.sort) > 2 && q.limit > 1 && q.offset > 1 {
			return q
		}
	}
	t.Fatal("no generated question is large")
	return nil
}

func TestShrinkKeepsOnlyWhatFails(t *testing.T) {
	grain := wire.GroupKey{Field: "placed_at", As: "g", Grain: wire.GrainMonth}
	cases := []struct {
		why   string
		add   func(*question) // what the fault needs, among everything else
		fails func(*question) bool
		want  string // the filters, keys and so on that are left
	}{
		{
			why: "a fault of one filter leaves that filter alone, moved out of its group",
			add: func(q *question) {
				q.or = append(q.or, []wire.Filter{{Field: "id", Op: wire.OpGt, Value: wire.Int(3)}, {Field: "status", Op: wire.OpIsNull}})
			},
			fails: func(q *question) bool { return has(q, wire.OpIsNull) },
			want:  "and=[{status isnull null []}] or=[] sort=[] fields=[status] limit=0 offset=0",
		},
		{
			why: "a fault that needs two groups keeps two",
			add: func(q *question) {
				q.or = append(q.or, []wire.Filter{{Field: "status", Op: wire.OpIsNull}}, []wire.Filter{{Field: "status", Op: wire.OpNotNull}})
			},
			fails: func(q *question) bool { return len(q.or) > 1 && has(q, wire.OpIsNull) && has(q, wire.OpNotNull) },
			want:  "and=[] or=[[{status isnull null []}] [{status notnull null []}]] sort=[] fields=[status] limit=0 offset=0",
		},
		{
			why: "a list is cut to the members that matter",
			add: func(q *question) {
				q.and = append(q.and, wire.Filter{Field: "customer_id", Op: wire.OpIn, Values: []wire.Value{wire.Int(1), wire.Int(2), wire.Null(), wire.Int(3), wire.Int(4)}})
			},
			fails: func(q *question) bool {
				return slices.ContainsFunc(q.and, func(f wire.Filter) bool {
					return slices.Contains(f.Values, wire.Null()) && slices.Contains(f.Values, wire.Int(4))
				})
			},
			want: "and=[{customer_id in null [null 4]}] or=[] sort=[] fields=[customer_id] limit=0 offset=0",
		},
		{
			why: "a text is shortened",
			add: func(q *question) {
				q.and = append(q.and, wire.Filter{Field: "status", Op: wire.OpIncludes, Value: wire.Text("abcdefghi")})
			},
			fails: func(q *question) bool {
				return slices.ContainsFunc(q.and, func(f wire.Filter) bool { return f.Op == wire.OpIncludes && len(f.Value.String()) > 3 })
			},
			want: "and=[{status includes abcd []}] or=[] sort=[] fields=[status] limit=0 offset=0",
		},
		{
			why: "a decimal is not, since a shorter one may mean something else",
			add: func(q *question) {
				q.and = append(q.and, wire.Filter{Field: "total", Op: wire.OpGt, Value: wire.Text("12.50")})
			},
			fails: func(q *question) bool {
				return slices.ContainsFunc(q.and, func(f wire.Filter) bool { return f.Field == "total" && f.Op == wire.OpGt })
			},
			want: "and=[{total gt 12.50 []}] or=[] sort=[] fields=[total] limit=0 offset=0",
		},
		{
			why:   "a fault of the window keeps a small window",
			fails: func(q *question) bool { return q.offset > 0 && q.limit > 0 },
			want:  "and=[] or=[] sort=[] fields=[id] limit=1 offset=1",
		},
		{
			why:   "a fault of the second key keeps two, ascending",
			fails: func(q *question) bool { return len(q.sort) > 1 },
			want:  "sort=2 asc",
		},
		{
			why: "a fault of one measure keeps it, without groups",
			add: func(q *question) {
				*q = question{subject: q.subject, path: wire.PathAggregate, and: q.and, groups: []wire.GroupKey{grain},
					measures: []wire.Measure{{Fn: wire.FnCount, As: "a"}, {Fn: wire.FnSum, Field: "total", As: "b"}, {Fn: wire.FnMin, Field: "id", As: "c"}}}
			},
			fails: func(q *question) bool {
				return slices.ContainsFunc(q.measures, func(m wire.Measure) bool { return m.Fn == wire.FnSum })
			},
			want: "groups=[] measures=[{sum total b}]",
		},
		{
			why: "a fault of a grain keeps it",
			add: func(q *question) {
				*q = question{subject: q.subject, path: wire.PathAggregate, groups: []wire.GroupKey{{Field: "status", As: "s"}, grain}, measures: []wire.Measure{{Fn: wire.FnCount, As: "a"}}}
			},
			fails: func(q *question) bool { return slices.Contains(q.groups, grain) },
			want:  "groups=[{placed_at g month}] measures=[]",
		},
	}
	for _, c := range cases {
		t.Run(c.why, func(t *testing.T) {
			q := bulky(t)
			if c.add != nil {
				c.add(q)
			}
			before := bodyOf(q)
			asked := 0
			s := shrinker{ctx: t.Context(), judged: func(q *question) *complaint {
				asked++
				if c.fails(q) {
					return &complaint{kind: "answer"}
				}
				return &complaint{kind: "something else"}
			}}
			small, _ := s.shrink(q, &complaint{kind: "answer"})
			require.Equal(t, c.want, summary(small))
			require.Equal(t, before, bodyOf(q), "the original stays as it was")
			require.Less(t, asked, maxShrink)
			require.Less(t, small.members(), q.members())
		})
	}
}

func has(q *question, op wire.Op) bool {
	return slices.ContainsFunc(slices.Concat(append([][]wire.Filter{q.and}, q.or...)...), func(f wire.Filter) bool { return f.Op == op })
}

func summary(q *question) string {
	switch {
	case q.path == wire.PathAggregate:
		return fmt.Sprintf("groups=%v measures=%v", q.groups, q.measures)
	case len(q.sort) > 0:
		text := fmt.Sprintf("sort=%d", len(q.sort))
		if !slices.ContainsFunc(q.sort, func(k wire.SortKey) bool { return k.Dir != wire.Asc || k.Collate }) {
			text += " asc"
		}
		return text
	}
	return fmt.Sprintf("and=%v or=%v sort=%v fields=%v limit=%d offset=%d", q.and, q.or, q.sort, q.fields, q.limit, q.offset)
}

func TestShrinkIsBounded(t *testing.T) {
	q := bulky(t)
	for range 400 {
		q.and = append(q.and, wire.Filter{Field: "id", Op: wire.OpIn, Values: []wire.Value{wire.Int(int64(len(q.and)))}})
	}
	first := &complaint{kind: "answer", detail: "the first one"}
	asked := 0
	s := shrinker{ctx: t.Context(), judged: func(*question) *complaint { asked++; return nil }}
	small, c := s.shrink(q, first)
	require.Equal(t, maxShrink, asked)
	require.Same(t, q, small, "nothing smaller fails, so the question stays")
	require.Same(t, first, c)

	ctx, cancel := context.WithCancel(t.Context())
	asked = 0
	s = shrinker{ctx: ctx, judged: func(*question) *complaint { asked++; cancel(); return nil }}
	small, c = s.shrink(q, first)
	require.Equal(t, 1, asked, "an interrupted run asks nothing more")
	require.Same(t, q, small)
	require.Same(t, first, c)

	asked = 0
	s = shrinker{ctx: t.Context(), judged: func(*question) *complaint { asked++; return &complaint{kind: "answer", lost: true} }}
	_, c = s.shrink(q, first)
	require.Equal(t, 1, asked, "a connector that stops answering is not waited for again and again")
	require.Same(t, first, c)
}
