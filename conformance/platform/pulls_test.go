package platform_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
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
	const onePage = " -offset -gt" // pages go on neither by offset nor by key
	for _, c := range []struct {
		name, words    string
		unknown        bool // discovery has no rowCount
		window         string
		rows, requests int
		refused        string
	}{
		{"no limit", "", false, "", 1000, 1, ""},
		{"pages", "pageSizeMax=300", true, "", 1000, 4, ""},
		{"pages that fit exactly", "pageSizeMax=250 concurrency=1", true, "", 1000, 5, ""},
		{"one page of exactly all rows", "pageSizeMax=1000" + onePage, false, "", 1000, 1, ""},
		{"one page of perhaps all rows", "pageSizeMax=1000" + onePage, true, "", 0, 1, "pageSizeMax"},
		{"one page of all rows, and nothing behind its last key", "pageSizeMax=1000 -offset", true, "", 1000, 2, ""},
		{"a window of pages", "pageSizeMax=300", true, "sort=-half offset=100 limit=700", 700, 3, ""},
		{"a window in one page", "pageSizeMax=300 -offset", true, "sort=-half offset=100 limit=200", 200, 1, ""},
		{"a window beyond one page", "pageSizeMax=300" + onePage, false, "offset=100 limit=201", 0, 1, "pageSizeMax without offset"},
		{"a window whose last row is behind the last key of the first page", "pageSizeMax=300 -offset", false,
			"offset=100 limit=201", 201, 2, ""},
		{"no offset, and a window whose end no number can state", "-offset", true, "offset=990 limit=9223372036854775807", 10, 1, ""},
		{"no offset", "-offset", true, "offset=990", 10, 1, ""},
		{"an offset beyond offsetMax", "offsetMax=500", true, "offset=501 limit=9", 9, 1, ""},
		{"pages beyond offsetMax", "pageSizeMax=300 offsetMax=600 -gt", false, "", 0, 3, "offsetMax"},
		{"pages behind the key that is read last before offsetMax", "pageSizeMax=300 offsetMax=600", false, "", 1000, 4, ""},
		{"pages up to offsetMax", "pageSizeMax=350 offsetMax=700", false, "", 1000, 3, ""},
		{"more rows than can be read", "rowsPerTableMax=999", false, "", 0, 1,
			"has 1000 rows by /discovery, and /query reaches no more than 999 of them (rowsPerTableMax)"},
		{"as many rows as can be read", "rowsPerTableMax=1000", false, "", 1000, 1, ""},
		{"perhaps more rows than can be read", "rowsPerTableMax=1000", true, "", 0, 1, "rowsPerTableMax"},
		{"pages of more rows than can be read", "pageSizeMax=400 rowsPerTableMax=900", false, "", 0, 3, "rowsPerTableMax"},
		{"a window within the rows that can be read", "rowsPerTableMax=900", false, "offset=800 limit=100", 100, 1, ""},
		{"a window beyond the rows that can be read", "rowsPerTableMax=900", false, "offset=900 limit=100", 0, 0, "rowsPerTableMax"},
		{"an offset without a limit, up to the rows that can be read", "rowsPerTableMax=1000", false, "offset=100", 900, 1, ""},
		{"an offset without a limit, of perhaps more rows than can be read", "rowsPerTableMax=1000", true, "offset=100", 0, 1,
			"rowsPerTableMax"},
		{"the first of rows in any order", "sort=none", true, "offset=2 limit=5 sort=text", 5, 1, ""},
		{"the last of rows in any order", "sort=none", true, "offset=2 limit=5 sort=-text", 5, 1, ""},
		{"sorted here over pages", "pageSizeMax=400 sort=single", true, "limit=5 sort=half,-id", 5, 3, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			table := numbered(1000, !c.unknown)
			h := tabled(table, c.words)
			if limit, most, _ := strings.Cut(strings.Fields(c.words + " =")[0], "="); limit == "pageSizeMax" {
				h = bodies(h, atMost(testkit.Must(strconv.Atoi(most))(t)))
			}
			if c.name == "more rows than can be read" {
				h = bodies(h, atMost(999)) // a source that reads no further
			}
			conn, r := recording(t, h)
			req := query("numbered id " + c.window)
			rows, _, err := casetest.Rows(t.Context(), conn, req)
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
			requireRight(t, req, rows, table)
		})
	}
}

