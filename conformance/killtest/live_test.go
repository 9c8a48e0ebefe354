package killtest

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// lawIDs are the checks that are tested here.
const lawIDs = `^(L\d+|M[1-7]|M2[0-8]|T[1-3]|P3\.5[abc]|P3\.7a|A\.15)$`

func TestLawsHold(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, why string
		options   func(*grading)
		build     func() http.Handler
		// skipped are the checks that these data cannot exercise.
		skipped []string
	}{
		{name: "the corpus", why: "every law holds of the corpus", options: live, build: usual, skipped: []string{"T1", "T2", "T3"}},
		{name: "a shop", why: "every law is exercised by ordinary data", options: live, build: untouched,
			skipped: []string{"M23", "T1", "T2", "T3", "P3.5a", "P3.5b", "P3.5c", "P3.7a"}},
		{name: "two tenants", why: "tenants that are apart pass", options: apart,
			build:   over(newSharedHost),
			skipped: []string{"L9", "M23", "P3.5a", "P3.5b", "P3.5c", "P3.7a"}},
		{name: "tables beyond the row budget", why: "larger tables are exercised with windows",
			options: func(g *grading) { live(g); g.RowBudget = 60 },
			build:   func() http.Handler { return plain(shop()[1], largeCustomers()) },
			skipped: []string{"L1", "L3", "L4", "L8", "L9", "L11", "M7", "M10", "M20", "M21", "M22", "M23",
				"M24", "M25", "M27", "T1", "T2", "T3",
				"A.15", "P3.5a", "P3.5b", "P3.5c", "P3.7a"}},
		{name: "ceilings", why: "no window is asked for that the declared limits exclude", options: live, build: func() http.Handler {
			return ceilings(100, 20)(serve(connector.Definition{Limits: wire.Limits{PageSizeMax: 100, OffsetMax: 20}}, liveShop(), nil))
		}, skipped: []string{"A.15", "M23", "T1", "T2", "T3", "P3.5a", "P3.5b", "P3.5c", "P3.7a"}},
		{name: "fixture mode", why: "slow and tenant checks belong to phase 3", build: usual, skipped: []string{"T1", "T2", "T3"}},
	}
	for i, test := range tests {
		if !testrun.Runs(i+1, 6) {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			report := grade(t, test.build(), with(test.options, matching(lawIDs)))
			for _, o := range report.Outcomes {
				t.Log(o.ID, o.Verdict, o.Reason, o.Cases, o.Detail, o.Duration)
				want := conformance.Pass
				if slices.Contains(test.skipped, o.ID) {
					want = conformance.Skip
				}
				require.Equal(t, want, o.Verdict, "%s: %s %s: expected %s, received %s", o.ID, o.Reason, o.Detail, o.Expected, o.Received)
				if want == conformance.Pass {
					require.Positive(t, o.Cases, "%s judged nothing", o.ID)
				}
			}
			t.Log(report.Coverage().Requests, "requests", report.Coverage().Rows, "rows")
		})
	}
}

