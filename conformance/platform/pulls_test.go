package platform_test

import (
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
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
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
	return connectors.Tables(tables...).(*memsource.Source)
}

// TestLimits reads 1,000 rows within limits. What cannot be read within them is
// refused, never cut.
func TestLimits(t *testing.T) {
	t.Parallel()
	for _, c := range testkit.Table(t, "testdata/limits.tsv", 6) {
		name, words, known, window, want, asked := c[0], c[1], c[2] != "unknown", c[3], c[4], c[5]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table := numbered(1000, known)
			h := tabled(table, words)
			if limit, most, _ := strings.Cut(strings.Fields(words + " =")[0], "="); limit == "pageSizeMax" {
				h = bodies(h, atMost(testkit.Must(strconv.Atoi(most))(t)))
			}
			if name == "more rows than can be read" {
				h = bodies(h, atMost(999)) // a source that reads no further
			}
			conn, r := recording(t, h)
			req := query("numbered id " + window)
			rows, _, err := casetest.Rows(t.Context(), conn, req)
			assert.Equal(t, asked, strconv.Itoa(len(r.asked(t))))
			if n, refused := strconv.Atoi(want); refused != nil {
				require.ErrorIs(t, err, platform.ErrReach, "a part of the rows is not all of them")
				require.ErrorContains(t, err, want)
				return
			} else {
				require.Len(t, rows, n)
			}
			require.NoError(t, err)
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
	requests := r.asked(t)
	require.Equal(t, []string{wire.PathQuery}, paths(requests))
	require.Equal(t, []sentFilter{{"id", wire.OpGt}}, requests[0].body.And)
	const itself = "numbered numbered.id>numbered.id>half:joined "
	for _, words := range []string{"numbered by=half:h", "numbered max(half):h", itself + "max(joined):h", itself + "by=joined:h"} {
		_, work := answered(t, conn, "aggregate "+words)
		require.True(t, work.Folded, "a field that may not be grouped or aggregated (aggregate-7a)")
		require.Equal(t, []string{wire.PathQuery}, paths(r.asked(t)), "the connector is not asked in vain")
	}
	_, work = answered(t, conn, "aggregate numbered by=id:k max(id):m")
	require.False(t, work.Folded, "what discovery allows is left to the connector")
}

// restless answers like a source whose rows have no order of their own: rows with equal sort
// keys stand in another order in each answer. It breaks no rule, since query-3 binds nobody.
func restless(t memsource.Table, words string) http.Handler {
	turned := func(query int) *memsource.Source {
		keyless, turn := t, query*5%len(t.Rows)
		keyless.PrimaryKey, keyless.Fields = nil, slices.Clone(t.Fields)
		for i := range keyless.Fields {
			keyless.Fields[i].Unique = false
		}
		keyless.Rows = slices.Concat(t.Rows[turn:], t.Rows[:turn])
		return inMemory(keyless)
	}
	src := &bent{Source: turned(0), later: turned, describe: func(own *wire.Table) { *own = t.Table }}
	return bodies(built(src, "pageSizeMax=8 "+words), atMost(8))
}

// TestPagesOfRestlessRows reads tables in pages from a source that answers rows with equal
// sort keys in any order. Each row comes once, or the reading is refused (error-10).
func TestPagesOfRestlessRows(t *testing.T) {
	t.Parallel()
	changes := map[string]func(*wire.Table){
		"":             func(*wire.Table) {},
		"keyless":      func(t *wire.Table) { t.PrimaryKey, t.Fields[0].Unique = nil, false },
		"twofold":      func(t *wire.Table) { t.PrimaryKey, t.Fields[0].Unique = []string{"half", "id"}, false },
		"maybe":        func(t *wire.Table) { t.Fields[0].Nullable, t.Fields[0].Unique = true, false },
		"unique":       func(t *wire.Table) { t.PrimaryKey = nil },
		"maybe unique": func(t *wire.Table) { t.PrimaryKey, t.Fields[0].Nullable = nil, true },
	}
	for _, c := range testkit.Table(t, "testdata/restless.tsv", 5) {
		why, words, change, asked, want := c[0], c[1], changes[c[2]], c[3], c[4]
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			table, few := numbered(20, false), numbered(7, false)
			change(&table.Table)
			change(&few.Table)
			conn, r := recording(t, restless(table, words))
			req := query("numbered " + asked)
			rows, _, err := casetest.Rows(t.Context(), conn, req)
			requests := r.asked(t)
			if want == "" {
				require.ErrorIs(t, err, platform.ErrReach, "%d rows", len(rows))
				require.ErrorContains(t, err, `table "numbered" may have more than the 8 rows that /query reaches (pageSizeMax without a total order)`)
				require.Len(t, requests, 1)
				return
			}
			require.NoError(t, err)
			require.Len(t, requests, 3)
			require.Len(t, rows, 20)
			for _, one := range requests {
				assert.Equal(t, want, fmt.Sprint(one.body.Sort))
			}
			requireRight(t, req, rows, table)
			for limit, pages := range map[int64]int{17: 3, 8: 1} {
				windowed := *req
				windowed.Limit = limit
				rowsOf(t, conn, &windowed)
				requests := r.asked(t)
				require.Len(t, requests, pages)
				if pages == 1 {
					assert.Len(t, requests[0].body.Sort, len(req.Sort), "one page is in the order that was asked for")
				} else {
					assert.Equal(t, want, fmt.Sprint(requests[1].body.Sort), "in a window of pages too")
				}
			}
			assert.Len(t, rowsOf(t, connectTo(t, restless(few, words), nil), req), 7, "a table of one page needs no order")
		})
	}
}

