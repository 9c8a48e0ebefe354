package memsource_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestOpenChoices asks what the protocol leaves open of a request, and requires the answer that the rulebook gives.
func TestOpenChoices(t *testing.T) {
	source, err := memsource.New([]memsource.Table{{
		Table: wire.Table{Name: "t", SourceDescription: "Rows.", Fields: []wire.Field{
			{Name: "a", Type: wire.TypeString}, {Name: "n", Type: wire.TypeNumber}}},
		Rows: [][]wire.Value{{wire.Text("x"), wire.Int(1)}, {wire.Text("y"), wire.Int(2)}},
	}}, nil)
	require.NoError(t, err)
	const secret = "choices-0123456789abcdef-0123456789"
	token, err := wire.NewToken(secret)
	require.NoError(t, err)
	h, err := connector.New(connector.Definition{Slug: "choices"}, source, token, nil)
	require.NoError(t, err)
	for _, c := range []struct {
		rule, path, body string
		status           int
		answer           string
	}{
		{"query-5", wire.PathQuery, `"table":"t","and":[],"sort":[],"fields":["n","n"]`, 400, "duplicate field"},
		{"filter-19", wire.PathQuery, `"table":"t","and":[],"sort":[],"fields":["n"],"fieldTypes":{"nobody":"number"}`, 200, `{"n":1}`},
		{"http-4", wire.PathQuery, `"table":"t","and":[{"field":"a","op":"eq","value":"\ud83d"}],"sort":[],"fields":["n"]`, 400, "surrogate"},
		{"http-4", wire.PathQuery, `"table":"t","and":[],"sort":[],"fields":["n"],"limit":null`, 400, "limit"},
		{"aggregate-5", wire.PathAggregate, `"table":"t","and":[],"groupBy":[{"field":"a","as":"g"}],"measures":[],"stringFields":["nobody"],"limit":1001`,
			200, `{"g":"x"}`},
		{"aggregate-6", wire.PathAggregate, `"table":"t","and":[],"groupBy":[],"measures":[{"fn":"count","as":"n"}],"limit":1`, 200, `{"n":2}`},
		{"aggregate-6", wire.PathAggregate, `"table":"t","and":[],"groupBy":[{"field":"a","as":"g"}],"measures":[],"limit":2`, 422, "unsupported"},
	} {
		body := "{" + c.body + `,"credentials":{},"timeoutMs":1000}`
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, c.path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+secret)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		require.Equal(t, c.status, w.Code, "%s: %s answers %s", c.rule, c.body, w.Body)
		require.Contains(t, w.Body.String(), c.answer, "%s: %s", c.rule, c.body)
	}
}
