package main

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestQuestion turns what was typed into requests. The cases are in a file.
func TestQuestion(t *testing.T) {
	tables := []wire.Table{
		{Name: "orders", Fields: []wire.Field{
			{Name: "id", Type: wire.TypeNumber}, {Name: "total", Type: wire.TypeDecimal}, {Name: "status", Type: wire.TypeString},
			{Name: "paid", Type: wire.TypeBoolean}, {Name: "customer", Type: wire.TypeReference}, {Name: "placed", Type: wire.TypeDatetime}}},
		{Name: "customers", Fields: []wire.Field{{Name: "id", Type: wire.TypeNumber}, {Name: "name", Type: wire.TypeString}}},
	}
	data, err := os.ReadFile("testdata/questions.json")
	require.NoError(t, err)
	var cases []struct {
		Name     string
		Question question
		Request  json.RawMessage // without credentials and times
		Top      int
		Problem  string
		Why      string
	}
	require.NoError(t, json.Unmarshal(data, &cases))
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			a, err := c.Question.ask(tables)
			if c.Problem != "" {
				require.ErrorContains(t, err, c.Problem, c.Why)
				return
			}
			require.NoError(t, err, c.Why)
			require.Equal(t, c.Top, a.top)
			_, message := a.route()
			body, err := wire.EncodeRequest(message)
			require.NoError(t, err)
			var got map[string]any
			require.NoError(t, json.Unmarshal(body, &got))
			delete(got, "credentials")
			delete(got, "timeoutMs")
			text, err := json.Marshal(got)
			require.NoError(t, err)
			require.JSONEq(t, string(c.Request), string(text), c.Why)

			v, err := a.show(&connected{url: "https://shop.test/a/"})
			require.NoError(t, err)
			require.Contains(t, v.JSON, `"credentials": $CONNECTOR_CREDENTIALS`)
			require.Contains(t, v.Curl, "'https://shop.test/a/")
			require.Contains(t, v.Curl, `"$PLATFORM_CONNECTOR_TOKEN"`)
		})
	}
}

// TestAverageAsARequest shows an average as what the connector is asked for.
func TestAverageAsARequest(t *testing.T) {
	q := question{Kind: "groups", Table: "orders", GroupBy: []groupKey{{Field: "status"}},
		Measures: []measure{{Fn: platform.Avg, Field: "total"}}}
	tables := []wire.Table{{Name: "orders", Fields: []wire.Field{
		{Name: "total", Type: wire.TypeDecimal}, {Name: "status", Type: wire.TypeString}}}}
	for _, c := range []struct {
		why       string
		endpoints []wire.Endpoint
		curl      string
		json      []string
	}{
		{"its sum and its count", []wire.Endpoint{wire.EndpointAggregate}, "/aggregate'", []string{`"fn": "sum"`, `"fn": "count"`}},
		{"or the rows, where it computes neither", nil, "/query'", []string{`"fields": [`}},
	} {
		a, err := q.ask(tables)
		require.NoError(t, err)
		v, err := a.show(&connected{Connection: &platform.Connection{Document: &wire.Document{Endpoints: c.endpoints}, Tables: tables}})
		require.NoError(t, err, c.why)
		require.Contains(t, v.Curl, c.curl, c.why)
		for _, text := range c.json {
			require.Contains(t, v.JSON, text, c.why)
		}
		require.NotContains(t, v.JSON, "avg", c.why)
	}
}
