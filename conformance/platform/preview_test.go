package platform_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// named returns a table of so many rows with another name.
func named(name string, rows int) memsource.Table {
	t := numbered(rows, false)
	t.Name = name
	return t
}

// TestConnectPreviews reads the size and one page of each table on connecting [rule connect-8],
// as many at once as the connector takes requests.
func TestConnectPreviews(t *testing.T) {
	const all = "few 3, many 120, none 0"
	for _, c := range []struct {
		why, words string
		reach      int64
		each, many string // the routes that are asked of each table, and of the one named many
		sizes      string
	}{
		{"the connector knows the sizes", "", 0, "/query /size", "/query /size", all},
		{"what is not on one page is counted", "-/size", 0, "/query", "/query /query", all},
		{"a table beyond the reach is refused [rule connect-9]", "", 100, "/query /size", "/query /size",
			`few 3, many 120 table "many" has 120 rows by /size, and /query reaches no more than 100 of them (the reach of one query), none 0`},
	} {
		testkit.Bubble(t, c.why, func(t *testing.T) {
			r := record(slow(several("concurrency=2 "+c.words, named("few", 3), named("many", 120), named("none", 0)),
				always(50*time.Millisecond)))
			client := connect(t, r, platform.Options{})
			var came []string
			conn := testkit.Must(platform.Connect(t.Context(), client, nobody, &platform.ConnectionOptions{
				Reach: c.reach,
				Progress: func(conn *platform.Connection, p *platform.Preview) {
					if p == nil {
						came = append(came, fmt.Sprint(len(conn.Tables)))
						return
					}
					came = append(came, p.Table.Name)
				}}))(t)
			require.Equal(t, "3", came[0], "the tables come first")
			require.ElementsMatch(t, []string{"few", "many", "none"}, came[1:])
			requests := r.asked(t)
			require.Equal(t, 2, r.most, "within limits.concurrency, and no less")
			asked := map[string]string{}
			for _, one := range requests {
				if one.body.Table != "" {
					asked[one.body.Table] = strings.TrimSpace(asked[one.body.Table] + " " + one.path)
				}
			}
			require.Equal(t, map[string]string{"few": c.each, "many": c.many, "none": c.each}, asked)
			var sizes []string
			for i, p := range conn.Previews {
				require.Same(t, &conn.Tables[i], p.Table)
				require.NoError(t, p.RowsErr)
				require.Len(t, p.Rows, int(min(p.Size.Rows, 50)))
				text := fmt.Sprint(p.Table.Name, " ", p.Size.Rows)
				if p.SizeErr != nil {
					require.ErrorIs(t, p.SizeErr, platform.ErrReach)
					text += " " + p.SizeErr.Error()
				}
				sizes = append(sizes, text)
			}
			require.Equal(t, c.sizes, strings.Join(sizes, ", "))
			if c.reach == 0 {
				require.Equal(t, "[[1 1 null] [2 1 row 2] [3 0 row 3]]", fmt.Sprint(conn.Previews[0].Rows), "each row is a copy")
			}
			again := testkit.Must(conn.Refresh(t.Context()))(t)
			require.Nil(t, again.Previews, "they would be those of other tables")
		})
	}
}

// heapInUse returns the bytes of memory that something refers to.
func heapInUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what pools held before the first
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestPreviewsKeepValues reads rows in lines of a megabyte, nearly all of which is in a member that
// nobody asked for. A connection holds the values, and none of the lines that they came in.
func TestPreviewsKeepValues(t *testing.T) {
	const tables, bytes = 24, 1 << 20
	var list []memsource.Table
	for i := range tables {
		list = append(list, named(fmt.Sprint("t", i), 1))
	}
	whole := several("", list...)
	line := `{"rows":[{"id":1,"half":0,"text":"short","more":"` + strings.Repeat("x", bytes) + `"}]}` + "\n" + `{"end":1}` + "\n"
	client := connect(t, testkit.OnPath(whole, wire.PathQuery, testkit.NDJSON(line)), platform.Options{})
	before := heapInUse()
	conn := testkit.Must(platform.Connect(t.Context(), client, nobody, nil))(t)
	require.Less(t, heapInUse()-before, int64(tables*bytes/4))
	for _, p := range conn.Previews {
		require.NoError(t, p.RowsErr)
		require.Equal(t, "[[1 0 short]]", fmt.Sprint(p.Rows))
	}
}

