package restsource_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// These are the ways to page, with pages of 4 rows.
var (
	cursorPages = restsource.Pages{By: restsource.PagingCursor, Param: "c", Next: "page.next", SizeParam: "n", Size: 4}
	urlPages    = restsource.Pages{By: restsource.PagingURL, Next: "next", SizeParam: "n", Size: 4}
	linkPages   = restsource.Pages{By: restsource.PagingLink, SizeParam: "n", Size: 4}
	afterPages  = restsource.Pages{By: restsource.PagingCursor, Param: "c", LastRowCursor: "id", SizeParam: "n", Size: 4}
	numberPages = restsource.Pages{By: restsource.PagingPage, Param: "p", SizeParam: "n", Size: 4}
	offsetPages = restsource.Pages{By: restsource.PagingOffset, Param: "o", SizeParam: "n", Size: 4}
	scrollPages = restsource.Pages{By: restsource.PagingScroll, Param: "c", Next: "scroll"}
	onePage     = restsource.Pages{By: restsource.OnePage}
)

func withMore(p restsource.Pages) restsource.Pages { p.HasMore = "more"; return p }

func unsized(p restsource.Pages) restsource.Pages { p.SizeParam, p.Size = "", 0; return p }

func sized(p restsource.Pages, size int) restsource.Pages { p.SizeParam, p.Size = "n", size; return p }

// unmarshalled is a Pages.Func that fails for what is no JSON.
func unmarshalled(body []byte, _ http.Header) (url.Values, bool, error) {
	var answer struct{ C string }
	err := json.Unmarshal(body, &answer)
	return url.Values{"c": {answer.C}}, answer.C != "", err
}

// TestEnd: a read ends where it was shown to end, and nowhere else [rule error-10].
func TestEnd(t *testing.T) { readings(t, "end.tsv") }

// TestEndForetold: discovery asks for half a page where nothing has shown that the
// first page is the last, and warns of what a read would not get.
func TestEndForetold(t *testing.T) { readings(t, "foretold.tsv") }

// TestCountOfOnePage: a total that is the number of rows in its own answer may count
// just those. A read tells.
func TestCountOfOnePage(t *testing.T) { readings(t, "counts.tsv") }

// TestEndUnsettled: where no smaller page can be asked for, the log says once for each
// table that nothing has shown the end.
func TestEndUnsettled(t *testing.T) {
	const line = "nothing at Pages.Next (\\\"next\\\") on the first page"
	synctest.Test(t, func(t *testing.T) {
		for next, want := range map[string]int{``: 1, `, "next": null`: 0} {
			tables := familyTables("/parents/{id}/children")
			tenant, log := logged(t, shopAPI, tables, testkit.Over(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/v1/parents" {
					_, _ = w.Write([]byte(`{"rows": [{"id": "a"}, {"id": "b"}, {"id": "c"}]}`))
					return
				}
				_, _ = w.Write([]byte(`{"rows": [{"id": 1}]` + next + `}`))
			})))
			answer := testkit.Must(tenant.Query(wire.QueryRequest{Table: "children", Fields: []string{"id"}}))(t)
			assert.Len(t, answer.Column("id"), 3)
			synctest.Wait()
			assert.Equal(t, want, strings.Count(strings.ReplaceAll(log.String(), `\\`, `\`), line), log)
		}
	})
}

// TestEndOfChildren: what one endpoint of a child table has shown holds for the others.
func TestEndOfChildren(t *testing.T) {
	for _, c := range []struct {
		first string // of the first endpoint; the others have a full page and leave Next out
		asked int64  // pages of children
		why   string
	}{
		{`{"rows": [{"id": 1}, {"id": 2}]}`, 5, "one page of half the size is asked for, and the other half"},
		{`{"rows": [{"id": 1}, {"id": 2}], "next": null}`, 3, "the first endpoint has the member"},
		{`{"rows": [{"id": 1}]}`, 5, "the first endpoint shows nothing, the second is asked again"},
	} {
		var asked atomic.Int64 // several endpoints are asked at once
		tables := familyTables("/parents/{id}/children")
		tables[0].Pages.SizeParam, tables[0].Pages.Size = "n", 2
		tenant, _ := logged(t, shopAPI, tables, testkit.Over(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/v1/parents":
				_, _ = w.Write([]byte(`{"rows": [{"id": "a"}, {"id": "b"}, {"id": "c"}]}`))
				return
			case r.URL.Query().Get("after") == "x":
				_, _ = w.Write([]byte(`{"rows": [{"id": 2}]}`))
			case r.URL.Query().Get("n") == "1":
				_, _ = w.Write([]byte(`{"rows": [{"id": 1}], "next": "x"}`))
			case r.URL.Path == "/v1/parents/a/children":
				_, _ = w.Write([]byte(c.first))
			default:
				_, _ = w.Write([]byte(`{"rows": [{"id": 1}, {"id": 2}]}`))
			}
			asked.Add(1)
		})))
		testkit.Must(tenant.Query(wire.QueryRequest{Table: "children", Fields: []string{"id"}}))(t, c.why)
		assert.Equal(t, c.asked, asked.Load(), c.why)
	}
}
