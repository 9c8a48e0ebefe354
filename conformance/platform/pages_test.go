package platform_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/casetest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// restless answers like a source whose rows have no order of their own: rows with equal sort
// keys stand in another order in each answer. It breaks no rule, since query-3 binds nobody.
func restless(t memsource.Table, limits wire.Limits, omit connector.Omit) http.Handler {
	keyless := t
	keyless.PrimaryKey, keyless.Fields = nil, slices.Clone(t.Fields)
	for i := range keyless.Fields {
		keyless.Fields[i].Unique = false
	}
	turned := func(query int) *memsource.Source {
		turn := query * 5 % len(t.Rows)
		keyless.Rows = slices.Concat(t.Rows[turn:], t.Rows[:turn])
		return inMemory(keyless)
	}
	src := &redescribed{moving{Source: turned(0), change: turned}, t.Table}
	return bodies(built(connector.Definition{Limits: limits}, src, omit), func(path string, body map[string]any) {
		if most := limits.PageSizeMax; most > 0 {
			atMost(int(most))(path, body)
		}
	})
}

// redescribed is a source of one table that discovery describes in another way.
type redescribed struct {
	moving
	table wire.Table
}

func (d *redescribed) Discover(context.Context, *wire.DiscoveryRequest) (*wire.Discovery, error) {
	return &wire.Discovery{Tables: []wire.Table{d.table}}, nil
}

// TestPagesOfRestlessRows reads tables in pages from a source that answers rows with equal
// sort keys in any order. Each row comes once, or the reading is refused (error-10).
func TestPagesOfRestlessRows(t *testing.T) {
	t.Parallel()
	limits := wire.Limits{PageSizeMax: 8}
	one := connector.Omit{Sort: wire.SortSingle}
	none := connector.Omit{Sort: wire.SortNone}
	half := by("half") // which is not the order of id
	keyless := func(t *wire.Table) { t.PrimaryKey, t.Fields[0].Unique = nil, false }
	twofold := func(t *wire.Table) { t.PrimaryKey, t.Fields[0].Unique = []string{"half", "id"}, false }
	maybe := func(t *wire.Table) { t.Fields[0].Nullable, t.Fields[0].Unique = true, false }
	all := []string{"id", "half", "text"}
	for _, c := range []struct {
		why    string
		omit   connector.Omit
		change func(*wire.Table)
		fields []string
		sort   []wire.SortKey
		want   string // the sort that pages are asked for; "": refused
		here   bool   // sorted here
	}{
		{"the key", connector.Omit{}, nil, all, nil, "[{id}]", false},
		{"the key breaks the ties of a sort", connector.Omit{}, nil, all, half, "[{half} {id}]", false},
		{"without a key, all that is read", connector.Omit{}, keyless, all, nil, "[{id} {half} {text}]", false},
		{"rows that are equal in all that is read can be exchanged", connector.Omit{}, keyless, []string{"text"}, nil, "[{text}]", false},
		{"a sort, then all that is read", connector.Omit{}, keyless, all, half, "[{half} {id} {text}]", false},
		{"a key that may be null tells nothing apart", connector.Omit{}, maybe, all, nil, "[{id} {half} {text}]", false},
		{"one sort key, which is the key", one, nil, all, nil, "[{id}]", false},
		{"one sort key, which leaves ties: pages by the key, sorted here", one, nil, all, half, "[{id}]", true},
		{"one sort key, and one column", one, keyless, []string{"half"}, nil, "[{half}]", false},
		{"one sort key, which is the column", one, keyless, []string{"half"}, half, "[{half}]", false},
		{"one sort key, and none that is total", one, keyless, all, nil, "", false},
		{"one sort key, and ties in it", one, keyless, all, half, "", false},
		{"what sorts already breaks no ties", connector.Omit{}, nil, all, by("-id"), "[{id}]", false},
		{"a unique field is a key", connector.Omit{}, func(t *wire.Table) { t.PrimaryKey = nil }, all, nil, "[{id}]", false},
		{"a unique field that may be null is none", connector.Omit{},
			func(t *wire.Table) { t.PrimaryKey, t.Fields[0].Nullable = nil, true }, all, nil, "[{id} {half} {text}]", false},
		{"one sort key, and a key of two fields", one, twofold, all, nil, "", false},
		{"no sort", none, nil, all, nil, "", false},
		{"no sort, sorted here", none, nil, all, half, "", false},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			table := numbered(20, false)
			if c.change != nil {
				c.change(&table.Table)
			}
			conn, r := recording(t, restless(table, limits, c.omit))
			req := &wire.QueryRequest{Table: "numbered", Fields: c.fields, Sort: c.sort}
			rows, _, err := casetest.Rows(t.Context(), conn, req)
			requests, faults := r.seen()
			require.Empty(t, faults)
			if c.want == "" {
				require.ErrorIs(t, err, platform.ErrReach, "%d rows", len(rows))
				require.ErrorContains(t, err, `table "numbered" may have more than the 8 rows that /query reaches (pageSizeMax without a total order)`)
				require.Len(t, requests, 1)
				return
			}
			require.NoError(t, err)
			require.Len(t, requests, 3)
			for _, one := range requests {
				assert.Equal(t, c.want, fmt.Sprint(one.body.Sort))
			}
			var want, got []string
			for _, row := range table.Rows {
				var cells []wire.Value
				for _, name := range c.fields {
					cells = append(cells, row[slices.Index(all, name)])
				}
				want = append(want, fmt.Sprint(cells))
			}
			for _, row := range rows {
				got = append(got, fmt.Sprint(row))
			}
			assert.ElementsMatch(t, want, got)
			for limit, pages := range map[int64]int{17: 3, 8: 1} {
				windowed := *req
				windowed.Limit = limit
				rowsOf(t, conn, &windowed)
				requests, _ := r.seen()
				require.Len(t, requests, pages)
				if pages == 1 {
					assert.Len(t, requests[0].body.Sort, len(c.sort), "one page is in the order that was asked for")
				} else {
					assert.Equal(t, c.want, fmt.Sprint(requests[1].body.Sort), "in a window of pages too")
				}
			}
			if len(c.sort) > 0 && c.sort[0].Field == "half" {
				at := slices.Index(c.fields, "half")
				assert.True(t, slices.IsSortedFunc(rows, func(a, b []wire.Value) int { return int(a[at].Int64() - b[at].Int64()) }))
			}
			// A table of one page needs no order.
			few := numbered(7, false)
			if c.change != nil {
				c.change(&few.Table)
			}
			rows = rowsOf(t, connectTo(t, restless(few, limits, c.omit), nil), req)
			assert.Len(t, rows, 7)
		})
	}
}

