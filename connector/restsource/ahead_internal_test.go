package restsource

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestOneAhead: while a reader takes rows, which takes it as long as the API, the next page is on
// its way, and the one behind that as soon as the next has arrived: rows are written in buffers
// that hold more than a page, and the API must not wait for their end.
func TestOneAhead(t *testing.T) {
	for _, buffer := range []int{100, 150} {
		synctest.Test(t, func(t *testing.T) {
			const pages = 60 // of 100 rows behind a cursor, each in 50 ms
			api := testkit.Transport(func(r *http.Request) (*http.Response, error) {
				time.Sleep(50 * time.Millisecond)
				at, _ := strconv.Atoi(r.URL.Query().Get("c"))
				rows, next := make([]string, 100), "null"
				for i := range rows {
					rows[i] = fmt.Sprintf(`{"id":%d}`, 100*at+i)
				}
				if at+1 < pages {
					next = strconv.Itoa(at + 1)
				}
				return testkit.Reply(200, `{"rows":[`+strings.Join(rows, ",")+`],"next":`+next+`}`), nil
			})
			src := testkit.Must(New(API{Base: "https://shop.example"}, []Table{{
				Name: "rows", Path: "/rows", Rows: "rows", Key: []string{"id"},
				Pages: Pages{By: PagingCursor, Param: "c", Next: "next"}, Columns: []Column{{Name: "id", Type: wire.TypeNumber}},
			}}, &Options{Transport: api}))(t)
			x := testkit.Must(src.open(t.Context(), wire.Credentials{}))(t)
			e := testkit.Must(x.endpoint(x.tables["rows"], push{}, nil))(t)
			begun, rows := time.Now(), 0
			for _, err := range x.rows(t.Context(), e, nil, nil) {
				require.NoError(t, err)
				if rows++; rows%buffer == 0 {
					time.Sleep(time.Duration(buffer) * 50 * time.Millisecond / 100)
				}
			}
			assert.Equal(t, 100*pages, rows)
			inTurns := 2 * pages * 50 * time.Millisecond
			assert.LessOrEqual(t, time.Since(begun), 53*inTurns/100, "%d rows at a time", buffer)
		})
	}
}
