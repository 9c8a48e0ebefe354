package generate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// bulky returns a generated question about orders with something of everything.
// Each call returns its own copy.
func bulky(t *testing.T) *Question {
	t.Helper()
	found := generatedBulky()
	require.NotNil(t, found, "no generated question is large")
	q := *found
	q.And, q.Sort, q.Fields = filters(found.And), slices.Clone(found.Sort), slices.Clone(found.Fields)
	q.Or = nil
	for _, group := range found.Or {
		q.Or = append(q.Or, filters(group))
	}
	q.FieldTypes = maps.Clone(found.FieldTypes)
	return &q
}

// filters returns a deep copy.
func filters(list []wire.Filter) []wire.Filter {
	list = slices.Clone(list)
	for i := range list {
		list[i].Values = slices.Clone(list[i].Values)
	}
	return list
}

// generatedBulky generates a thousand questions once, which takes most of the
// time of these tests.
var generatedBulky = sync.OnceValue(func() *Question {
	g := ofCorpus(3, "shrink")
	g.subjects = slices.DeleteFunc(g.subjects, func(s *Subject) bool { return s.Table.Name != "orders" })
	for _, q := range g.Claims(1000) {
		if len(q.And) > 0 && len(q.Or) > 1 && len(q.Sort) > 2 && q.Limit > 1 && q.Offset > 1 {
			return q
		}
	}
	return nil
})

func TestShrinkKeepsOnlyWhatFails(t *testing.T) {
	grain := wire.GroupKey{Field: "placed_at", As: "g", Grain: wire.GrainMonth}
	cases := []struct {
		why   string
		add   func(*Question) // what the fault needs, among everything else
		fails func(*Question) bool
		want  string // the filters, keys and so on that are left
	}{
		{
			why: "a fault of one filter leaves that filter alone, moved out of its group",
			add: func(q *Question) {
				q.Or = append(q.Or, []wire.Filter{{Field: "id", Op: wire.OpGt, Value: wire.Int(3)}, {Field: "status", Op: wire.OpIsNull}})
			},
			fails: func(q *Question) bool { return has(q, wire.OpIsNull) },
			want:  "and=[{status isnull null []}] or=[] sort=[] fields=[status] limit=0 offset=0",
		},
		{
			why: "a fault that needs two groups keeps two",
			add: func(q *Question) {
				q.Or = append(q.Or, []wire.Filter{{Field: "status", Op: wire.OpIsNull}}, []wire.Filter{{Field: "status", Op: wire.OpNotNull}})
			},
			fails: func(q *Question) bool { return len(q.Or) > 1 && has(q, wire.OpIsNull) && has(q, wire.OpNotNull) },
			want:  "and=[] or=[[{status isnull null []}] [{status notnull null []}]] sort=[] fields=[status] limit=0 offset=0",
		},
		{
			why: "a list is cut to the members that matter",
			add: func(q *Question) {
				q.And = append(q.And,
					wire.Filter{Field: "customer_id", Op: wire.OpIn,
						Values: []wire.Value{wire.Int(1), wire.Int(2), wire.Null(), wire.Int(3), wire.Int(4)}})
			},
			fails: func(q *Question) bool {
				return slices.ContainsFunc(q.And, func(f wire.Filter) bool {
					return slices.Contains(f.Values, wire.Null()) && slices.Contains(f.Values, wire.Int(4))
				})
			},
			want: "and=[{customer_id in null [null 4]}] or=[] sort=[] fields=[customer_id] limit=0 offset=0",
		},
		{
			why: "a text is shortened",
			add: func(q *Question) {
				q.And = append(q.And, wire.Filter{Field: "status", Op: wire.OpIncludes, Value: wire.Text("abcdefghi")})
			},
			fails: func(q *Question) bool {
				return slices.ContainsFunc(q.And, func(f wire.Filter) bool { return f.Op == wire.OpIncludes && len(f.Value.String()) > 3 })
			},
			want: "and=[{status includes abcd []}] or=[] sort=[] fields=[status] limit=0 offset=0",
		},
		{
			why: "a decimal is not, since a shorter one may mean something else",
			add: func(q *Question) {
				q.And = append(q.And, wire.Filter{Field: "total", Op: wire.OpGt, Value: wire.Text("12.50")})
			},
			fails: func(q *Question) bool {
				return slices.ContainsFunc(q.And, func(f wire.Filter) bool { return f.Field == "total" && f.Op == wire.OpGt })
			},
			want: "and=[{total gt 12.50 []}] or=[] sort=[] fields=[total] limit=0 offset=0",
		},
		{
			why:   "a fault of the window keeps a small window",
			fails: func(q *Question) bool { return q.Offset > 0 && q.Limit > 0 },
			want:  "and=[] or=[] sort=[] fields=[id] limit=1 offset=1",
		},
		{
			why:   "a fault of the second key keeps two, ascending",
			fails: func(q *Question) bool { return len(q.Sort) > 1 },
			want:  "sort=2 asc",
		},
		{
			why: "a fault of one measure keeps it, without groups",
			add: func(q *Question) {
				*q = Question{Subject: q.Subject, Path: wire.PathAggregate, Where: wire.Where{And: q.And}, Groups: []wire.GroupKey{grain},
					Measures: []wire.Measure{{Fn: wire.AggCount, As: "a"}, {Fn: wire.AggSum, Field: "total", As: "b"},
						{Fn: wire.AggMin, Field: "id", As: "c"}}}
			},
			fails: func(q *Question) bool {
				return slices.ContainsFunc(q.Measures, func(m wire.Measure) bool { return m.Fn == wire.AggSum })
			},
			want: "groups=[] measures=[{sum total b}]",
		},
		{
			why: "a fault of a grain keeps it",
			add: func(q *Question) {
				*q = Question{Subject: q.Subject, Path: wire.PathAggregate,
					Groups: []wire.GroupKey{{Field: "status", As: "s"}, grain}, Measures: []wire.Measure{{Fn: wire.AggCount, As: "a"}}}
			},
			fails: func(q *Question) bool { return slices.Contains(q.Groups, grain) },
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
			judge := func(q *Question) *Complaint {
				asked++
				if c.fails(q) {
					return &Complaint{Kind: "answer"}
				}
				return &Complaint{Kind: "something else"}
			}
			small, _ := shrink(t.Context(), q, &Complaint{Kind: "answer"}, judge)
			require.Equal(t, c.want, summary(small))
			require.Equal(t, before, bodyOf(q), "the original stays as it was")
			require.Less(t, asked, maxShrinkRequests)
			require.Less(t, small.size(), q.size())
		})
	}
}

