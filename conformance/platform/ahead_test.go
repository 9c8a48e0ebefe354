package platform_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/casetest"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// slow answers each query after a latency.
func slow(h http.Handler, latency func(offset int64) time.Duration) http.Handler {
	return testkit.OnPath(h, wire.PathQuery, func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Offset int64 }
		_ = json.Unmarshal(testkit.Body(r), &body)
		select {
		case <-time.After(latency(body.Offset)):
			h.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	})
}

// always is a latency that does not depend on the page.
func always(d time.Duration) func(int64) time.Duration { return func(int64) time.Duration { return d } }

// TestParallelPages reads 40 pages of a source that takes 50 ms for each, in virtual time.
// The rows come in order, within the concurrency of the document.
func TestParallelPages(t *testing.T) {
	for _, c := range []struct {
		why         string
		concurrency int
		known       bool
		latency     func(int64) time.Duration
		most        time.Duration // one page after the other takes 42 times as long as a page
		open        int
	}{
		{"one after the other", 1, true, always(50 * time.Millisecond), 41 * 50 * time.Millisecond, 1},
		{"two at once", 2, true, always(50 * time.Millisecond), 22 * 50 * time.Millisecond, 2},
		{"four at once, after the first", 4, true, always(50 * time.Millisecond), 11 * 50 * time.Millisecond, 4},
		{"sixteen at once", 16, true, always(50 * time.Millisecond), 4 * 50 * time.Millisecond, 16},
		{"of an unknown number of pages", 4, false, always(50 * time.Millisecond), 14 * 50 * time.Millisecond, 4},
		{"later pages answer first", 4, true, func(offset int64) time.Duration {
			return time.Duration(4-offset/24%4) * 25 * time.Millisecond
		}, 1500 * time.Millisecond, 4},
	} {
		testkit.Bubble(t, c.why, func(t *testing.T) {
			r := record(slow(tabled(keylessNumbered(1000, c.known), fmt.Sprint("pageSizeMax=25 concurrency=", c.concurrency)), c.latency))
			conn := connectTo(t, r, nil)
			begun := time.Now()
			answer := testkit.Must(conn.Query(t.Context(), query("numbered id")))(t)
			requireNumbers(t, answer, 1000, func(int, []wire.Value) {})
			took, simple := time.Since(begun), 42*50*time.Millisecond // each page after the first has 24 new rows
			t.Logf("%v, %.2f times as fast as one page after the other", took, simple.Seconds()/took.Seconds())
			require.LessOrEqual(t, took, c.most+50*time.Millisecond)
			if c.concurrency == 1 {
				require.Equal(t, simple, took)
			}
			require.LessOrEqual(t, len(r.asked(t)), answer.Stats.Requests+2, "check and discovery; what is given up may not come")
			require.Equal(t, c.open, r.most)
			require.LessOrEqual(t, answer.Stats.Requests, 42+c.open-1)
			if c.known {
				require.Equal(t, 42, answer.Stats.Requests, "none in vain")
				require.Equal(t, int64(1000+41), answer.Stats.RowsRead, "each page begins with the last row of the one before")
			}
		})
	}
}

// TestParallelPagesFiltered reads few pages in vain where a filter leaves fewer rows than discovery
// states.
func TestParallelPagesFiltered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := connectTo(t, slow(tabled(keylessNumbered(1000, true), "pageSizeMax=25 concurrency=16"),
			always(50*time.Millisecond)), nil)
		answer := testkit.Must(conn.Query(t.Context(), query("numbered id id.lte=130")))(t)
		require.Equal(t, int64(130), counted(t, answer.All()))
		require.LessOrEqual(t, answer.Stats.Requests, 9, "six pages have rows")
	})
}

// TestParallelPagesError fails one page. The error comes as soon as the pages before it have
// come, although their rows have not been passed on; what is still read is given up.
func TestParallelPagesError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := tabled(keylessNumbered(1000, true), "pageSizeMax=100")
		broken := choosing(h, func(_ string, body map[string]any) http.Handler {
			if offsetOf(body) == 297 {
				return testkit.JSON(http.StatusInternalServerError, `{"error":{"code":"internal","message":"internal error"}}`)
			}
			return h
		})
		r := record(slow(broken, func(offset int64) time.Duration {
			if offset > 297 {
				return time.Hour
			}
			return time.Millisecond
		}))
		conn := connectTo(t, r, nil)
		begun, rows := time.Now(), 0
		answer, err := conn.Query(t.Context(), query("numbered id"))
		require.NoError(t, err)
		for _, one := range answer.All() {
			if err = one; err == nil {
				if rows++; rows == 101 {
					time.Sleep(time.Second) // until the pages that come have come
				}
			}
		}
		require.ErrorIs(t, err, &wire.Error{Code: wire.CodeInternal})
		require.Less(t, time.Since(begun), time.Minute)
		require.Less(t, rows, 300, "not after all rows before it")
		synctest.Wait()
		r.mu.Lock()
		defer r.mu.Unlock()
		require.Zero(t, r.open, "nothing is still read")
	})
	later := keylessNumbered(100, true)
	later.Rows[60][1] = wire.Null() // where discovery ruled it out
	src := &bent{Source: inMemory(keylessNumbered(100, true)), later: func(int) *memsource.Source { return inMemory(later) }}
	conn := connectTo(t, built(src, "pageSizeMax=20"), nil)
	_, _, err := casetest.Rows(t.Context(), conn, query("numbered id,half"))
	requireFault(t, err, "line 2, rows[3].half", "discovery-7")
}

