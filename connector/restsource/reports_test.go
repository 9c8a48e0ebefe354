package restsource_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestReportedLosses: what people reported of connectors that lost rows in silence, with an API that
// does what the report tells. A read is whole, or it fails and says why.
func TestReportedLosses(t *testing.T) { readings(t, "reports.tsv") }

// readJSON reads a file of testdata.
func readJSON(t *testing.T, name string, into any) {
	t.Helper()
	text := testkit.Must(os.ReadFile("testdata/" + name))(t)
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
				answer, log, err := query(t, tables, inTurn(e.Body), allNumbers)
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
				_, log, err := query(t, tables, inTurn(append(before, string(body))...), allNumbers)
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

// TestOneTablesTrouble: a table that cannot be read is left out of a discovery with the
// reason, which quotes no value, and the others are served. If none is left, the discovery
// fails. Trouble with the API itself is nobody's alone.
func TestOneTablesTrouble(t *testing.T) {
	const left = `Table "numbers" is left out: `
	for _, c := range []struct {
		name   string
		answer testkit.Transport
		change func(*restsource.Table)
		want   string
	}{
		{"402", always(402, secretText), nil, "the API answered with the status 402."},
		{"403", always(403, secretText), nil, "these credentials may not read it."},
		{"404", always(404, secretText), nil, "the API does not have it for these credentials."},
		{"500", always(500, secretText), nil, "the API answered with the status 500."},
		{"another shape", always(200, `{"items":[]}`), nil, "there is no list of rows at Rows."},
		{"a date in other words", always(200, `{"rows":[{"id":"`+secretText+`"}]}`), nil,
			`column "id": a text does not fit the type number; declare another type, or a Convert function.`},
		{"HTML", always(200, "<html>", "Content-Type: text/html"), nil, "the API answered with HTML."},
		{"an error in the answer", always(200, `{"error":"`+secretText+`"}`), nil,
			`the answer has a good status and the member "error", so its rows may not be all; if that is no error, name the member in Pages.Ignore.`},
		{"Unwrap", always(200, `{}`), func(t *restsource.Table) {
			t.Unwrap = func([]byte) ([]byte, error) { return nil, errors.New(secretText) }
		}, "Unwrap fails; the log has the cause."},
		{"Convert", always(200, `{"rows":[{"id":7}]}`), func(t *restsource.Table) {
			t.Columns[0].Convert = func(any) (wire.Value, error) { return wire.Null(), errors.New(secretText) }
		}, `column "id": Convert fails; the log has the cause.`},
		{"ColumnsOf", always(200, `{}`), func(t *restsource.Table) {
			t.ColumnsOf = func(context.Context, func(string, url.Values) ([]byte, error)) ([]restsource.Column, error) {
				return nil, errors.New(secretText)
			}
		}, "a function of the connector fails; the log has the cause."},
	} {
		t.Run(c.name, func(t *testing.T) {
			tables := numbersTable(onePage, c.change)
			transport := testkit.Transport(func(r *http.Request) (*http.Response, error) {
				if r.URL.Path == "/v1/numbers" {
					return c.answer(r)
				}
				return reply(200, bodyOfOne), nil
			})
			other := numbersTable(onePage)[0]
			other.Name, other.Path = "others", "/others"
			tenant, log := logged(t, shopAPI, append(tables, other), transport)
			found := testkit.Must(tenant.Discover())(t)
			require.Len(t, found.Tables, 1)
			assert.Equal(t, []string{left + c.want}, found.Warnings)
			if c.name != "Unwrap" && c.name != "Convert" && c.name != "ColumnsOf" {
				assert.NotContains(t, log.String(), secretText)
			}
			tenant, _ = logged(t, shopAPI, tables, transport)
			_, err := tenant.Discover()
			require.Error(t, err, "no table is left")
		})
	}
	for _, status := range []int{401, 429} {
		calls := 0
		tenant, _ := logged(t, shopAPI, append(numbersTable(onePage), children()), testkit.Transport(func(*http.Request) (*http.Response, error) {
			if calls++; calls > 1 {
				return reply(status, "", "Retry-After: 3600"), nil
			}
			return reply(200, bodyOfOne), nil
		}))
		_, err := tenant.Discover()
		require.Error(t, err, "the status %d concerns every table", status)
	}
}

// TestMessagesThatLead: a message names what is wrong, and what to do.
func TestMessagesThatLead(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	testkit.Must(z.Write([]byte(bodyOfOne)))(t)
	require.NoError(t, z.Close())
	cursor := restsource.Pages{By: restsource.PagingURL, Next: "next"}
	for name, c := range map[string]struct {
		answer testkit.Transport
		want   string
	}{
		"gzip":              {always(200, zipped.String()), "the answer is compressed by gzip"},
		"gzip and a header": {always(200, zipped.String(), "Content-Encoding: gzip"), "the answer is compressed by gzip"},
	} {
		_, log, err := query(t, numbersTable(cursor), following(c.answer), allNumbers)
		requireCode(t, wire.CodeInternal, err)
		assert.Contains(t, log, c.want, name)
	}
}

// TestPlaceholders: a name in a path is a column of the parent or a credential of the form.
func TestPlaceholders(t *testing.T) {
	src := testkit.Must(restsource.New(restsource.API{Base: "https://{shop}.example/v1", Check: "/{account}/me"},
		append(numbersTable(onePage, func(t *restsource.Table) { t.Path = "/{token}/numbers" }), children()), nil))(t)
	token := testkit.Must(wire.NewToken(connectortest.Token))(t)
	_, err := connector.New(shopDefinition, src, token, nil)
	require.ErrorContains(t, err, `source: it uses the credential "shop", which the form does not have`)
	require.ErrorContains(t, err, `"account"`)
	require.NotContains(t, err.Error(), `"id"`)
	require.NotContains(t, err.Error(), `"token"`)
}
