package restsource_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// readJSON reads a file of testdata.
func readJSON(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into))
}

// TestOnePageOfMany: a table of one page whose answer says by any usual name that there are
// more rows fails; one whose answer says that these are all is whole.
func TestOnePageOfMany(t *testing.T) {
	type envelope struct{ Name, Rows, Body string }
	for _, file := range []string{"envelopes.json", "envelopes_public.json"} {
		var envelopes struct{ Continued, Whole []envelope }
		readJSON(t, file, &envelopes)
		silent := 0
		for i, e := range append(envelopes.Continued, envelopes.Whole...) {
			t.Run(e.Name, func(t *testing.T) {
				tables := numbersTable(onePage, func(t *restsource.Table) { t.Rows = e.Rows })
				answer, log, err := query(t, tables, inTurn(e.Body), wire.QueryRequest{Table: "numbers", Fields: []string{"id"}})
				if i >= len(envelopes.Continued) {
					require.NoError(t, err, log)
					assert.Equal(t, []int64{1, 2, 3}, idsOf(answer))
					return
				}
				if err == nil {
					silent++
				}
				requireCode(t, wire.CodeInternal, err)
				assert.Contains(t, log, "says that there are more rows")
			})
		}
		t.Logf("%s: %d of %d envelopes are silent", file, silent, len(envelopes.Continued))
	}
}

// TestRefusedInAnEmptyPage: a page without rows that is not of the shape of the pages before
// ends no read, whatever it says, and in whatever words.
func TestRefusedInAnEmptyPage(t *testing.T) {
	const first = `{"items":[{"id":1},{"id":2}],"status":"ok","meta":{"code":200},"next":"c"}`
	const second = `{"items":[{"id":3},{"id":4}],"status":"ok","meta":{"code":200},"next":"d"}`
	var pages struct{ Refusals, Ends []json.RawMessage }
	readJSON(t, "refusals.json", &pages)
	silent := 0
	for i, body := range append(pages.Refusals, pages.Ends...) {
		for name, by := range map[string]restsource.Pages{
			"cursor": {By: restsource.PagingCursor, Param: "c", Next: "next"},
			"page":   {By: restsource.PagingPage, Param: "p"},
			"offset": {By: restsource.PagingOffset, Param: "o"},
		} {
			for _, before := range [][]string{{first}, {first, second}} {
				tables := numbersTable(by, func(t *restsource.Table) { t.Rows = "items" })
				if name == "offset" {
					keyless(&tables[0])
				}
				_, log, err := query(t, tables, inTurn(append(before, string(body))...), wire.QueryRequest{Table: "numbers", Fields: []string{"id"}})
				if i >= len(pages.Refusals) {
					require.NoError(t, err, "%s by %s: %s", body, name, log)
				} else if !assert.Error(t, err, "%s by %s", body, name) {
					silent++
				}
			}
		}
	}
	t.Logf("%d of %d are silent", silent, 6*len(pages.Refusals))
}
