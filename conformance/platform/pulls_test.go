package platform_test

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/casetest"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// numbered is a table of rows 1 to n. Its key ascends, half counts down by twos,
// and no count of rows is stated unless known is set.
func numbered(n int, known bool) memsource.Table {
	t := memsource.Table{Table: wire.Table{Name: "numbered", StoresRows: true, PrimaryKey: []string{"id"}, Fields: []wire.Field{
		{Name: "id", Type: wire.TypeNumber, Unique: true},
		{Name: "half", Type: wire.TypeNumber},
		{Name: "text", Type: wire.TypeString, Nullable: true},
	}}}
	for i := range n {
		text := wire.Text(fmt.Sprint("row ", i+1))
		if i%3 == 0 {
			text = wire.Null()
		}
		t.Rows = append(t.Rows, []wire.Value{wire.Int(int64(i + 1)), wire.Int(int64(n-i) / 2), text})
	}
	if rows := int64(n); known {
		t.RowCount = &rows
	}
	return t
}

// inMemory is a source of tables.
func inMemory(tables ...memsource.Table) *memsource.Source {
	return testkit.Tables(tables...).(*memsource.Source)
}

// tabled returns a connector of one table that serves everything but what is
// omitted.
func tabled(t memsource.Table, limits wire.Limits, omit connector.Omit) http.Handler {
	return built(connector.Definition{Limits: limits}, stated{inMemory(t), t.RowCount}, omit)
}

// several serves tables.
func several(limits wire.Limits, omit connector.Omit, tables ...memsource.Table) http.Handler {
	return built(connector.Definition{Limits: limits}, inMemory(tables...), omit)
}

// stated is a source of one table that states this number of rows, or none.
type stated struct {
	*memsource.Source
	rows *int64
}

func (s stated) Discover(ctx context.Context, req *wire.DiscoveryRequest) (*wire.Discovery, error) {
	d, err := s.Source.Discover(ctx, req)
	if err == nil {
		d.Tables = slices.Clone(d.Tables)
		d.Tables[0].RowCount = s.rows
	}
	return d, err
}