// TestLaterPageUncut answers the second page with all rows, as a connector does
// whose budget ends there: the rows of the first page are not taken twice.
func TestLaterPageUncut(t *testing.T) {
	t.Parallel()
	uncut := func(served string) http.Handler {
		h := tabled(keylessNumbered(10, false), "pageSizeMax=4")
		all := unclaimed(h, served)
		return choosing(h, func(_ string, body map[string]any) http.Handler {
			if offsetOf(body) > 0 {
				return all
			}
			return h
		})
	}
	req := query("numbered id id.neq=2 or id.lt=6 or id.gt=6 sort=id limit=7")
	rows := rowsOf(t, connectTo(t, uncut(`{"served":{"filters":false,"sort":true,"window":false}}`+"\n"), nil), req)
	require.Equal(t, "[[1] [3] [4] [5] [7] [8] [9]]", fmt.Sprint(rows))

	_, _, err := casetest.Rows(t.Context(), connectTo(t, uncut(`{"served":{"filters":true,"sort":false,"window":false}}`+"\n"), nil), req)
	require.ErrorContains(t, err, "unsorted and uncut", "pages in two orders do not fit together")
}

// TestUnservedCeiling refuses an answer of exactly pageSizeMax rows that was not
// cut to a window: the source may have stopped there.
func TestUnservedCeiling(t *testing.T) {
	t.Parallel()
	for rows, refused := range map[int]error{299: nil, 300: platform.ErrReach, 301: nil} {
		conn := connectTo(t, unclaimed(tabled(numbered(rows, false), "pageSizeMax=300"), noneServed), nil)
		got, _, err := casetest.Rows(t.Context(), conn, query("numbered id"))
		require.ErrorIs(t, err, refused)
		require.True(t, refused != nil || len(got) == rows)
	}
}

// TestConcurrency asks many questions at once of a connector that takes two.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	r := record(tabled(numbered(50, true), "concurrency=2"))
	conn := connectTo(t, r, nil)
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			_, _, err := ask(t, conn, groups("numbered count():n"))
			assert.NoError(t, err)
			rows, _, err := casetest.Rows(t.Context(), conn, query(fmt.Sprint("numbered id limit=", i+1)))
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
	conn, r := recording(t, tabled(table, ""))
	n, work := answered(t, conn, "count numbered half.eq=2 id.gt=5")
	require.Equal(t, "1", n, "id 6 of halves 4 4 3 3 2 2 1 1 0")
	work.Served = wire.Served{}
	require.Equal(t, platform.Stats{Filtered: true, Counted: true, Requests: 1, RowsRead: 4}, work)
	requests, _ := r.seen()
	require.Equal(t, []string{wire.PathQuery}, paths(requests))
	require.Equal(t, []sentFilter{{"id", wire.OpGt}}, requests[0].body.And)
	const itself = "numbered numbered.id>numbered.id>half:joined "
	for _, words := range []string{"numbered by=half:h", "numbered max(half):h", itself + "max(joined):h", itself + "by=joined:h"} {
		_, work := answered(t, conn, "aggregate "+words)
		require.True(t, work.Folded, "a field that may not be grouped or aggregated (aggregate-7a)")
		requests, _ := r.seen()
		require.Equal(t, []string{wire.PathQuery}, paths(requests), "the connector is not asked in vain")
	}
	_, work = answered(t, conn, "aggregate numbered by=id:k max(id):m")
	require.False(t, work.Folded, "what discovery allows is left to the connector")
}