// TestParallelPagesEnd ends a loop early, cancels a question, and asks within a loop.
func TestParallelPagesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := record(slow(tabled(keylessNumbered(1000, true), "pageSizeMax=50"), always(time.Millisecond)))
		conn := connectTo(t, r, nil)
		req := query("numbered id")
		answer := testkit.Must(conn.Query(t.Context(), req))(t)
		n := 0
		for _, err := range answer.All() {
			require.NoError(t, err)
			if n++; n == 120 {
				break
			}
		}
		synctest.Wait()
		require.Zero(t, r.open, "a loop that is left reads nothing more")
		r.seen()
		require.Len(t, rowsOf(t, conn, query("numbered id offset=60 limit=130")), 130)
		require.Len(t, r.asked(t), 3, "no page behind the window")
		requireNumbers(t, answer, 1000, func(n int, _ []wire.Value) { // a question within each of the loops, as deep as there are places
			if n%100 == 60 {
				require.Len(t, rowsOf(t, conn, req), 1000)
			}
		})
	})
}

// TestParallelPagesMemory reads pages that do not fit into what may be kept of pages ahead.
// They are asked for again in their turn, and read one by one.
func TestParallelPagesMemory(t *testing.T) {
	table := keylessNumbered(400, true)
	for i := range table.Rows {
		table.Rows[i][2] = wire.Text(strings.Repeat("x", 5000))
	}
	for budget, requests := range map[int64]int{
		100 << 10: 5, // too little to read ahead at all
		4 << 20:   7, // 256 KiB a page, of 500: two of them are asked for twice
		256 << 20: 5,
	} {
		synctest.Test(t, func(t *testing.T) {
			conn := connectTo(t, tabled(table, "pageSizeMax=100"), &platform.ConnectionOptions{Budget: budget})
			answer := testkit.Must(conn.Query(t.Context(), query("numbered id,text")))(t)
			requireNumbers(t, answer, 400, func(n int, _ []wire.Value) {
				if n == 101 {
					time.Sleep(time.Millisecond) // until the pages ahead have been read as far as they may
				}
			})
			require.GreaterOrEqual(t, answer.Stats.RowsRead, int64(400))
			require.Equal(t, requests, answer.Stats.Requests, "budget %d", budget)
		})
	}
}

// TestParallelPagesKeepValues reads ahead rows in lines of a megabyte, nearly all of which is in a
// member that nobody asked for. Pages hold the values, and none of the lines that they came in.
func TestParallelPagesKeepValues(t *testing.T) {
	const pages, rows, bytes = 6, 8, 1 << 20
	described := tabled(keylessNumbered(pages*rows, true), "pageSizeMax=8 concurrency=6")
	more := strings.Repeat("x", bytes)
	conn := connectTo(t, choosing(described, func(path string, body map[string]any) http.Handler {
		if path != wire.PathQuery {
			return described
		}
		lines := `{"served":{"filters":true,"sort":true,"window":true}}` + "\n"
		for id := offsetOf(body) + 1; id <= min(offsetOf(body)+rows, pages*rows); id++ {
			lines += fmt.Sprintf(`{"rows":[{"id":%d,"text":"row %d","more":"%s"}]}`+"\n", id, id, more)
		}
		return testkit.NDJSON(lines + `{"end":1}` + "\n")
	}), nil)
	answer := testkit.Must(conn.Query(t.Context(), query("numbered id,text")))(t)
	before := heapInUse()
	requireNumbers(t, answer, pages*rows, func(n int, row []wire.Value) {
		require.Equal(t, fmt.Sprint("row ", n), row[1].Text())
		if n == rows+1 {
			time.Sleep(time.Second / 2) // until the pages ahead have been read
			require.Less(t, heapInUse()-before, int64(pages*rows*bytes/2))
		}
	})
}

// requireNumbers reads rows, whose first cells have to be the numbers from 1 to the last one, and calls a function after each.
func requireNumbers(t testing.TB, answer *platform.Answer, last int, read func(n int, row []wire.Value)) {
	t.Helper()
	n := 0
	for row, err := range answer.All() {
		require.NoError(t, err)
		n++
		require.Equal(t, int64(n), row[0].Int64())
		read(n, row)
	}
	require.Equal(t, last, n)
}

// keylessNumbered returns the table without a key, so that pages need an offset.
func keylessNumbered(rows int, known bool) memsource.Table {
	table := numbered(rows, known)
	table.PrimaryKey, table.Fields[0].Unique = nil, false
	return table
}