// TestLimits reads 1,000 rows within limits. What cannot be read within them is
// refused, never cut.
func TestLimits(t *testing.T) {
	t.Parallel()
	half := by("-half")
	all := wire.QueryRequest{Table: "numbered", Fields: []string{"id"}}
	onePage := connector.Omit{Offset: true, Operators: []wire.Op{wire.OpGt}} // pages go on neither by offset nor by key
	for _, c := range []struct {
		name           string
		limits         wire.Limits
		omit           connector.Omit
		unknown        bool // discovery has no rowCount
		req            wire.QueryRequest
		rows, requests int
		refused        string
	}{
		{"no limit", wire.Limits{}, connector.Omit{}, false, all, 1000, 1, ""},
		{"pages", wire.Limits{PageSizeMax: 300}, connector.Omit{}, true, all, 1000, 4, ""},
		{"pages that fit exactly", wire.Limits{PageSizeMax: 250, Concurrency: 1}, connector.Omit{}, true, all, 1000, 5, ""},
		{"one page of exactly all rows", wire.Limits{PageSizeMax: 1000}, onePage, false, all, 1000, 1, ""},
		{"one page of perhaps all rows", wire.Limits{PageSizeMax: 1000}, onePage, true, all, 0, 1, "pageSizeMax"},
		{"one page of all rows, and nothing behind its last key", wire.Limits{PageSizeMax: 1000}, connector.Omit{Offset: true}, true,
			all, 1000, 2, ""},
		{"a window of pages", wire.Limits{PageSizeMax: 300}, connector.Omit{}, true,
			wire.QueryRequest{Table: "numbered", Fields: []string{"id"}, Sort: half, Offset: 100, Limit: 700}, 700, 3, ""},
		{"a window in one page", wire.Limits{PageSizeMax: 300}, connector.Omit{Offset: true}, true,
			wire.QueryRequest{Table: "numbered", Fields: []string{"id"}, Sort: half, Offset: 100, Limit: 200}, 200, 1, ""},
		{"a window beyond one page", wire.Limits{PageSizeMax: 300}, onePage, false,
			wire.QueryRequest{Table: "numbered", Fields: []string{"id"}, Offset: 100, Limit: 201}, 0, 1, "pageSizeMax without offset"},
		{"a window whose last row is behind the last key of the first page", wire.Limits{PageSizeMax: 300}, connector.Omit{Offset: true},
			false, wire.QueryRequest{Table: "numbered", Fields: []string{"id"}, Offset: 100, Limit: 201}, 201, 2, ""},
		{"no offset, and a window whose end no number can state", wire.Limits{}, connector.Omit{Offset: true}, true,
			wire.QueryRequest{Table: "numbered", Fields: []string{"id"}, Offset: 990, Limit: math.MaxInt64}, 10, 1, ""},
		{"no offset", wire.Limits{}, connector.Omit{Offset: true}, true,
			wire.QueryRequest{Table: "numbered", Fields: []string{"id"}, Offset: 990}, 10, 1, ""},
		{"an offset beyond offsetMax", wire.Limits{OffsetMax: 500}, connector.Omit{}, true,
			wire.QueryRequest{Table: "numbered", Fields: []string{"id"}, Offset: 501, Limit: 9}, 9, 1, ""},
		{"pages beyond offsetMax", wire.Limits{PageSizeMax: 300, OffsetMax: 600}, connector.Omit{Operators: onePage.Operators}, false,
			all, 0, 3, "offsetMax"},
		{"pages behind the key that is read last before offsetMax", wire.Limits{PageSizeMax: 300, OffsetMax: 600}, connector.Omit{}, false,
			all, 1000, 4, ""},
		{"pages up to offsetMax", wire.Limits{PageSizeMax: 350, OffsetMax: 700}, connector.Omit{}, false, all, 1000, 3, ""},
		{"more rows than can be read", wire.Limits{RowsPerTableMax: 999}, connector.Omit{}, false, all, 0, 1,
			"has 1000 rows by /discovery, and /query reaches no more than 999 of them (rowsPerTableMax)"},
		{"as many rows as can be read", wire.Limits{RowsPerTableMax: 1000}, connector.Omit{}, false, all, 1000, 1, ""},
		{"perhaps more rows than can be read", wire.Limits{RowsPerTableMax: 1000}, connector.Omit{}, true, all, 0, 1, "rowsPerTableMax"},
		{"pages of more rows than can be read", wire.Limits{RowsPerTableMax: 900, PageSizeMax: 400}, connector.Omit{}, false,
			all, 0, 3, "rowsPerTableMax"},
		{"a window within the rows that can be read", wire.Limits{RowsPerTableMax: 900}, connector.Omit{}, false,
			wire.QueryRequest{Table: "numbered", Fields: []string{"id"}, Offset: 800, Limit: 100}, 100, 1, ""},
		{"a window beyond the rows that can be read", wire.Limits{RowsPerTableMax: 900}, connector.Omit{}, false,
			wire.QueryRequest{Table: "numbered", Fields: []string{"id"}, Offset: 900, Limit: 100}, 0, 0, "rowsPerTableMax"},
		{"an offset without a limit, up to the rows that can be read", wire.Limits{RowsPerTableMax: 1000}, connector.Omit{}, false,
			wire.QueryRequest{Table: "numbered", Fields: []string{"id"}, Offset: 100}, 900, 1, ""},
		{"an offset without a limit, of perhaps more rows than can be read", wire.Limits{RowsPerTableMax: 1000}, connector.Omit{}, true,
			wire.QueryRequest{Table: "numbered", Fields: []string{"id"}, Offset: 100}, 0, 1, "rowsPerTableMax"},
		{"the first of rows in any order", wire.Limits{}, connector.Omit{Sort: wire.SortNone}, true,
			wire.QueryRequest{Table: "numbered", Fields: all.Fields, Offset: 2, Limit: 5, Sort: by("text")}, 5, 1, ""},
		{"the last of rows in any order", wire.Limits{}, connector.Omit{Sort: wire.SortNone}, true,
			wire.QueryRequest{Table: "numbered", Fields: all.Fields, Offset: 2, Limit: 5, Sort: by("-text")}, 5, 1, ""},
		{"sorted here over pages", wire.Limits{PageSizeMax: 400}, connector.Omit{Sort: wire.SortSingle}, true,
			wire.QueryRequest{Table: "numbered", Fields: []string{"id"}, Limit: 5, Sort: by("half", "-id")}, 5, 3, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			table := numbered(1000, !c.unknown)
			h := tabled(table, c.limits, c.omit)
			if most := c.limits.PageSizeMax; most > 0 {
				h = bodies(h, atMost(int(most)))
			}
			if c.name == "more rows than can be read" {
				h = bodies(h, atMost(999)) // a source that reads no further
			}
			conn, r := recording(t, h)
			rows, _, err := casetest.Rows(t.Context(), conn, &c.req)
			requests, faults := r.seen()
			assert.Empty(t, faults)
			assert.Len(t, requests, c.requests)
			if c.rows == 0 {
				require.ErrorIs(t, err, platform.ErrReach, "a part of the rows is not all of them")
				require.ErrorContains(t, err, c.refused)
				return
			}
			require.NoError(t, err)
			require.Len(t, rows, c.rows)
			requireRight(t, &c.req, rows, table)
		})
	}
}