// TestConnectPreviewsFaults connects although one table cannot be read, and ends with its context.
func TestConnectPreviewsFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		whole := several("concurrency=1", named("broken", 3), named("good", 3))
		ctx, cancel := context.WithCancel(t.Context())
		hang := false
		client := connect(t, choosing(whole, func(_ string, body map[string]any) http.Handler {
			if body["table"] != "broken" {
				return whole
			}
			if hang {
				return silence
			}
			return testkit.JSON(500, `{"error":{"code":"internal","message":"internal error"}}`)
		}), platform.Options{})
		connecting := func() (*platform.Connection, error) {
			return platform.Connect(ctx, client, nobody, &platform.ConnectionOptions{Progress: func(*platform.Connection, *platform.Preview) {
				require.NoError(t, ctx.Err(), "what was given up is not shown")
			}})
		}
		conn := testkit.Must(connecting())(t)
		require.ErrorIs(t, conn.Previews[0].RowsErr, &wire.Error{Code: wire.CodeInternal})
		require.ErrorIs(t, conn.Previews[0].SizeErr, &wire.Error{Code: wire.CodeInternal})
		require.Len(t, conn.Previews[1].Rows, 3)
		require.Equal(t, int64(3), conn.Previews[1].Size.Rows)

		hang = true
		time.AfterFunc(time.Second, cancel)
		_, err := connecting()
		require.ErrorIs(t, err, context.Canceled)
	})
}

// TestPreviewAgainstTheSize refuses a page that is shorter than the measured size allows, unless
// the table has changed in between.
func TestPreviewAgainstTheSize(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why   string
		most  int    // rows of each answer
		sizes string // the answers of /size, one after the other
		want  int    // rows; 0: refused
		note  string
	}{
		{"a page that is as long as was asked for", 50, "69", 50, ""},
		{"all rows of a table that fits on the page", 50, "29", 29, ""},
		{"a page that ends early", 20, "29 29", 0, ""},
		{"a page of a large table that ends early", 49, "69 69", 0, ""},
		{"a table that had more rows when it was measured", 20, "29 20", 20,
			`table "numbered": the exact size is 20, and was 29 before`},
		{"a table that had fewer rows when it was measured", 50, "28", 29,
			`table "numbered": 29 rows are counted, and the exact size is 28`},
		{"an estimate", 20, "about", 20, ""},
	} {
		sizes := strings.Fields(c.sizes)
		rows, _ := strconv.Atoi(sizes[0])
		cut := bodies(tabled(numbered(max(rows, 29), false), ""), func(path string, body map[string]any) {
			if limit, ok := body["limit"].(json.Number); ok && path == wire.PathQuery {
				n, _ := limit.Int64()
				body["limit"] = min(n, int64(c.most))
			}
		})
		h := testkit.OnPath(cut, wire.PathSize, func(w http.ResponseWriter, r *http.Request) {
			answer := `{"size":{"rows":` + sizes[0] + `,"exact":true}}`
			if sizes[0] == "about" {
				answer = `{"size":{"rows":29,"exact":false}}`
			}
			sizes = sizes[1:]
			testkit.JSON(200, answer)(w, r)
		})
		p := testkit.Must(platform.Connect(t.Context(), connect(t, h, platform.Options{}), nobody, nil))(t, c.why).Previews[0]
		require.NoError(t, p.SizeErr)
		require.Empty(t, sizes, c.why)
		requireFault(t, p.RowsErr, "end", map[bool]string{true: "query-16"}[c.want == 0], c.why)
		require.Len(t, p.Rows, c.want, c.why)
		require.Equal(t, c.note, strings.Join(p.Notes, "; "), c.why)
	}
}