func has(q *Question, op wire.Op) bool {
	return slices.ContainsFunc(slices.Concat(append([][]wire.Filter{q.And}, q.Or...)...), func(f wire.Filter) bool { return f.Op == op })
}

func summary(q *Question) string {
	switch {
	case q.Path == wire.PathAggregate:
		return unmarked(fmt.Sprintf("groups=%v measures=%v", q.Groups, q.Measures))
	case len(q.Sort) > 0:
		text := fmt.Sprintf("sort=%d", len(q.Sort))
		if !slices.ContainsFunc(q.Sort, func(k wire.SortKey) bool { return k.Dir != wire.Asc || k.Collate }) {
			text += " asc"
		}
		return text
	}
	return unmarked(fmt.Sprintf("and=%v or=%v sort=%v fields=%v limit=%d offset=%d", q.And, q.Or, q.Sort, q.Fields, q.Limit, q.Offset))
}

// unmarked leaves out what makes encoding/json refuse the parts of a message.
func unmarked(text string) string { return strings.ReplaceAll(text, "{{} ", "{") }

func TestShrinkIsBounded(t *testing.T) {
	q := bulky(t)
	for range 400 {
		q.And = append(q.And, wire.Filter{Field: "id", Op: wire.OpIn, Values: []wire.Value{wire.Int(int64(len(q.And)))}})
	}
	first := &Complaint{Kind: "answer", Finding: check.Fail("the first one")}
	asked := 0
	judge := func(*Question) *Complaint { asked++; return nil }
	small, c := shrink(t.Context(), q, first, judge)
	require.Equal(t, maxShrinkRequests, asked)
	require.Same(t, q, small, "nothing smaller fails, so the question stays")
	require.Same(t, first, c)

	ctx, cancel := context.WithCancel(t.Context())
	asked = 0
	judge = func(*Question) *Complaint { asked++; cancel(); return nil }
	small, c = shrink(ctx, q, first, judge)
	require.Equal(t, 1, asked, "an interrupted run asks nothing more")
	require.Same(t, q, small)
	require.Same(t, first, c)

	asked = 0
	judge = func(*Question) *Complaint { asked++; return &Complaint{Kind: "answer", Lost: true} }
	_, c = shrink(t.Context(), q, first, judge)
	require.Equal(t, 1, asked, "a connector that stops answering is not waited for again and again")
	require.Same(t, first, c)
}