// largeCustomers returns the shop's customers, a few times over.
func largeCustomers() memsource.Table {
	t := shop()[0]
	rows := t.Rows
	for n := 1; n < 5; n++ {
		for _, row := range rows {
			row = slices.Clone(row)
			row[0] = wire.Int(row[0].Int64() + int64(1000*n))
			if !row[2].IsNull() {
				row[2] = wire.Text(row[2].Text() + strings.Repeat("x", n))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// ceilings refuses windows beyond what the document declares.
func ceilings(limit, offset int64) layer {
	return bodies(func(body map[string]any) {
		if integer(body, "limit") > limit || integer(body, "offset") > offset {
			body["limit"] = "beyond the ceiling" // refused as malformed
		}
	}, wire.PathQuery)
}

func TestLargeTablesAreJudgedByWindows(t *testing.T) {
	t.Parallel()
	tables := func() []memsource.Table { return []memsource.Table{largeCustomers()} }
	large := func() http.Handler { return plain(tables()...) }
	asked := func(change func(req *connector.Query)) func() http.Handler { return stocked(tables, asking(change)) }
	tests := []struct {
		id    string
		build func() http.Handler
	}{
		{"L2", asked(func(req *connector.Query) { req.And = nil })},
		{"L5", over(large, eachField(func(_ any, field map[string]any) { field["unique"] = true }))},
		{"L6", over(large, bodies(func(body map[string]any) {
			if n := integer(body, "offset"); n > 0 {
				body["offset"] = n + 1
			}
		}, wire.PathQuery))},
		{"L7", asked(func(req *connector.Query) { req.Sort = nil })},
		{"L10", over(large, cells(func(name string, v any) any {
			if name == "active" {
				return "yes"
			}
			return v
		}))},
	}
	for _, test := range tests {
		t.Run(test.id, func(t *testing.T) {
			t.Parallel()
			g := ofLive("^" + test.id + "$")
			g.RowBudget = 100
			grade(t, test.build(), g).has(t, conformance.Fail, test.id)
		})
	}
}

// moving serves data that changes with every few queries: a row is added to the end of each table.
type moving struct {
	*memsource.Source
	tables  []memsource.Table
	every   int64
	queries atomic.Int64
}

func (s *moving) now() *memsource.Source {
	added := int(s.queries.Add(1) / s.every)
	tables := slices.Clone(s.tables)
	for i := range tables {
		tables[i].Rows = slices.Clone(tables[i].Rows[:min(20+added, len(tables[i].Rows))])
	}
	return source(tables...)
}

func (s *moving) Query(ctx context.Context, req *connector.Query, out *connector.Rows) error {
	return s.now().Query(ctx, req, out)
}

func (s *moving) Count(ctx context.Context, req *wire.CountRequest) (int64, error) {
	return s.now().Count(ctx, req)
}

func (s *moving) Size(ctx context.Context, req *wire.SizeRequest) (*wire.Size, error) {
	return s.now().Size(ctx, req)
}

func (s *moving) Aggregate(ctx context.Context, req *wire.AggregateRequest) ([][]wire.Value, error) {
	return s.now().Aggregate(ctx, req)
}

func (s *moving) Cardinality(ctx context.Context, req *wire.CardinalityRequest) (map[string]*wire.Cardinality, error) {
	return s.now().Cardinality(ctx, req)
}

func newMoving(every int64) *moving {
	many, _ := corpusTable("many")
	table := memsource.Table(many)
	table.RowCount = nil
	return &moving{Source: source(table), tables: []memsource.Table{table}, every: every}
}

func TestDataThatMovesFailNothing(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	tests := []struct {
		name  string
		every int64
		moved bool // laws are skipped because of it
	}{
		{name: "with every request", every: 1, moved: true},
		{name: "with every third request", every: 3, moved: true},
		{name: "now and then", every: 40},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			g := ofLive(lawIDs)
			report := grade(t, serve(connector.Definition{}, newMoving(test.every), nil), g)
			report.nothingFound(t, "data may move", conformance.Advise)
			require.Equal(t, test.moved, slices.ContainsFunc(report.Outcomes,
				func(o conformance.Outcome) bool { return o.Reason == conformance.DataChanged }))
		})
	}
}

func TestFaultsAreFoundInDataThatMove(t *testing.T) {
	src := newMoving(60)
	h := edits(func(body map[string]any) {
		body["count"] = integer(body, "count") + 1
	}, wire.PathCount)(serve(connector.Definition{}, src, nil))
	grade(t, h, ofLive(`^L3$`)).has(t, conformance.Fail, "L3")
}

func TestGivingUpIsNoFaultOfTheStream(t *testing.T) {
	report := grade(t, hanging(usual()), with(matching(`^P3\.(5[ab]|7a|6g|6e)$`)))
	report.has(t, conformance.Pass, "P3.6e", "P3.6g")
}
