package restsource_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestNewNamesEveryFault at once, by table and place.
func TestNewNamesEveryFault(t *testing.T) {
	whole := map[string]string{"paged": `{"Pages": %s}`, "column": `{"Columns": [%s]}`, "filter": `{"Filters": [%s]}`}
	for _, c := range testkit.Table(t, "testdata/faults.tsv", 3) { // of which the first says which table declares something else
		tables, at := declared(c[0]), 0
		switch c[0] {
		case "child":
			tables, at = append(declared("shop")[:2:2], tables...), 2
		case "issues":
			tables[0].Search = search
		case "export":
			tables = exportTable("/x")
		case "lines":
			tables, at = declared("nested")[:2], 1
		case "orders":
			tables = declared("graph")[:1]
		case "graph lines":
			tables, at = declared("graph"), 1
		case "notes":
			tables, at = declared("graph"), 2
		}
		patch := fmt.Sprintf(cmp.Or(whole[c[0]], "%s"), c[1])
		if c[0] != "column" && strings.Contains(patch, `"Columns"`) { // or what is there would shine through
			tables[at].Columns = nil
		}
		require.NoError(t, json.Unmarshal([]byte(patch), &tables[at]), patch)
		_, err := restsource.New(shopAPI, tables, nil)
		if want, others := strings.CutPrefix(c[2], "+ "); others {
			assert.ErrorContains(t, err, want, "%s", c)
			continue
		}
		requireFaults(t, err, strings.Split(c[2], " & "))
	}
	type table = restsource.Table
	base := func(change func(*table)) []table { return numbersTable(onePage, change) }
	column := func(c restsource.Column) []table {
		return base(func(t *table) { c.Name = "v"; t.Key, t.Columns = nil, []restsource.Column{c} })
	}
	next := func([]byte, http.Header) (url.Values, bool, error) { return nil, false, nil }
	none := func(any) (wire.Value, error) { return wire.Null(), nil }
	embedded, one := declared("nested")[:2], declared("graph")[:1]
	embedded[1].Body = func(url.Values) ([]byte, error) { return nil, nil }
	one[0].GraphQL = strings.Replace(one[0].GraphQL, "[ID!]", "ID!", 1)
	for _, c := range []struct { // of values that are no JSON
		tables []table
		want   string
	}{
		{nil, "there is no table"},
		{append(base(nil), base(nil)...), "two of this name"},
		{base(func(t *table) { t.Pages = restsource.Pages{Func: next} }), "say how /numbers pages; restsource.OnePage if one answer has everything"},
		{column(restsource.Column{Type: wire.TypeDatetime, Zone: time.UTC, Layouts: []string{time.RFC1123}}), "has the name of a zone"},
		{column(restsource.Column{Type: wire.TypeDatetime, Zone: time.UTC}), "Zone"},
		{column(restsource.Column{Type: wire.TypeDatetime, Unix: time.Second, Convert: none}), "Convert"},
	} {
		_, err := restsource.New(shopAPI, c.tables, nil)
		requireFaults(t, err, []string{c.want})
	}
	_, err := restsource.New(shopAPI, embedded, nil)
	require.ErrorContains(t, err, "Unwrap are the parent's")
	_, err = restsource.New(shopAPI, one, nil)
	require.ErrorContains(t, err, "takes one value")
	for _, c := range []struct {
		api  restsource.API
		want []string
	}{
		{restsource.API{Base: "api.example", Check: "me"}, []string{"API.Check", "API.Base"}},
		{restsource.API{Base: "https://user@api.example"}, []string{"API.Base"}},
		{restsource.API{Base: "https://api.example/?a=b"}, []string{"API.Base"}},
		{restsource.API{Base: "https://api.example/#a"}, []string{"API.Base"}},
		{restsource.API{Base: "https:///v1"}, []string{"API.Base"}},
		{restsource.API{Base: "ftp://api.example"}, []string{"API.Base"}},
		{restsource.API{Base: "{url}/v1"}, []string{"API.Base"}},
		{restsource.API{Base: shopAPI.Base, Budget: restsource.Budget{Restore: "r"}}, []string{"Budget: needs Remaining"}},
		{restsource.API{Base: shopAPI.Base, Budget: restsource.Budget{Remaining: "r"}}, []string{"Budget: needs Remaining"}},
		{restsource.API{Base: shopAPI.Base, Rate: restsource.Rate{Requests: -1}}, []string{"Rate: must not be negative"}},
		{restsource.API{Base: shopAPI.Base, Hosts: []string{"*", "*.com", "x.*.com", "a.*", "https://x.example", "u@x.example"}},
			slices.Repeat([]string{"API.Hosts"}, 6)},
	} {
		_, err := restsource.New(c.api, base(func(t *table) { t.Name = "" }), nil)
		requireFaults(t, err, append(c.want, "it has no name"))
	}
}

// requireFaults requires an error that has these texts, in a line each.
func requireFaults(t *testing.T, err error, want []string) {
	t.Helper()
	require.Error(t, err, "%s", want)
	for _, text := range want {
		assert.Contains(t, err.Error(), text)
	}
	assert.Len(t, strings.Split(err.Error(), "\n"), len(want), "%s", err)
}