// TestPagesOfJoinedRows leaves a join to a connector with pages only if each base row
// becomes one row. The rows that one becomes have no order among each other, because
// sort keys name no joined fields (query-6c).
func TestPagesOfJoinedRows(t *testing.T) {
	t.Parallel()
	r := record(staff(connector.Omit{}, wire.Limits{PageSizeMax: 4}))
	conn := connectTo(t, r, nil)
	for _, c := range []struct {
		why, from, to string
		limit         int64
		pushed        bool
		want          string
	}{
		{"to a key, each row stays one row", "boss", "id", 0, true, "[[1 null] [2 Ada] [3 Bo] [4 null] [5 Ada]]"},
		{"to a field that repeats, in pages", "id", "boss", 0, false, "[[1 Bo] [1 Ed] [2 Cy] [3 null] [4 null] [5 null]]"},
		{"to a field that repeats, in one page", "id", "boss", 4, true, "[[1 Bo] [1 Ed] [2 Cy] [3 null]]"},
		{"to a field that repeats, in a window of pages", "id", "boss", 5, false, "[[1 Bo] [1 Ed] [2 Cy] [3 null] [4 null]]"},
	} {
		r.seen()
		name := joins("people", c.from, "people", c.to, wire.JoinField{Field: "name"})
		rows := rowsOf(t, conn, &wire.QueryRequest{Table: "people", Fields: []string{"id"},
			Limit: c.limit, Sort: by("id"), Joins: name})
		require.Equal(t, c.want, fmt.Sprint(rows), c.why)
		requests, faults := r.seen()
		require.Empty(t, faults)
		for _, one := range requests {
			require.Equal(t, c.pushed, len(one.body.Joins) > 0, c.why)
		}
	}
}

// TestPagesOfAWindowJoinedHere reads the base rows of a window up to its end, which takes
// two pages where the window alone would fit one. They are sorted here.
func TestPagesOfAWindowJoinedHere(t *testing.T) {
	t.Parallel()
	conn, r := recording(t, staff(connector.Omit{Join: true, Sort: wire.SortSingle}, wire.Limits{PageSizeMax: 4}))
	rows := rowsOf(t, conn, &wire.QueryRequest{Table: "people", Fields: []string{"id"}, Offset: 1, Limit: 4,
		Sort: by("boss_text"), Joins: joins("people", "boss", "people", "id", wire.JoinField{Field: "name"})})
	require.Equal(t, "[[2 Ada] [5 Ada] [4 null] [1 null]]", fmt.Sprint(rows))
	_, faults := r.seen()
	require.Empty(t, faults)
}

// TestRowCountIsExceeded does not end a reading at a count of rows that discovery states
// and that the rows have exceeded: it is an estimate (discovery-7a).
func TestRowCountIsExceeded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		count int64
		whole bool
		why   string
	}{
		{400, true, "the count says that these are all rows"},
		{399, false, "the count is too small, and says nothing"},
		{401, false, "the count says that there is one more"},
	} {
		table := numbered(1000, false)
		table.RowCount = &c.count
		h := bodies(tabled(table, wire.Limits{PageSizeMax: 400}, connector.Omit{Offset: true, Operators: []wire.Op{wire.OpGt}}), atMost(400))
		rows, _, err := casetest.Rows(t.Context(), connectTo(t, h, nil), &wire.QueryRequest{Table: "numbered", Fields: []string{"id"}})
		require.Len(t, rows, 400)
		if c.whole {
			require.NoError(t, err, c.why)
			continue
		}
		require.ErrorIs(t, err, platform.ErrReach, c.why)
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
	for _, key := range []bool{true, false} {
		table := numbered(20, false)
		if !key {
			table = keylessNumbered(20, false)
		}
		conn := connectTo(t, bodies(tabled(table, wire.Limits{PageSizeMax: 8}, connector.Omit{Operators: []wire.Op{wire.OpGt}}), ignored), nil)
		rows, _, err := casetest.Rows(t.Context(), conn, &wire.QueryRequest{Table: "numbered", Fields: []string{"half", "id"}, Limit: 100})
		require.ErrorIs(t, err, platform.ErrMoved)
		require.Len(t, rows, 8)
	}
	// A page that begins one row too early.
	short := func(_ string, body map[string]any) {
		if offset := offsetOf(body); offset > 0 {
			body["offset"] = offset - 1
		}
	}
	conn := connectTo(t, bodies(tabled(numbered(20, false), wire.Limits{PageSizeMax: 8},
		connector.Omit{Operators: []wire.Op{wire.OpGt}}), short), nil)
	_, _, err := casetest.Rows(t.Context(), conn, &wire.QueryRequest{Table: "numbered", Fields: []string{"id"}, Limit: 100})
	require.ErrorIs(t, err, platform.ErrMoved)
}