// TestPagesOfJoinedRows leaves a join to a connector with pages only if each base row
// becomes one row. The rows that one becomes have no order among each other, because
// sort keys name no joined fields (query-6c).
func TestPagesOfJoinedRows(t *testing.T) {
	t.Parallel()
	r := record(staff(t, "pageSizeMax=4"))
	conn := connectTo(t, r, nil)
	for _, c := range []struct {
		why, words string
		pushed     bool
		want       string
	}{
		{"to a key, each row stays one row", "people.boss>people.id>name", true, "[[1 null] [2 Ada] [3 Bo] [4 null] [5 Ada]]"},
		{"to a field that repeats, in pages", "people.id>people.boss>name", false, "[[1 Bo] [1 Ed] [2 Cy] [3 null] [4 null] [5 null]]"},
		{"to a field that repeats, in one page", "people.id>people.boss>name limit=4", true, "[[1 Bo] [1 Ed] [2 Cy] [3 null]]"},
		{"to a field that repeats, in a window of pages", "people.id>people.boss>name limit=5", false,
			"[[1 Bo] [1 Ed] [2 Cy] [3 null] [4 null]]"},
	} {
		r.seen()
		rows, _ := answered(t, conn, "query people id sort=id "+c.words)
		require.Equal(t, c.want, rows, c.why)
		for _, one := range r.asked(t) {
			require.Equal(t, c.pushed, len(one.body.Joins) > 0, c.why)
		}
	}
}

// TestPagesOfAWindowJoinedHere reads the base rows of a window up to its end, which takes
// two pages where the window alone would fit one. They are sorted here.
func TestPagesOfAWindowJoinedHere(t *testing.T) {
	t.Parallel()
	conn, r := recording(t, staff(t, "pageSizeMax=4 -join sort=single"))
	rows, _ := answered(t, conn, "query people id sort=boss_text offset=1 limit=4 people.boss>people.id>name")
	require.Equal(t, "[[2 Ada] [5 Ada] [4 null] [1 null]]", rows)
	r.asked(t)
}

// TestRowCountIsExceeded does not end a reading at a count of rows that discovery states
// and that the rows have exceeded: it is an estimate (discovery-7a).
func TestRowCountIsExceeded(t *testing.T) {
	t.Parallel()
	for count, refused := range map[int64]error{
		400: nil,               // the count says that these are all rows
		399: platform.ErrReach, // the count is too small, and says nothing
		401: platform.ErrReach, // the count says that there is one more
	} {
		table := numbered(1000, false)
		table.RowCount = &count
		conn := connectTo(t, bodies(tabled(table, "pageSizeMax=400 -gt -offset"), atMost(400)), nil)
		rows, _, err := casetest.Rows(t.Context(), conn, query("numbered id"))
		require.Len(t, rows, 400)
		require.ErrorIs(t, err, refused, count)
	}
}

// TestOffsetIsIgnored refuses the first page when it comes again as the next one, which a
// source does that knows no offset and claims the window. The pages would never end.
func TestOffsetIsIgnored(t *testing.T) {
	t.Parallel()
	ignored := func(path string, body map[string]any) {
		if path == wire.PathQuery {
			delete(body, "offset")
		}
	}
	short := func(_ string, body map[string]any) { // a page that begins one row too early
		if offset := offsetOf(body); offset > 0 {
			body["offset"] = offset - 1
		}
	}
	for _, c := range []struct {
		table  memsource.Table
		change func(string, map[string]any)
	}{{numbered(20, false), ignored}, {keylessNumbered(20, false), ignored}, {numbered(20, false), short}} {
		conn := connectTo(t, bodies(tabled(c.table, "pageSizeMax=8 -gt"), c.change), nil)
		rows, _, err := casetest.Rows(t.Context(), conn, query("numbered half,id limit=100"))
		require.ErrorIs(t, err, platform.ErrMoved)
		require.Len(t, rows, 8)
	}
}