// TestLaterPageUncut answers the second page with all rows, as a connector does
// whose budget ends there: the rows of the first page are not taken twice.
func TestLaterPageUncut(t *testing.T) {
	t.Parallel()
	uncut := func(served string) http.Handler {
		h := tabled(keylessNumbered(10, false), wire.Limits{PageSizeMax: 4}, connector.Omit{})
		all := unclaimed(h, served)
		return choosing(h, func(_ string, body map[string]any) http.Handler {
			if offsetOf(body) > 0 {
				return all
			}
			return h
		})
	}
	req := &wire.QueryRequest{Table: "numbered", Fields: []string{"id"}, Limit: 7, Sort: by("id"),
		Where: wire.Where{And: []wire.Filter{{Field: "id", Op: wire.OpNeq, Value: wire.Int(2)}}, Or: [][]wire.Filter{
			{{Field: "id", Op: wire.OpLt, Value: wire.Int(6)}}, {{Field: "id", Op: wire.OpGt, Value: wire.Int(6)}}}}}
	rows := rowsOf(t, connectTo(t, uncut(`{"served":{"filters":false,"sort":true,"window":false}}`+"\n"), nil), req)
	require.Equal(t, "[[1] [3] [4] [5] [7] [8] [9]]", fmt.Sprint(rows))

	_, _, err := casetest.Rows(t.Context(), connectTo(t, uncut(`{"served":{"filters":true,"sort":false,"window":false}}`+"\n"), nil), req)
	require.ErrorContains(t, err, "unsorted and uncut", "pages in two orders do not fit together")
}

// TestUnservedCeiling refuses an answer of exactly pageSizeMax rows that was not
// cut to a window: the source may have stopped there.
func TestUnservedCeiling(t *testing.T) {
	t.Parallel()
	for rows, whole := range map[int]bool{299: true, 300: false, 301: true} {
		h := unclaimed(tabled(numbered(rows, false), wire.Limits{PageSizeMax: 300}, connector.Omit{}),
			noneServed)
		got, _, err := casetest.Rows(t.Context(), connectTo(t, h, nil), &wire.QueryRequest{Table: "numbered", Fields: []string{"id"}})
		if whole {
			require.NoError(t, err)
			require.Len(t, got, rows)
			continue
		}
		require.ErrorIs(t, err, platform.ErrReach)
	}
}

