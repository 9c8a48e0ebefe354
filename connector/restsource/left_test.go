package restsource_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestOneTablesTrouble: a table that cannot be read is left out of a discovery with the
// reason, which quotes no value, and the others are served. If none is left, the discovery
// fails. Trouble with the API itself is nobody's alone.
func TestOneTablesTrouble(t *testing.T) {
	const left = `Table "numbers" is left out: `
	for _, c := range []struct {
		name   string
		answer transportFunc
		change func(*restsource.Table)
		want   string
	}{
		{"402", always(402, secretText), keyed, "the API answered with the status 402."},
		{"403", always(403, secretText), keyed, "these credentials may not read it."},
		{"404", always(404, secretText), keyed, "the API does not have it for these credentials."},
		{"500", always(500, secretText), keyed, "the API answered with the status 500."},
		{"another shape", always(200, `{"items":[]}`), keyed, "there is no list of rows at Rows."},
		{"a date in other words", always(200, `{"rows":[{"id":"`+secretText+`"}]}`), keyed,
			`column "id": a text does not fit the type number; declare another type, or a Convert function.`},
		{"HTML", always(200, "<html>", "Content-Type: text/html"), keyed, "the API answered with HTML."},
		{"an error in the answer", always(200, `{"error":"`+secretText+`"}`), keyed,
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
			transport := transportFunc(func(r *http.Request) (*http.Response, error) {
				if r.URL.Path == "/v1/numbers" {
					return c.answer(r)
				}
				return reply(200, bodyOfOne), nil
			})
			other := numbersTable(onePage)[0]
			other.Name, other.Path = "others", "/others"
			tenant, log := logged(t, shopAPI, append(tables, other), transport)
			found, err := tenant.Discover()
			require.NoError(t, err)
			require.Len(t, found.Tables, 1)
			assert.Equal(t, []string{left + c.want}, found.Warnings)
			if c.name != "Unwrap" && c.name != "Convert" && c.name != "ColumnsOf" {
				assert.NotContains(t, log.String(), secretText)
			}
			tenant, _ = logged(t, shopAPI, tables, transport)
			_, err = tenant.Discover()
			require.Error(t, err, "no table is left")
		})
	}
	for _, status := range []int{401, 429} {
		calls := 0
		tenant, _ := logged(t, shopAPI, append(numbersTable(onePage), children()), transportFunc(func(*http.Request) (*http.Response, error) {
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
	_, err := z.Write([]byte(bodyOfOne))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	cursor := restsource.Pages{By: restsource.PagingURL, Next: "next"}
	for name, c := range map[string]struct {
		answer *http.Response
		want   string
	}{
		"http":              {reply(200, `{"rows":[{"id":1}],"next":"http://shop.example/v1/numbers?p=2"}`), "begins with http:// and the API's with https://"},
		"gzip":              {reply(200, zipped.String()), "the answer is compressed by gzip"},
		"gzip and a header": {reply(200, zipped.String(), "Content-Encoding: gzip"), "the answer is compressed by gzip"},
		"half a pair":       {reply(200, `{"rows":[{"id":"\ud83d x"}]}`), "half of a surrogate pair, which is no character; replace it by Unwrap"},
	} {
		_, log, err := query(t, numbersTable(cursor), inTurnOf(c.answer), wire.QueryRequest{Table: "numbers", Fields: []string{"id"}})
		requireCode(t, wire.CodeInternal, err)
		assert.Contains(t, log, c.want, name)
	}
}

func inTurnOf(res *http.Response) transportFunc {
	return func(*http.Request) (*http.Response, error) { return res, nil }
}

// TestPlaceholders: a name in a path is a column of the parent or a credential of the form, and
// what pages is sent as a parameter.
func TestPlaceholders(t *testing.T) {
	_, err := restsource.New(shopAPI, numbersTable(numberPages, func(t *restsource.Table) { t.Path = "/numbers/{p}" }), nil)
	require.ErrorContains(t, err, `path: {p} is Pages.Param, which is sent as a query parameter`)
	src, err := restsource.New(restsource.API{Base: "https://{shop}.example/v1", Check: "/{account}/me"},
		append(numbersTable(onePage, func(t *restsource.Table) { t.Path = "/{token}/numbers" }), children()), nil)
	require.NoError(t, err)
	token, err := wire.NewToken(connectortest.Token)
	require.NoError(t, err)
	_, err = connector.New(shopDefinition, src, token, nil)
	require.ErrorContains(t, err, `source: it uses the credential "shop", which the form does not have`)
	require.ErrorContains(t, err, `"account"`)
	require.NotContains(t, err.Error(), `"id"`)
	require.NotContains(t, err.Error(), `"token"`)
}
