package platform_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/casetest"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// shelves is a table whose key is of two fields, with a nullable number and a date.
func shelves(t testing.TB) memsource.Table {
	table := cells.TableOf(t, "shelves", "room:string* place:decimal* weight:number? note:string? day:date")
	for n := range 32 {
		i := n * 13 % 32 // they stand in no order
		weight, note := wire.Int(int64(i*7%5)), wire.Text(fmt.Sprint("n", i%3))
		if i%4 == 0 {
			weight = wire.Null()
		}
		if i%3 == 0 {
			note = wire.Null()
		}
		table.Rows = append(table.Rows, []wire.Value{wire.Text(fmt.Sprint("R", i%4)), wire.Decimal(fmt.Sprintf("%d.%d", i/4, i%2*5)),
			weight, note, wire.Text(fmt.Sprintf("2024-01-%02d", i%28+1))})
	}
	return table
}

// TestKeyset reads pages of a connector without offset, in several orders and with other
// filters beside those of the pages.
func TestKeyset(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ why, words, query string }{
		{"by both parts of the key", "", "note,weight"},
		{"the key is requested too", "", "place,note,room"},
		{"no field is requested", "", ""},
		{"descending, with nulls last", "", "note,weight sort=-weight"},
		{"ascending, with nulls last", "", "note,weight sort=weight,-note"},
		{"a part of the key descends", "", "note,weight sort=-place"},
		{"a window, whose first rows are read as well", "", "note,weight sort=note offset=9 limit=17"},
		{"filters that all have to hold", "", "note,weight weight.lt=4"},
		{"groups of filters", "", `note,weight or weight.lt=4 or note.eq="n1"`},
		{"a date sorts here, and the pages go by the key", "", "note,weight sort=-day,note"},
		{"joins", "", "note,weight shelves.note>rooms.id>place:shelf"},
		{"a joined field that has the name of a key", "", "note,weight shelves.note>rooms.id>place"},
		{"joins executed here", "-join", "note,weight shelves.note>rooms.id>place"},
	} {
		t.Run(c.why, func(t *testing.T) {
			table := shelves(t)
			rooms := cells.TableOf(t, "rooms", `id:string* place:string | "n1" "left" | "n2" "right"`)
			req := query("shelves " + c.query)
			conn, r := recording(t, bodies(several("pageSizeMax=7 -offset "+c.words, table, rooms), atMost(7)))
			rows, _, err := casetest.Rows(t.Context(), conn, req)
			if c.why == "a joined field that has the name of a key" {
				require.ErrorIs(t, err, platform.ErrReach)
				return
			}
			require.NoError(t, err)
			requests := r.asked(t)
			require.Greater(t, len(requests), 2, "there are several pages")
			if len(req.Sort) > 0 && req.Sort[0].Field != "day" {
				require.Equal(t, req.Sort[0].Field, requests[0].body.Sort[0].Field, "the connector sorts")
			}
			requireRight(t, req, rows, table, rooms)
		})
	}
}

// TestNoKeyset refuses to go on after the first page where a filter behind the last row
// would not be exact, or is not declared.
func TestNoKeyset(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, words string
		change     func(*wire.Table)
	}{
		{"no gt", "-gt", nil},
		{"no eq for the first part of the key", "-eq", nil},
		{"one sort key, and a key of two fields", "sort=single", nil},
		{"no key", "", func(t *wire.Table) { t.PrimaryKey = nil }},
		{"a date in the key", "", func(t *wire.Table) { t.PrimaryKey = []string{"room", "place", "day"} }},
		{"a field that is not filterable", "", func(t *wire.Table) { t.Fields[1].Filterable = new(bool) }},
	} {
		table := shelves(t)
		if c.change != nil {
			c.change(&table.Table)
		}
		conn, r := recording(t, tabled(table, "pageSizeMax=7 -offset "+c.words))
		rows, _, err := casetest.Rows(t.Context(), conn, query("shelves note"))
		require.ErrorIs(t, err, platform.ErrReach, c.why)
		require.Len(t, rows, 7, c.why)
		require.Len(t, r.asked(t), 1, c.why)
	}
}

// TestKeysetUnderChange deletes and inserts rows between the pages, in front of the last
// row too. Rows that stay all the time come exactly once, and in order, whether the document
// has an offset or not: pages counted by it would miss one row for each that was deleted.
func TestKeysetUnderChange(t *testing.T) {
	t.Parallel()
	whole := numbered(100, false)
	// Rows divisible by 3 come and go; the last of each page too, and those before it.
	later := func(query int) *memsource.Source {
		table := whole
		table.Rows = slices.DeleteFunc(slices.Clone(whole.Rows), func(row []wire.Value) bool {
			id := int(row[0].Int64())
			return id%3 == 0 && (id+query)%2 != 0
		})
		return inMemory(table)
	}
	for _, words := range []string{"pageSizeMax=9", "pageSizeMax=9 -offset"} {
		m := &bent{Source: inMemory(whole), later: later}
		rows := rowsOf(t, connectTo(t, built(m, words), nil), query("numbered id"))
		stayed := 0
		for i, row := range rows {
			require.True(t, i == 0 || rows[i-1][0].Int64() < row[0].Int64(), "in order, each once")
			if row[0].Int64()%3 != 0 {
				stayed++
			}
		}
		require.Equal(t, 67, stayed, words)
		require.Greater(t, m.queries.Load(), int64(8))
	}
}

// TestKeysetUnserved leaves the condition of the later pages to this side, as a connector
// may do with the groups of or. It sends those rows again that were read, uncut.
func TestKeysetUnserved(t *testing.T) {
	t.Parallel()
	table := shelves(t)
	h := tabled(table, "pageSizeMax=100 -offset")
	later := bodies(h, func(path string, body map[string]any) {
		if path == wire.PathQuery && body["or"] != nil {
			delete(body, "or")
			delete(body, "limit")
		}
	})
	queries := 0
	conn := connectTo(t, testkit.OnPath(h, wire.PathQuery, func(w http.ResponseWriter, r *http.Request) {
		if queries++; queries == 1 {
			bodies(h, func(_ string, body map[string]any) { body["limit"] = 7 }).ServeHTTP(w, r)
			return
		}
		restating(later, `{"served":{"filters":false,"sort":true,"window":false}}`+"\n")(w, r)
	}), nil)
	conn.Document.Capabilities.Limits.PageSizeMax = 7
	req := query("shelves note")
	rows := rowsOf(t, conn, req)
	require.Equal(t, 2, queries)
	requireRight(t, req, rows, table)
}