// TestConcurrency asks many questions at once of a connector that takes two.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	r := record(tabled(numbered(50, true), wire.Limits{Concurrency: 2}, connector.Omit{}))
	conn := connectTo(t, r, nil)
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			_, err := conn.Aggregate(t.Context(), &wire.AggregateRequest{Table: "numbered",
				Measures: []wire.Measure{{Fn: wire.AggCount, As: "n"}}})
			assert.NoError(t, err)
			rows, _, err := casetest.Rows(t.Context(), conn, &wire.QueryRequest{Table: "numbered", Fields: []string{"id"}, Limit: int64(i + 1)})
			assert.NoError(t, err)
			assert.Len(t, rows, i+1)
		})
	}
	wg.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	require.LessOrEqual(t, r.most, 2, "limits.concurrency (document-15)")
	require.Empty(t, r.faults)
}

// TestUnfilterable keeps filters on fields that discovery rules out here.
func TestUnfilterable(t *testing.T) {
	t.Parallel()
	no, yes := false, true
	table := numbered(9, false)
	table.Fields[1].Filterable, table.Fields[1].Groupable, table.Fields[1].Aggregatable = &no, &no, &no
	table.Fields[0].Filterable, table.Fields[0].Groupable, table.Fields[0].Aggregatable = &yes, &yes, &yes
	r := record(tabled(table, wire.Limits{}, connector.Omit{}))
	conn := connectTo(t, r, nil)
	where := wire.Where{And: []wire.Filter{{Field: "half", Op: wire.OpEq, Value: wire.Int(2)},
		{Field: "id", Op: wire.OpGt, Value: wire.Int(5)}}}
	r.seen()
	n, work, err := conn.Count(t.Context(), &wire.CountRequest{Table: "numbered", Where: where})
	require.NoError(t, err)
	require.Equal(t, int64(1), n, "id 6 of halves 4 4 3 3 2 2 1 1 0")
	work.Served = wire.Served{}
	require.Equal(t, platform.Stats{Filtered: true, Counted: true, Requests: 1, RowsRead: 4}, work)
	requests, _ := r.seen()
	require.Equal(t, []string{wire.PathQuery}, paths(requests))
	require.Equal(t, []sentFilter{{"id", wire.OpGt}}, requests[0].body.And)
	itself := joins("numbered", "id", "numbered", "id", wire.JoinField{Field: "half", As: "joined"})
	for _, req := range []wire.AggregateRequest{
		{Table: "numbered", GroupBy: []wire.GroupKey{{Field: "half", As: "h"}}},
		{Table: "numbered", Measures: []wire.Measure{{Fn: wire.AggMax, Field: "half", As: "h"}}},
		{Table: "numbered", Joins: itself, Measures: []wire.Measure{{Fn: wire.AggMax, Field: "joined", As: "h"}}},
		{Table: "numbered", Joins: itself, GroupBy: []wire.GroupKey{{Field: "joined", As: "h"}}},
	} {
		groups := testkit.Must(conn.Aggregate(t.Context(), &req))(t)
		require.True(t, groups.Stats.Folded, "a field that may not be grouped or aggregated (aggregate-7a)")
		requests, _ := r.seen()
		require.Equal(t, []string{wire.PathQuery}, paths(requests), "the connector is not asked in vain")
	}
	groups, err := conn.Aggregate(t.Context(), &wire.AggregateRequest{Table: "numbered", GroupBy: []wire.GroupKey{{Field: "id", As: "k"}},
		Measures: []wire.Measure{{Fn: wire.AggMax, Field: "id", As: "m"}}})
	require.NoError(t, err)
	require.False(t, groups.Stats.Folded, "what discovery allows is left to the connector")
}
